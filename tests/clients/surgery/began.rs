//! What a session began with comes along when its first rounds become lines of a table: the notes
//! that a boundary delivered, and the context of the user's own hook.

use serde_json::{Value, json};

use super::live::{DONE, PROPOSED, TABLE};
use super::pairs::reference;
use super::played::guard;
use crate::guard::{climb_and_seal, percent, step, unattended};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const CONTEXT: &str = "the user's hook says: mind the gap";
const NAMED: &str = "look at @README.md";
const LOOKED: &str = "I have looked at it";

/// A hook of the user that says something when a session begins.
fn hooks() -> Value {
    let context = json!({"hookSpecificOutput": {
        "hookEventName": "SessionStart", "additionalContext": CONTEXT,
    }});
    let command = format!("echo '{}'", context.to_string().replace('\'', "'\\''"));
    let hook = json!({"type": "command", "command": command});
    json!({"SessionStart": [{"matcher": "startup|clear", "hooks": [hook]}]})
}

/// An agent that reads a long part.
fn reads(request: &Request) -> Reply {
    let part = request.prompt().strip_prefix("read part ").map(str::to_owned);
    let reply = match part.filter(|_| request.tool_results().is_empty()) {
        Some(part) => Reply::bash(&format!(
            "for i in $(seq 1 200); do echo \"part {part}, line $i of many\"; done"
        )),
        None if request.prompt() == NAMED => Reply::text(LOOKED),
        None => Reply::text("that is all of it"),
    };
    reply.tokens(60_000)
}

fn times(request: &Request, text: &str) -> usize {
    let all = request.user_texts().into_iter().chain(request.system_texts());
    all.map(|told| told.matches(text).count()).sum()
}

#[test]
fn notes_and_contexts_come_along() {
    let sealed = step(|_| Reply::text("Sealed. I end my turn.").tokens(percent(31.2)));
    let mut climb = climb_and_seal().into_iter().chain([sealed]);
    let agent = move |request: &Request| match climb.next() {
        Some(mut next) => next(request),
        None => reads(request),
    };
    let world = World::build()
        .guard_settings(unattended())
        .client_setting("hooks", hooks())
        .agent(agent)
        .start();
    let tui = world.tui(&[]);
    tui.prompt("begin");
    let delivered = world.mock.wait_main(5);
    tui.wait_idle();
    let began = |request: &Request| (request.notes().len(), times(request, CONTEXT));
    assert_eq!(began(&delivered), (1, 1), "{delivered}");
    let ask = |text: &str| {
        let before = world.mock.main().len();
        tui.prompt(text);
        let request = world.mock.wait_main(before + 1);
        tui.wait_idle();
        request
    };
    ask(NAMED);
    for n in 1..=6 {
        ask(&format!("read part {n}"));
    }
    for (text, done) in [("/brain-guard:slim", PROPOSED), ("/brain-guard:slim yes", DONE)] {
        tui.prompt(text);
        tui.wait_screen(text, |screen| screen.contains(done));
        tui.wait_idle();
    }
    let request = ask("and now?");
    assert!(request.said(TABLE) && !request.said("part 1, line 100"), "{request}");
    assert_eq!(began(&request), (1, 1), "{request}");
    assert_eq!(request.notes(), delivered.notes());
    let line = reference(&request, LOOKED).expect("the round that named a file");
    let page = guard(&world, &["show", &line]).stdout;
    assert!(page.contains("# a project"), "the file that was named: {page}");
    tui.quit();
}
