//! The disturbance of a scenario around the end of a turn.

use std::collections::VecDeque;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::soak::judge::now;
use crate::soak::play::{Plan, Scene, type_into_the_box};
use crate::soak::scenario::Scenario;
use crate::soak::stage::Stage;
use crate::soak::tally::{Fault, Outcome};
use crate::support::client::Terminal;
use crate::support::desktop::{Held, Locked, Twin};
use crate::support::mock::Gate;
use crate::support::process;

/// How long Caps Lock stays on. Meanwhile the carrier types nothing, but it can press a chord.
const CAPS: Duration = Duration::from_secs(4);

/// The pause between two letters of a user who types.
const LETTER: Duration = Duration::from_millis(200);

/// The disturbance of one boundary.
pub struct Disturbance {
    scenario: Scenario,
    /// When the disturbance ends.
    until: Option<Instant>,
    hold: Duration,
    agent: Gate,
    shift: Option<Held>,
    lock: Option<Locked>,
    twin: Option<Twin>,
    /// The letters that the user has yet to type, and when the last one was typed.
    letters: VecDeque<char>,
    typed: Instant,
}

impl Disturbance {
    /// Sets up what must exist before the turn ends.
    pub fn prepare(stage: &Stage, plan: &Plan, agent: Gate, scene: &mut Scene) -> Self {
        let verb = match plan.scenario {
            Scenario::Dialog => Some("write"),
            Scenario::Question => Some("question"),
            Scenario::Queued => Some("look"),
            _ => None,
        };
        if let Some(verb) = verb {
            let prompt = format!("please {verb} q{} now", plan.number);
            type_into_the_box(&stage.tui, &prompt);
            scene.sent.push(prompt);
        }
        let mut until = None;
        if let Some(desktop) = &stage.desktop {
            match plan.scenario {
                Scenario::CapsLock => {
                    desktop.caps_lock();
                    until = Some(Instant::now() + CAPS);
                }
                Scenario::German => desktop.layout("de"),
                _ => {}
            }
        }
        Self {
            scenario: plan.scenario,
            until,
            hold: Duration::from_millis(plan.hold),
            agent,
            shift: None,
            lock: None,
            twin: None,
            letters: VecDeque::new(),
            typed: Instant::now(),
        }
    }

    /// Ends the turn and starts the disturbance, in the order of the plan.
    pub fn around(
        &mut self,
        stage: &Stage,
        plan: &Plan,
        asked: Instant,
        gate: &Gate,
        outcome: &mut Outcome,
    ) {
        let apart = Duration::from_millis(plan.offset.unsigned_abs());
        if self.scenario == Scenario::Background {
            // The command sleeps 1.5 s from `asked`; the turn ends `apart` before or after that.
            let end = asked + Duration::from_millis(1500);
            let open =
                if plan.offset < 0 { end + apart } else { end.checked_sub(apart).unwrap_or(end) };
            thread::sleep(open.saturating_duration_since(Instant::now()));
            gate.open();
        } else if plan.offset < 0 {
            self.begin(stage, outcome);
            thread::sleep(apart);
            gate.open();
        } else {
            gate.open();
            thread::sleep(apart);
            self.begin(stage, outcome);
        }
    }

    fn begin(&mut self, stage: &Stage, outcome: &mut Outcome) {
        let (desktop, terminal) = (stage.desktop.as_ref(), stage.tui.terminal());
        match (self.scenario, terminal, desktop) {
            (Scenario::Dialog | Scenario::Question | Scenario::Queued, _, _) => {
                stage.tui.keys("Enter");
            }
            (Scenario::AgentDialog, _, _) => self.agent.open(),
            (Scenario::Typing, _, _) => {
                self.letters = self.scenario.draft().unwrap_or_default().chars().collect();
            }
            (Scenario::CopyMode, Terminal::Tmux(pane), _) => {
                let entered = pane.run(&["copy-mode", "-t", "{}"]);
                self.stay(entered.is_ok(), outcome);
            }
            (Scenario::TerminalKilled, Terminal::Tmux(pane), _) => {
                drop(pane.run(&["kill-pane", "-t", "{}"]));
            }
            (Scenario::TerminalKilled, window @ Terminal::Xterm(_), _) => window.kill(),
            (Scenario::ClientKilled, _, _) => kill(stage, outcome),
            (Scenario::FocusStolen, _, Some(desktop)) => {
                if let Terminal::Xterm(decoy) = &stage.decoy {
                    desktop.activate(decoy.window());
                }
                self.stay(true, outcome);
            }
            (Scenario::Twin, Terminal::Xterm(window), Some(desktop)) => {
                let twin = desktop.twin(window.window(), window.pid());
                desktop.activate(twin.window());
                self.twin = Some(twin);
                self.stay(true, outcome);
            }
            (Scenario::HeldShift, _, Some(desktop)) => {
                self.shift = Some(desktop.hold_shift());
                self.stay(true, outcome);
            }
            (Scenario::Locked, _, Some(desktop)) => {
                self.lock = desktop.lock();
                self.stay(self.lock.is_some(), outcome);
            }
            _ => {}
        }
    }

    fn stay(&mut self, began: bool, outcome: &mut Outcome) {
        if began {
            self.until = Some(Instant::now() + self.hold);
        } else {
            outcome.fault(Fault::Stuck, "the disturbance could not be made");
        }
    }

    /// Whether the boundary need not wait for the disturbance.
    pub fn is_over(&self) -> bool {
        self.letters.is_empty() && (self.until.is_none() || self.scenario == Scenario::CapsLock)
    }

    /// Types the next letter, and ends the disturbance when its time is over.
    pub fn pass(&mut self, stage: &Stage, scene: &mut Scene, outcome: &mut Outcome) {
        if self.typed.elapsed() >= LETTER
            && let Some(letter) = self.letters.pop_front()
        {
            stage.tui.type_text(&letter.to_string());
            self.typed = Instant::now();
            scene.released = Some(now());
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            self.take_away(stage, outcome);
            scene.released = Some(now());
        }
    }

    fn take_away(&mut self, stage: &Stage, outcome: &mut Outcome) {
        self.until = None;
        self.shift = None;
        if let Some(lock) = self.lock.take() {
            let keys = lock.keys();
            if keys > 0 {
                outcome
                    .fault(Fault::Misfire("keys into the screen locker"), format!("{keys} keys"));
            }
        }
        match (self.scenario, stage.tui.terminal(), &stage.desktop) {
            (Scenario::CopyMode, Terminal::Tmux(pane), _) => {
                drop(pane.run(&["send-keys", "-t", "{}", "-X", "cancel"]));
            }
            (Scenario::FocusStolen | Scenario::Twin, Terminal::Xterm(window), Some(desktop)) => {
                desktop.activate(window.window());
            }
            (Scenario::CapsLock, _, Some(desktop)) => desktop.caps_lock(),
            _ => {}
        }
    }

    /// Restores the desktop.
    pub fn end(&mut self, stage: &Stage, scene: &mut Scene, outcome: &mut Outcome) {
        if self.until.is_some() {
            self.take_away(stage, outcome);
            scene.released = Some(now());
        }
        if let Some(keys) = self.twin.take().map(|twin| twin.keys()).filter(|keys| *keys > 0) {
            outcome.fault(
                Fault::Misfire("keys in another window"),
                format!("{keys} keys in the twin"),
            );
        }
        if let Some(desktop) = stage.desktop.as_ref().filter(|_| self.scenario == Scenario::German)
        {
            desktop.layout("us");
        }
    }
}

fn kill(stage: &Stage, outcome: &mut Outcome) {
    let Some(pid) = stage.client() else {
        outcome.fault(Fault::Stuck, "the client's process was not found");
        return;
    };
    let killed = process::run(
        Command::new("kill").args(["-KILL", &pid.to_string()]),
        Duration::from_secs(5),
    );
    if killed.is_err() {
        outcome.fault(Fault::Stuck, "the client could not be killed");
    }
}
