//! Only the operator can set the override, in a terminal or at the prompt. The agent cannot set
//! it at any tier.

use serde_json::{Value, json};

use super::story::{all_went, result, said, status, watched};
use super::{Move, moves, percent, step};
use crate::support::mock::{Gate, Reply};
use crate::support::world::World;

/// One call that is never blocked and one that is blocked at `narrow`. The ids must be unique,
/// because the client drops repeated ones.
fn writes(id: &'static str, at: f64) -> Move {
    step(move |_| {
        let write = json!({"file_path": "new.txt", "content": "x"});
        Reply::tool("ToolSearch", json!({"query": "select:Monitor"}))
            .tokens(percent(at))
            .and_tool_id(id, "Write", write)
    })
}

fn went(id: &'static str, last: &'static str) -> Move {
    step(move |r| {
        assert!(!result(r, id).1, "{:?}", r.tool_results());
        Reply::text(last).tokens(percent(31.1))
    })
}

/// Ends an attended turn at `narrow`: the hook refuses twice, then waits for the user.
fn blocked(id: &'static str, last: &'static str) -> Vec<Move> {
    let refused = move |text: &'static str| {
        step(move |r| {
            assert!(r.last_user_text().contains("not sealed yet"), "{}", r.last_user_text());
            Reply::text(text).tokens(percent(31.1))
        })
    };
    let denied = step(|r| {
        let (text, error) = result(r, id);
        assert!(error && text.contains("brain-guard blocked"), "{text}");
        Reply::text("blocked").tokens(percent(31.1))
    });
    vec![denied, refused("once more"), refused(last)]
}

#[test]
fn the_strip_follows_an_override_from_another_terminal_in_a_turn() {
    let gate = Gate::default();
    let held = gate.clone();
    let script = vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        step(move |_| Reply::text("begun\n\nnot yet ended\n").tokens(percent(31.1)).hang(&held)),
    ];
    let world = World::build().guard_settings(watched()).agent(moves(script)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(3);
    for _ in 0..2 {
        tui.wait_screen("the tier", |s| s.contains("%   only the notes can be edited"));
        world.guard(&["override", "30m"]);
        tui.wait_screen("the pause", |s| s.contains("%   nothing blocked (paused until"));
        world.guard(&["override", "--off"]);
    }
    tui.wait_screen("the tier again", |s| s.contains("%   only the notes can be edited"));
    gate.open();
}

#[test]
fn the_operator_lifts_the_blocks_and_sets_them_again() {
    let mut script =
        vec![step(|_| Reply::bash("echo one").tokens(percent(5.0))), writes("w1", 31.0)];
    script.extend(blocked("w1", "first-turn"));
    script.extend([writes("w2", 31.1), went("w2", "second-turn"), writes("w3", 31.1)]);
    script.extend(blocked("w3", "third-turn"));
    script.extend([writes("w4", 31.1), went("w4", "fourth-turn")]);
    let world = World::build().guard_settings(watched()).agent(moves(script)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(5);
    tui.wait_screen("the first turn's end", |s| s.contains("first-turn"));
    tui.wait_idle();
    let before = status(&world);
    assert_eq!(
        (&before["stance"], &before["capped"]),
        (&json!("narrow"), &Value::Null),
        "{before}"
    );
    assert_eq!(before["blocked"], json!(["read", "write", "shell", "dispatch"]));
    assert_eq!(
        (&before["carrier"], &before["attended"]),
        (&json!("mod"), &json!(true)),
        "{before}"
    );

    let taken = world.guard(&["override", "5m"]);
    assert!(taken.status.success() && taken.stdout.contains("nothing is blocked"), "{taken:?}");
    let during = status(&world);
    assert_eq!(
        (&during["tier"], &during["stance"]),
        (&json!("narrow"), &json!("coach")),
        "{during}"
    );
    assert_eq!(during["capped"], "the user paused brain-guard");
    tui.prompt("Go on");
    world.mock.wait_main(7);
    tui.wait_screen("the second turn's end", |s| s.contains("second-turn"));
    tui.wait_idle();

    let off = world.guard(&["override", "--off"]);
    assert!(off.status.success() && off.stdout.contains("off"), "{off:?}");
    tui.prompt("And now");
    world.mock.wait_main(11);
    tui.wait_screen("the third turn's end", |s| s.contains("third-turn"));
    tui.wait_idle();

    tui.prompt("/brain-guard:override 5m");
    tui.wait_screen("the answer", |s| s.contains("override until"));
    tui.wait_screen("an empty box", |_| tui.prompt_box().as_deref() == Some(""));
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), 11, "no call of the API");
    tui.prompt("Once more");
    let last = world.mock.wait_main(13);
    assert_eq!(
        said(&last, "override"),
        said(&world.mock.main()[10], "override"),
        "nothing of it stays"
    );
    assert_eq!(said(&last, "override 5m"), 0);
}

#[test]
fn the_agent_cannot_set_the_override() {
    // The client drops a call with a repeated id.
    let tries = |round: &'static str, at: f64| {
        step(move |_| {
            let id = |name: &str| format!("{name}-{round}");
            let bash = |command: &str| json!({"command": command, "description": "d"});
            let settings =
                json!({"file_path": ".brain-guard/settings.json", "content": "{\"mode\":\"off\"}"});
            Reply::bash("true")
                .tokens(percent(at))
                .and_tool_id(&id("verb"), "Bash", bash("brain-guard override 30m"))
                .and_tool_id(&id("env"), "Bash", bash("env -u CLAUDECODE brain-guard override 30m"))
                .and_tool_id(&id("write"), "Write", settings)
        })
    };
    let refused = |round: &'static str, then: fn() -> Reply| {
        step(move |r| {
            let shell = if round == "3" { "brain-guard blocked" } else { "a terminal of your own" };
            let write = "only your user may change";
            for (id, says) in [("verb", shell), ("env", shell), ("write", write)] {
                let (text, error) = result(r, &format!("{id}-{round}"));
                assert!(error && text.contains(says), "{id}: {text}");
            }
            then()
        })
    };
    let agent = moves(vec![
        tries("0", 5.0),
        refused("0", || Reply::bash("true").tokens(percent(21.0))),
        step(|r| {
            all_went(r);
            Reply::bash("true").tokens(percent(21.1))
        }),
        tries("1", 21.2),
        refused("1", || Reply::bash("true").tokens(percent(26.0))),
        tries("2", 26.1),
        refused("2", || Reply::bash("true").tokens(percent(31.0))),
        tries("3", 31.1),
        refused("3", || Reply::text("given up").tokens(percent(31.2))),
    ]);
    let world = World::build().guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(9);
    assert!(!world.project().join(".brain-guard/settings.json").exists());
    assert_eq!(status(&world)["override"], Value::Null);
}

#[test]
fn user_commands_are_answered_at_the_prompt() {
    let answer = step(|_| Reply::text("hello").tokens(percent(5.0)));
    let world = World::build().agent(moves(vec![answer])).start();
    let tui = world.tui(&[]);
    tui.prompt("Hi");
    world.mock.wait_main(1);
    tui.wait_idle();
    for (command, answer) in [
        ("explain", "Nothing was blocked in this session"),
        ("report", "denials"),
        ("doctor", "client"),
    ] {
        tui.prompt(&format!("/brain-guard:{command}"));
        tui.wait_screen(command, |screen| screen.contains(answer));
        tui.wait_idle();
    }
    assert_eq!(world.mock.main().len(), 1, "the agent is not asked");
}
