//! Surgery on the running session: the client goes on in the successor, in the same process and
//! pane, and back. What it sends then is what a fresh process sends when it resumes that session.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::block::blocks_of_request;
use super::played::resume;
use crate::guard::{only_result, percent};
use crate::support::client::{Terminal, Tui};
use crate::support::mock::{Reply, Request};
use crate::support::world::{Builder, World};

const ROUNDS: usize = 6;
const NEXT: &str = "and now?";
/// How the line ends that says what was done; a proposal goes on with figures.
pub(super) const DONE: &str = "stay whole.";
/// How a proposal ends.
pub(super) const PROPOSED: &str = "slim yes does it";
/// The start of an index table.
pub(super) const TABLE: &str = "[brain-guard] This session was made from the session";

fn prompt(n: usize) -> String {
    format!("read part {n}")
}

/// What the user says to make the agent shorten the session.
const TIDY: &str = "tidy up";

/// An agent that reads a long part for each prompt, shortens its session when it is told to, and
/// answers anything else at once.
fn agent(request: &Request) -> Reply {
    if request.prompt() == TIDY {
        return Reply::bash("brain-guard surgery compress-before this round:5 --here")
            .tokens(60_000);
    }
    let asked = request.prompt().strip_prefix("read part ").map(str::to_owned);
    match asked {
        Some(n) if request.tool_results().is_empty() => Reply::bash(&format!(
            "for i in $(seq 1 200); do echo \"part {n}, line $i of many lines\"; done"
        )),
        _ => Reply::text("that is all of it"),
    }
    .tokens(60_000)
}

/// A client in a session that has some rounds.
pub struct Running {
    pub world: World,
    pub tui: Tui,
    pub transcript: PathBuf,
    pub original: String,
}

pub fn id(path: &Path) -> String {
    path.file_stem().and_then(|stem| stem.to_str()).expect("an id").to_owned()
}

/// A client that has read some parts.
fn play(version: &str) -> Running {
    play_in(World::build().client(version))
}

pub fn play_in(world: Builder) -> Running {
    play_rounds(world.agent(agent).start())
}

fn play_rounds(world: World) -> Running {
    let tui = world.tui(&[]);
    for n in 1..=ROUNDS {
        tui.prompt(&prompt(n));
        world.mock.wait_main(2 * n);
        tui.wait_idle();
    }
    let transcript = world.transcripts().pop().expect("a transcript");
    let original = id(&transcript);
    Running { world, tui, transcript, original }
}

/// The guard's file of a session with this extension.
pub(super) fn state(world: &World, session: &str, extension: &str) -> Option<Value> {
    let file = format!("{session}.{extension}");
    let mut paths = world.parts().into_iter().map(|part| part.join("sessions").join(&file));
    let text = paths.find_map(|path| std::fs::read(path).ok())?;
    Some(serde_json::from_slice(&text).expect("JSON"))
}

impl Running {
    /// Types a command, and waits for a line on the screen.
    fn command(&self, text: &str, wanted: &str) -> String {
        self.tui.prompt(text);
        let screen = self.tui.wait_screen(wanted, |screen| screen.contains(wanted));
        self.tui.wait_idle();
        screen
    }

    /// The job of a session, as the guard knows it.
    fn job(&self, session: &str) -> String {
        let state = state(&self.world, session, "json").expect("the session's state");
        state["job"].as_str().expect("a job").to_owned()
    }

    /// Sends a prompt, and returns the request.
    fn ask(&self, text: &str) -> Arc<Request> {
        let before = self.world.mock.main().len();
        self.tui.prompt(text);
        let request = self.world.mock.wait_main(before + 1);
        self.tui.wait_idle();
        request
    }
}

fn goes_on_and_back(version: &str) {
    let running = play(version);
    let before = std::fs::read(&running.transcript).expect("a transcript");
    running.command("/brain-guard:slim", PROPOSED);
    running.command("/brain-guard:slim yes", DONE);
    let request = running.ask(NEXT);
    let successor = request.session.clone().expect("a session");
    assert_ne!(successor, running.original);
    assert!(request.said(TABLE) && !request.said("part 1, line 100"), "{request}");
    // The client adds its record of our commands; nothing else changes the original.
    let now = std::fs::read(&running.transcript).expect("a transcript");
    assert!(now.starts_with(&before), "the original is as it was");

    running.command("/brain-guard:undo", "The later messages are");
    let request = running.ask(NEXT);
    assert_eq!(request.session.as_deref(), Some(running.original.as_str()));
    assert!(request.said("part 1, line 100") && !request.said(TABLE));

    running.command("/brain-guard:undo", "there is nothing to undo");
    running.command("/brain-guard:extract --keep-recent 1000", "nothing can be extracted now");
    running.command("/brain-guard:undo redo", "again in the session you came back from. ");
    let request = running.ask(NEXT);
    assert_eq!(request.session.as_ref(), Some(&successor));
    running.tui.quit();
    // A fresh process that resumes the successor sends the same, and more behind it.
    let copy = resume(&running.world, &successor);
    let (live, fresh) = (blocks_of_request(&request), blocks_of_request(&copy));
    assert_eq!(live, fresh[..live.len()], "what is sent");
}

#[test]
fn the_session_is_shortened_in_its_pane_and_back() {
    goes_on_and_back(crate::support::client::PINNED);
}

#[test]
fn the_session_is_shortened_in_the_oldest_client() {
    goes_on_and_back(crate::support::client::OLDEST);
}

/// The agent's request for the next session, which the module starts itself.
fn asked_to_go_on(running: &Running, nth: usize) -> Arc<Request> {
    let request = running.world.mock.wait_main(nth);
    running.tui.wait_idle();
    assert!(request.prompt().contains("this session was shortened"), "{request}");
    assert_ne!(request.session.as_deref(), Some(running.original.as_str()));
    assert!(request.said(TABLE) && !request.said("part 1, line 100"), "{request}");
    request
}

#[test]
fn the_agent_shortens_its_session_where_the_user_lets_it() {
    let settings = json!({"surgery": {"agent": "on"}});
    let running = play_in(World::build().guard_settings(settings));
    running.tui.prompt(TIDY);
    let request = asked_to_go_on(&running, 2 * ROUNDS + 3);
    assert_eq!(
        running.job(request.session.as_deref().expect("a session")),
        running.job(&running.original)
    );
    running.tui.quit();
}

#[test]
fn the_agent_asks_and_the_user_says_no_then_yes() {
    const ASKS: &str = "The agent asks: rounds 1-4 become lines";
    let running = play_in(World::build());
    running.command(TIDY, ASKS);
    running.command("/brain-guard:slim no", "this session stays as it is");
    running.tui.wait_screen("the strip", |screen| !screen.contains(ASKS));
    running.command(TIDY, ASKS);
    running.tui.prompt("/brain-guard:slim yes");
    asked_to_go_on(&running, 2 * ROUNDS + 5);
    running.tui.quit();
}

#[test]
fn a_draft_stays_in_the_box() {
    let running = play(crate::support::client::PINNED);
    running.command("/brain-guard:slim", PROPOSED);
    running.tui.prompt("/brain-guard:slim yes");
    running.tui.type_text("half a thought");
    running.tui.wait_screen("the successor", |screen| screen.contains(DONE));
    running.world.wait("the draft", || {
        (running.tui.prompt_box().as_deref() == Some("half a thought")).then_some(())
    });
    running.tui.keys("C-u");
    running.tui.quit();
}

/// The client empties the box some time after it has changed sessions. What the user sends until
/// then is no draft.
#[test]
fn a_prompt_sent_at_once_is_not_put_back_into_the_box() {
    let running = play(crate::support::client::PINNED);
    running.command("/brain-guard:slim", PROPOSED);
    running.command("/brain-guard:slim yes", DONE);
    for after in (0..60).step_by(5) {
        let asked = running.world.mock.main().len();
        let (way, result) = if after % 10 == 0 {
            ("/brain-guard:undo", "The later messages are")
        } else {
            ("/brain-guard:undo redo", "you came back from. ")
        };
        running.tui.prompt(way);
        running.tui.wait_screen(result, |screen| screen.rfind(result) > screen.rfind(NEXT));
        std::thread::sleep(Duration::from_millis(after));
        running.tui.prompt(NEXT);
        running.world.mock.wait_main(asked + 1);
        running.tui.wait_idle();
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(running.tui.prompt_box().as_deref(), Some(""), "{after} ms after the switch");
    }
    running.tui.quit();
}

#[test]
fn the_user_is_told_of_a_successor_made_in_another_terminal() {
    let running = play(crate::support::client::PINNED);
    let made = running.world.guard(&["surgery", "compress-before", &running.original, "round:5"]);
    assert!(made.status.success(), "{made:?}");
    running.command(NEXT, "compress-before 2");
    running.tui.wait_screen("the way there", |screen| {
        let words: Vec<&str> = screen.split_whitespace().collect();
        words
            .join(" ")
            .contains("made a new session of this one. What you say here is not in it; /resume")
    });
    // Once is enough, and nothing is said of a session that is gone.
    let made = running.world.guard(&["surgery", "compress-before", &running.original, "round:4"]);
    assert!(made.status.success(), "{made:?}");
    let undone = running.world.guard(&["surgery", "remove"]);
    assert!(undone.status.success(), "{undone:?}");
    running.ask(NEXT);
    assert_eq!(running.tui.screen().matches("made a new session").count(), 1);
    running.tui.quit();
}

#[test]
fn at_narrow_surgery_is_named_where_finished_work_is_tagged() {
    let usage = Arc::new(AtomicU64::new(60_000));
    let tokens = Arc::clone(&usage);
    let script = move |request: &Request| agent(request).tokens(tokens.load(Ordering::SeqCst));
    let world = World::build().agent(script).start();
    let running = play_rounds(world);
    let tagged = running.world.guard(&["tag", &running.original, "1-4", "reading"]);
    assert!(tagged.status.success(), "{tagged:?}");
    usage.store(percent(24.0), Ordering::SeqCst);
    running.command(NEXT, "/brain-guard:slim would free");
    usage.store(percent(32.0), Ordering::SeqCst);
    running.tui.prompt("read part 9");
    let request = running.world.mock.wait_main(2 * ROUNDS + 3);
    let (text, is_error) = only_result(&request);
    assert!(is_error && request.contains("your user can type /brain-guard:slim"), "{text}");
}

/// A user comes back the next day.
#[test]
fn a_resumed_session_says_what_it_costs_without_the_cache() {
    let script = |request: &Request| match request.prompt().strip_prefix("read part ") {
        Some(n) if request.tool_results().is_empty() => Reply::bash(&format!(
            "for i in $(seq 1 800); do echo \"part {n}, line $i of many lines\"; done"
        )),
        _ => Reply::text("that is all of it"),
    };
    let running =
        play_rounds(World::build().agent(move |request| script(request).tokens(60_000)).start());
    running.tui.quit();
    let Running { world, transcript, original, .. } = running;
    let rows = std::fs::read_to_string(&transcript).expect("rows");
    let today = base::clock::now().format("\"%Y-%m-%dT").to_string();
    std::fs::write(&transcript, rows.replace(&today, "\"2026-01-01T")).expect("older rows");
    let tui = world.tui(&["--resume", &original]);
    let says = |screen: &str| {
        let words: Vec<&str> = screen.split_whitespace().collect();
        words.join(" ").contains("your next prompt reads 60k tokens anew, or ")
    };
    tui.wait_screen("the cost", says);
    tui.prompt(NEXT);
    tui.wait_idle();
    assert_eq!(tui.screen().matches("the prompt cache has expired").count(), 1);
    tui.quit();
}

#[test]
fn the_viewer_opens_above_the_client() {
    let running = play_in(World::build().in_tmux());
    let Terminal::Tmux(pane) = running.tui.terminal() else { panic!("the client is in tmux") };
    // A popup is only on the screens of those who are attached.
    let socket = pane.ask("#{socket_path}");
    let attach = ["env", "-u", "TMUX", "-u", "TMUX_PANE", "tmux", "-S", &socket, "attach"];
    let person = running.world.tmux(&attach.map(str::to_owned));
    running.tui.prompt("/brain-guard:view");
    let shows = |text: &'static str| {
        running.world.wait(text, || person.screen().contains(text).then_some(()));
    };
    shows("6 rounds");
    person.keys("End");
    person.type_text("v");
    person.keys("Up Up");
    person.type_text("vi");
    shows("brain-guard surgery edit");
    person.keys("Enter");
    shows("Carry out the plan?");
    person.type_text("h");
    running.tui.wait_screen("the end", |screen| {
        screen
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("/brain-guard:undo goes back")
    });
    let request = running.ask(NEXT);
    assert_ne!(request.session.as_deref(), Some(running.original.as_str()));
    assert!(request.said(TABLE) && !request.said("part 1, line 100"), "{request}");
    running.command("/brain-guard:undo", "The later messages are");
    let request = running.ask(NEXT);
    assert_eq!(request.session.as_deref(), Some(running.original.as_str()));
    assert!(!request.said(TABLE) && request.said("part 1, line 100"), "{request}");
    person.kill();
    running.tui.quit();
}

/// Past `narrow`, where the notes are not sealed and the session waits for its user.
#[test]
fn a_session_that_waits_for_its_user_is_left() {
    let script = |request: &Request| {
        let is_full = request.said(&prompt(ROUNDS)) && !request.said(TABLE);
        agent(request).tokens(percent(if is_full { 60.0 } else { 5.0 }))
    };
    let running = play_rounds(World::build().agent(script).start());
    let waits = || {
        running
            .tui
            .wait_screen("the wait", |s| s.contains("No new notes, so this session does not"))
    };
    waits();
    running.command("/brain-guard:slim", PROPOSED);
    running.command("/brain-guard:slim yes", DONE);
    let request = running.ask(NEXT);
    assert_ne!(request.session.as_deref(), Some(running.original.as_str()));
    assert!(request.said(TABLE) && !request.said("part 1, line 100"), "{request}");
    running.tui.wait_screen("the strip", |screen| screen.contains("nothing blocked"));
    let left = state(&running.world, &running.original, "json").expect("the session's state");
    assert!(left["token"].is_null(), "nothing clears the session that was left: {left}");

    running.command("/brain-guard:undo", "The later messages are");
    running.tui.prompt(NEXT);
    waits();
    running.command("/brain-guard:undo redo", "you came back from. ");
    let again = running.ask(NEXT);
    assert_eq!(again.session, request.session);
    running.tui.quit();
}
