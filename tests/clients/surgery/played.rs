//! Plays sessions with the real client against the mock, and resumes the successors made of them.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::judge::Promise;
use super::source::Source;
use crate::guard::{Move, moves, step};
use crate::support::mock::{Gate, Reply, Request};
use crate::support::process::{DEADLINE, Output};
use crate::support::world::World;

/// The user's messages in the first session; the user takes back the third.
pub const ALPHA: &str = "alpha: read the console";
pub const BETA: &str = "beta: ask an agent";
pub const GAMMA: &str = "gamma: a wrong way";
pub const DELTA: &str = "delta: look at @README.md and wait";
pub const EPSILON: &str = "epsilon: write it down";

/// The agent's last text in each round.
pub const ALPHA_END: &str = "The architecture is three layers: the wire, the policy and the store; \
                             none of them knows the others by name.";
pub const BETA_END: &str = "the agent has read it";
pub const GAMMA_END: &str = "this goes nowhere";
pub const DELTA_END: &str = "delta is done";
pub const EPSILON_END: &str = "it is written";

pub struct Played {
    pub world: World,
    pub one: Source,
}

fn first_session() -> Vec<Move> {
    let look = |command: &str| json!({"command": command, "description": "Look at the console"});
    let agent = json!({
        "description": "Read console", "prompt": "read it all", "subagent_type": "general-purpose",
    });
    // Long enough that surgery's shorter forms are shorter.
    let write = json!({"file_path": "notes/new.txt", "content": "a line\n".repeat(40)});
    let thought = "where to put it? ".repeat(20);
    vec![
        step(move |_| {
            Reply::thinking("two looks are\nbetter \"than\" one")
                .and_text("I look twice")
                .and_tool("Bash", look("echo one"))
                .and_tool("Bash", look("sleep 0.3; echo two"))
                .tokens(21_000)
        }),
        step(|_| Reply::thinking("three layers").and_text(ALPHA_END).tokens(22_000)),
        step(move |_| Reply::tool("Agent", agent.clone()).tokens(23_000)),
        step(|_| Reply::text("it reads").tokens(23_500)),
        // The end of the background agent starts a turn, but no round.
        step(|_| Reply::text(BETA_END).tokens(24_000)),
        step(|_| Reply::text(GAMMA_END).tokens(25_000)),
        step(|_| Reply::bash("until [ -e go ]; do sleep 0.02; done; echo waited").tokens(26_000)),
        step(|_| Reply::text(DELTA_END).tokens(27_000)),
        step(move |_| {
            Reply::thinking(thought.as_str()).and_tool("Write", write.clone()).tokens(28_000)
        }),
        step(|_| Reply::thinking("that's all").and_text(EPSILON_END).tokens(29_000)),
    ]
}

/// Plays the first session in a terminal: parallel calls, a background agent, a message taken
/// back, a named file, and a message typed during a turn.
pub fn play() -> Played {
    play_and(Vec::new())
}

/// The same, with the model's moves after it.
pub fn play_and(more: Vec<Move>) -> Played {
    let agent = moves(first_session().into_iter().chain(more).collect());
    let gate = Gate::default();
    let held = gate.clone();
    let subagent = move |_: &Request| {
        held.wait(DEADLINE);
        Reply::text("sub read it")
    };
    let world = World::build().bare().agent(agent).subagent(subagent).start();
    let tui = world.tui(&[]);
    let ask = |prompt: &str, upto: usize| {
        tui.prompt(prompt);
        world.mock.wait_main(upto);
        tui.wait_idle();
    };
    ask(ALPHA, 2);
    ask(BETA, 4);
    gate.open();
    world.mock.wait_main(5);
    tui.wait_screen("what the agent came to", |screen| screen.contains(BETA_END));
    tui.wait_idle();
    ask(GAMMA, 6);
    tui.wait_screen("the answer", |screen| screen.contains(GAMMA_END));
    tui.prompt("/rewind");
    tui.wait_screen("the list of messages", |screen| screen.contains("❯ (current)"));
    tui.keys("Up");
    tui.wait_screen("the last message chosen", |screen| screen.contains(&format!("❯ {GAMMA}")));
    tui.keys("Enter");
    tui.wait_screen("what to restore", |screen| screen.contains("❯ 1. Restore conversation"));
    tui.keys("Enter");
    tui.wait_screen("the message in the box", |_| tui.prompt_box().as_deref() == Some(GAMMA));
    tui.keys("C-u");
    tui.wait_screen("an empty box", |_| tui.prompt_box().as_deref() == Some(""));
    tui.prompt(DELTA);
    world.mock.wait_main(7);
    tui.prompt("and quick");
    world.wait("the message in the queue", || tui.screen().contains("❯ and quick").then_some(()));
    std::fs::write(world.project().join("go"), "").expect("the project is writable");
    world.mock.wait_main(8);
    tui.wait_idle();
    ask(EPSILON, 10);
    tui.wait_screen("the last answer", |screen| screen.contains(EPSILON_END));
    tui.quit();
    let path = world.transcripts().pop().expect("a transcript");
    let one = Source::read(&path, &[ALPHA, BETA, GAMMA, DELTA, EPSILON]);
    assert_eq!(one.live(), [1, 2, 4, 5], "the third message was taken back");
    Played { world, one }
}

/// The user's message to a resumed session.
pub const NEXT: &str = "what now?";

impl Played {
    #[track_caller]
    pub fn guard(&self, arguments: &[&str]) -> Output {
        guard(&self.world, arguments)
    }

    #[track_caller]
    pub fn make(&self, arguments: &[&str]) -> Vec<Made> {
        make(&self.world, arguments)
    }
}

#[derive(Debug, Clone)]
pub struct Made {
    pub id: String,
    pub path: PathBuf,
}

/// Runs the binary under test and asserts success.
#[track_caller]
pub fn guard(world: &World, arguments: &[&str]) -> Output {
    let output = world.guard(arguments);
    assert!(output.status.success(), "brain-guard {arguments:?}: {output:#?}");
    output
}

/// Runs an operation and returns the sessions that it made, in order.
#[track_caller]
pub fn make(world: &World, arguments: &[&str]) -> Vec<Made> {
    let arguments = [arguments, &["--json"]].concat();
    let output = guard(world, &arguments);
    let told: Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"));
    let one = |told: &Value| -> Option<Made> {
        let id = told["id"].as_str()?.to_owned();
        Some(Made { id, path: told["path"].as_str()?.into() })
    };
    let list = told["sessions"].as_array();
    let made: Option<Vec<Made>> = match list {
        Some(list) => list.iter().map(one).collect(),
        None => one(&told).map(|made| vec![made]),
    };
    let made = made.unwrap_or_else(|| panic!("{arguments:?}: no id and path in {told}"));
    for new in &made {
        assert!(new.path.is_file(), "{} is missing", new.path.display());
    }
    made
}

/// Resumes a session in the real client with one more message, and returns the request.
#[track_caller]
pub fn resume(world: &World, id: &str) -> Arc<Request> {
    let before = world.mock.main().len();
    let output = world.print(&["--resume", id], NEXT).finish();
    assert!(output.status.success(), "claude --resume {id}: {output:?}");
    let main = world.mock.main();
    assert_eq!(main.len(), before + 1, "one request of {id}");
    let request = Arc::clone(&main[before]);
    assert_eq!(request.session.as_deref(), Some(id));
    request
}

/// Whether user and agent take turns.
pub fn alternates(request: &Request) -> bool {
    let roles = request.messages().iter().map(|message| &message["role"]);
    let roles: Vec<&Value> = roles.filter(|role| **role != "system").collect();
    roles.windows(2).all(|pair| pair[0] != pair[1])
}

/// Resumes a session and compares the client's request with the promise. The client may only
/// append to the file.
#[track_caller]
pub fn holds(world: &World, made: &Made, promise: Promise) {
    let written = std::fs::read(&made.path).expect("the new session");
    let request = resume(world, &made.id);
    if let Err(difference) = promise.says(NEXT).kept_by(&request) {
        world.evidence.fail(&format!("{}: {difference}", made.path.display()));
    }
    let now = std::fs::read(&made.path).expect("the new session");
    assert!(now.starts_with(&written), "the client only appends to {}", made.path.display());
}
