//! Surgery on the running session: the client goes on in the successor, in the same process and
//! pane, and back. What it sends then is what a fresh process sends when it resumes that session.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::block::blocks_of_request;
use super::played::resume;
use crate::client::Tui;
use crate::mock::{Reply, Request};
use crate::world::{Builder, World};

const ROUNDS: usize = 6;
const NEXT: &str = "and now?";
/// How the line ends that says what was done; a proposal goes on with figures.
const DONE: &str = "become lines of a table.";
/// The start of an index table.
const TABLE: &str = "[brain-guard] This session was made from the session";

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

struct Running {
    world: World,
    tui: Tui,
    transcript: PathBuf,
    original: String,
}

fn id(path: &Path) -> String {
    path.file_stem().and_then(|stem| stem.to_str()).expect("an id").to_owned()
}

/// A client that has read some parts.
fn play(version: &str) -> Running {
    play_in(World::build().client(version))
}

fn play_in(world: Builder) -> Running {
    let world = world.agent(agent).start();
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
        let file = format!("{session}.json");
        let states = self.world.state().join("brain-guard");
        let folders = std::fs::read_dir(states).expect("the guard's state").flatten();
        let path = folders.map(|folder| folder.path().join("sessions").join(&file));
        let path = path.into_iter().find(|path| path.is_file()).expect("the session's state");
        let state: Value =
            serde_json::from_slice(&std::fs::read(path).expect("state")).expect("JSON");
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
    running.command("/brain-guard:slim", "slim yes does it");
    running.command("/brain-guard:slim yes", DONE);
    let request = running.ask(NEXT);
    let successor = request.session.clone().expect("a session");
    assert_ne!(successor, running.original);
    assert!(request.said(TABLE) && !request.said("part 1, line 100"), "{request}");
    // The client adds its record of our commands; nothing else changes the original.
    let now = std::fs::read(&running.transcript).expect("a transcript");
    assert!(now.starts_with(&before), "the original is as it was");

    running.command("/brain-guard:undo", "undo redo goes on again");
    let request = running.ask(NEXT);
    assert_eq!(request.session.as_deref(), Some(running.original.as_str()));
    assert!(request.said("part 1, line 100") && !request.said(TABLE));

    running.command("/brain-guard:undo redo", "again in the session that surgery made. ");
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
    goes_on_and_back(crate::client::PINNED);
}

#[test]
fn the_session_is_shortened_in_the_client_before() {
    goes_on_and_back("2.1.329");
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
fn the_agent_asks_and_the_user_agrees() {
    let running = play_in(World::build());
    running.command(TIDY, "The agent asks: rounds 1-4 become lines");
    running.tui.prompt("/brain-guard:slim yes");
    asked_to_go_on(&running, 2 * ROUNDS + 3);
    running.tui.quit();
}

#[test]
fn a_draft_stays_in_the_box() {
    let running = play(crate::client::PINNED);
    running.command("/brain-guard:slim", "slim yes does it");
    running.tui.prompt("/brain-guard:slim yes");
    running.tui.type_text("half a thought");
    running.tui.wait_screen("the successor", |screen| screen.contains(DONE));
    running.world.wait("the draft", || {
        (running.tui.prompt_box().as_deref() == Some("half a thought")).then_some(())
    });
    running.tui.keys("C-u");
    running.tui.quit();
}
