//! A person at the terminal, who types, drafts, puts off and interrupts.

use std::thread;
use std::time::{Duration, Instant};

use crate::climb::agent::Agent;
use crate::climb::calls::NOTICE;
use crate::climb::character::Person;
use crate::climb::tally::Fault;
use crate::support::client::Tui;
use crate::support::evidence::lock;
use crate::support::process;
use crate::support::world::World;

/// Limit for a time without progress.
const BOUND: Duration = Duration::from_secs(45);

/// The client with its agent.
pub struct Stage {
    pub world: World,
    pub tui: Tui,
    pub agent: Agent,
}

/// A timeout; names what did not happen.
#[derive(Debug)]
pub struct Stall(pub String);

impl Stage {
    /// Waits until the screen is `ready`, and answers the agent's questions meanwhile.
    pub fn until(&self, what: &str, ready: impl Fn(&str) -> bool) -> Result<(), Stall> {
        let began = Instant::now();
        loop {
            let screen = self.tui.screen();
            if ready(&screen) {
                return Ok(());
            }
            let attended = self.agent.now(|s| s.plan.person.is_some()) == Some(true);
            if attended && screen.contains("Which of these?") && self.tui.prompt_box().is_none() {
                self.tui.keys("Enter");
                thread::sleep(Duration::from_millis(300));
            }
            let active = lock(&self.agent.0).active;
            let since = active.map_or(began, |active| active.max(began));
            if since.elapsed() > BOUND || began.elapsed() > BOUND * 4 {
                return Err(Stall(format!("{what} after {BOUND:?}")));
            }
            thread::sleep(Duration::from_millis(40));
        }
    }

    /// Waits for the first request of the session after this one.
    pub fn boundary(&self, number: usize) -> Result<(), Stall> {
        self.until("no fresh session", |_| self.agent.sessions() > number)
    }

    /// Plays the person's actions up to the end of a boundary.
    pub fn play(&self, number: usize, person: Person) -> Result<(), Stall> {
        self.tui.wait_idle();
        self.tui.prompt(&format!("please go on with part {number} now"));
        match person {
            Person::MidTurn => {
                self.climbed(20.5)?;
                let text = format!("and look at item {number} as well");
                self.tui.prompt(&text);
                self.boundary(number)?;
                if !self.world.mock.main().iter().any(|request| request.said(&text)) {
                    self.fault(number, Fault::Typed, &format!("{text:?} never reached the model"));
                }
            }
            Person::Draft => {
                self.climbed(30.0)?;
                let draft = format!("half a prompt {number}");
                self.tui.type_text(&draft);
                self.boundary(number)?;
                self.holds(number, &draft);
            }
            Person::LaterNow | Person::Override => {
                let (keep, end) = if person == Person::LaterNow {
                    ("/brain-guard:later 30m", "/brain-guard:now")
                } else {
                    ("/brain-guard:override 30m", "/brain-guard:override --off")
                };
                self.notice()?;
                self.tui.prompt(keep);
                self.until("no word that it is kept", |s| {
                    s.contains("This session does not restart")
                })?;
                self.still(number, keep);
                self.tui.prompt(end);
                self.boundary(number)?;
            }
            Person::Escape => {
                self.until("no last answer", |_| self.agent.now(|s| s.held) == Some(true))?;
                self.until("no half answer", |screen| screen.contains("I end"))?;
                // The gate holds the answer until Escape has interrupted it.
                self.agent.now(|s| (s.lifted, s.sealed) = (true, false));
                self.tui.keys("Escape");
                self.until("no interruption", |screen| screen.contains("Interrupted"))?;
                self.agent.now(|s| s.gate.open());
                self.still(number, "Escape");
                self.tui.prompt(&format!("go on after escape {number}"));
                self.boundary(number)?;
            }
            Person::InNotice => {
                self.notice()?;
                self.agent.now(|s| s.sealed = false);
                let (text, asked) = (format!("wait {number}, list the files"), Instant::now());
                self.tui.prompt(&text);
                self.boundary(number)?;
                if asked.elapsed() < Duration::from_secs(NOTICE) {
                    self.fault(
                        number,
                        Fault::Boundary,
                        "no new notice after a prompt in the notice",
                    );
                }
            }
            Person::Typing => {
                self.notice()?;
                let draft = format!("take the second one {number}");
                for letter in draft.chars() {
                    self.tui.type_text(&letter.to_string());
                    thread::sleep(Duration::from_millis(600));
                }
                if self.agent.sessions() > number {
                    self.fault(number, Fault::Boundary, "cleared while the person typed");
                }
                self.boundary(number)?;
                self.holds(number, &draft);
            }
            Person::Digits => {
                self.notice()?;
                self.press("1");
                self.until("no word that it is kept", |s| {
                    s.contains("This session does not restart")
                })?;
                self.still(number, "the digit 1");
                self.press("2");
                self.boundary(number)?;
            }
            Person::Speaks => {
                let said = ["leave the vendor folder", "the tests first"];
                let said = said.map(|text| format!("{text} {number}"));
                for text in &said {
                    self.notice()?;
                    self.tui.prompt(text);
                    let heard = || self.world.mock.main().iter().any(|r| r.said(text));
                    self.until("a prompt after the seal", |_| heard())?;
                    self.tui.wait_idle();
                }
                self.boundary(number)?;
                let first = self.world.mock.main().pop();
                let text = first.map(|request| request.user_texts().concat()).unwrap_or_default();
                let places = said.each_ref().map(|said| text.find(&format!("> {said}")));
                if !matches!(places, [Some(one), Some(other)] if one < other) {
                    let details = format!("{said:?} at {places:?} of the delivery");
                    self.fault(number, Fault::Typed, &details);
                }
            }
            Person::OwnClear => {
                self.notice()?;
                self.tui.prompt("/clear");
                self.boundary(number)?;
            }
            Person::Unsealed => {
                self.until("no word that it waits", |s| {
                    s.contains("restarts from unfinished notes")
                })?;
                self.still(number, "three ends without a seal");
                self.tui.prompt("/brain-guard:now");
                self.boundary(number)?;
            }
        }
        Ok(())
    }

    fn climbed(&self, percent: f64) -> Result<(), Stall> {
        self.until("no climb", |_| self.agent.now(|s| s.percent >= percent) == Some(true))
    }

    fn notice(&self) -> Result<(), Stall> {
        self.until("no notice", |screen| screen.contains("restarts from its notes in"))
    }

    /// Asserts that no boundary comes within the time of a notice.
    fn still(&self, number: usize, after: &str) {
        thread::sleep(Duration::from_secs(NOTICE + 3));
        if self.agent.sessions() > number {
            self.fault(number, Fault::Boundary, &format!("cleared in spite of {after}"));
        }
    }

    /// Asserts that the draft is in the box after the boundary, and deletes it.
    fn holds(&self, number: usize, draft: &str) {
        let there = || (self.tui.prompt_box().as_deref() == Some(draft)).then_some(());
        if process::poll(Duration::from_secs(5), Duration::from_millis(50), there).is_none() {
            let shown = format!("{draft:?} became {:?}", self.tui.prompt_box());
            self.fault(number, Fault::Typed, &shown);
        }
        self.empty_box();
    }

    /// Presses a button of the strip, which takes its digit once it was drawn for a moment.
    fn press(&self, digit: &str) {
        thread::sleep(Duration::from_secs(1));
        self.tui.type_text(digit);
    }

    fn empty_box(&self) {
        process::poll(Duration::from_secs(5), Duration::from_millis(60), || {
            let empty = self.tui.prompt_box().as_deref() == Some("");
            if !empty {
                self.tui.keys("C-u BSpace");
            }
            empty.then_some(())
        });
    }

    fn fault(&self, number: usize, fault: Fault, details: &str) {
        lock(&self.agent.0).faults.add(number, fault, details);
    }
}
