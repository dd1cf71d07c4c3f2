//! Prompts by the client itself (the end of a background shell or agent) do not count as the
//! user's. They leave no trail, do not make the session attended, and cancel no notice.

use serde_json::{Value, json};

use super::story::{append, end, logged, said, seal, sealed, status, wait_acknowledged};
use super::{moves, percent, step};
use crate::support::mock::{Gate, Reply};
use crate::support::world::{Spy, World};

fn prompts(world: &World) -> Vec<String> {
    let path = status(world)["file"]["path"].as_str().expect("a path").to_owned();
    let path = std::path::Path::new(&path).with_file_name("prompts.jsonl");
    let text = std::fs::read_to_string(path).expect("the trail");
    let text_of = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        row["text"].as_str().expect("a text").to_owned()
    };
    text.lines().map(text_of).collect()
}

/// The time of the last prompt by a person in the only session.
fn last_human(world: &World) -> Value {
    let folders = world.parts().into_iter().map(|part| part.join("sessions"));
    let files = folders.flat_map(|f| std::fs::read_dir(f).into_iter().flatten().flatten());
    let mut files = files.map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "json"));
    let text = std::fs::read_to_string(files.next().expect("a session")).expect("own file");
    assert_eq!(files.next(), None);
    serde_json::from_str::<Value>(&text).expect("JSON")["last_human"].take()
}

#[test]
fn a_background_agents_end_does_not_cancel_the_notice() {
    let gate = Gate::default();
    let held = gate.clone();
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| {
            let input =
                json!({"description": "d", "prompt": "look", "subagent_type": "general-purpose"});
            Reply::tool("Agent", input).tokens(percent(6.0))
        }),
        step(|_| append("next", "the lexer drops the last token").tokens(percent(31.0))),
        seal(),
        end(),
        step(|r| {
            assert!(r.last_user_text().contains("<task-notification>"), "{}", r.last_user_text());
            Reply::text("the agent is done").tokens(percent(31.4))
        }),
        step(|_| Reply::bash("echo goes-on").tokens(percent(6.0))),
        step(|_| Reply::text("going on").tokens(percent(6.5))),
    ]);
    let settings = json!({"boundary": {
        "attended_notice_seconds": 12, "agents_wait_seconds": 0, "min_interval_seconds": 0,
    }});
    let world = World::build().guard_settings(settings).spy(Spy::default()).agent(agent);
    let world = world.subagent(move |_| Reply::text("sub\n\ndone\n").hang(&held)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(5);
    tui.wait_screen("the notice", |s| s.contains("restarts from its notes in"));
    let before = std::time::Instant::now();
    std::thread::sleep(std::time::Duration::from_secs(6));
    gate.open();
    let during = world.mock.wait_main(6);
    assert_eq!(during.session, world.mock.main()[0].session, "still the old session");
    let first = world.mock.wait_main(7);
    let waited = before.elapsed();
    assert_ne!(first.session, during.session);
    assert!(waited.as_secs_f64() < 17.0, "the notice began anew: {waited:?}");
    assert_eq!(said(&first, &sealed(&world)[0]), 1);
    world.mock.wait_main(8);
    wait_acknowledged(&world);
    assert_eq!(prompts(&world), ["Build the lexer"]);
}

#[test]
fn a_monitor_event_is_not_a_user_prompt() {
    let monitor = json!({
        "command": "until test -f go; do sleep 0.05; done; echo tick; sleep 300", "description": "ticks", "persistent": false, "timeout_ms": 60000,
    });
    let agent = moves(vec![
        step(|_| {
            Reply::tool("ToolSearch", json!({"query": "select:Monitor"})).tokens(percent(5.0))
        }),
        step(move |_| Reply::tool("Monitor", monitor.clone()).tokens(percent(6.0))),
        step(|r| {
            super::story::all_went(r);
            append("next", "the lexer drops the last token").tokens(percent(6.5))
        }),
        step(|_| Reply::text("waiting").tokens(percent(7.0))),
        step(|r| {
            assert!(r.said("tick"), "{}", r.last_user_text());
            Reply::text("a tick").tokens(percent(8.0))
        }),
    ]);
    let settings = json!({"boundary": {"attended_minutes": 0}});
    let world = World::build().guard_settings(settings).spy(Spy::default()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Watch the build");
    world.mock.wait_main(4);
    tui.wait_screen("the first turn's end", |s| s.contains("waiting"));
    tui.wait_idle();
    let typed = last_human(&world);
    assert!(typed.is_string());
    std::fs::write(world.project().join("go"), "").expect("own file");
    world.mock.wait_main(5);
    world.wait_hook("UserPromptSubmit", |h| {
        h["prompt"].as_str().is_some_and(|p| p.contains("<task-notification>"))
    });
    tui.wait_screen("the second turn's end", |s| s.contains("a tick"));
    tui.wait_idle();
    assert_eq!(status(&world)["attended"], false);
    assert_eq!(prompts(&world), ["Watch the build"]);
    assert_eq!(last_human(&world), typed, "a person was last there when they typed");
    assert!(logged(&world).iter().all(|e| e["kind"] != "fault"), "{:?}", logged(&world));
}
