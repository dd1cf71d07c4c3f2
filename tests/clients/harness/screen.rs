//! The terminals work with the real client.

use serde_json::json;

use super::two_calls;
use crate::support::client::Terminal;
use crate::support::mock::{Gate, Kind, Reply};
use crate::support::world::{Spy, World};

#[test]
fn a_session_goes_through_two_calls() {
    let world = World::build().bare().spy(Spy::default()).agent(two_calls).start();
    let tui = world.tui(&[]);
    // tmux takes a `;` at the end for its own separator.
    tui.prompt("go; now;");
    let third = world.mock.wait_main(3);
    assert_eq!(third.tool_results()[0].text, "second-output");
    assert!(third.user_texts().contains(&"go; now;"));
    tui.wait_idle();
    assert!(tui.screen().contains("all done"), "{}", tui.screen());
    // Idle also means that the Stop hook is done.
    assert!(world.hooks().iter().any(|hook| hook["hook_event_name"] == "Stop"));
    tui.quit();
    world.wait_hook("SessionEnd", |hook| hook["reason"] == "prompt_input_exit");
}

#[test]
fn a_session_in_an_xterm_goes_through_two_calls() {
    let world = World::build().bare().spy(Spy::default()).agent(two_calls).start();
    let desktop = world.desktop();
    let window = world.xterm(&desktop, "+0+0", &world.program(&[]));
    let tui = world.tui_in(Terminal::Xterm(window));
    desktop.select("what the user selected");
    tui.prompt("Go to it");
    let third = world.mock.wait_main(3);
    assert_eq!(third.tool_results()[0].text, "second-output");
    assert!(third.user_texts().contains(&"Go to it"));
    tui.wait_idle();
    assert!(tui.screen().contains("all done"), "{}", tui.screen());
    desktop.layout("de");
    tui.type_text("/one\ny and z");
    tui.wait_screen("a draft of two lines", |_| {
        tui.prompt_box()
            .is_some_and(|shown| shown.starts_with("/one") && shown.ends_with("y and z"))
    });
    assert_eq!(desktop.selected().as_deref(), Some("what the user selected"));
    tui.keys("C-u BSpace C-u");
    tui.wait_screen("an empty box", |_| tui.prompt_box().as_deref() == Some(""));
    tui.quit();
    world.wait_hook("SessionEnd", |hook| hook["reason"] == "prompt_input_exit");
}

#[test]
fn a_typed_clear_gives_a_new_session() {
    let world = World::build().bare().spy(Spy::default()).start();
    let tui = world.tui(&[]);
    tui.prompt("words of the first session");
    let first = world.mock.wait_main(1);
    tui.wait_idle();
    tui.type_text("/cle");
    tui.wait_screen("first keys", |_| tui.prompt_box().as_deref() == Some("/cle"));
    tui.keys("BSpace BSpace BSpace BSpace");
    tui.wait_screen("empty box", |_| tui.prompt_box().as_deref() == Some(""));
    tui.prompt("/clear");
    let start = world.wait_hook("SessionStart", |hook| hook["source"] == "clear");
    tui.wait_idle();
    tui.prompt("words of the second session");
    let second = world.mock.wait_main(2);
    assert_eq!(second.session.as_deref(), start["session_id"].as_str());
    assert_ne!(second.session, first.session);
    assert!(!second.said("words of the first session"));
    tui.wait_idle();
    world.wait("second transcript", || (world.transcripts().len() == 2).then_some(()));
    assert!(world.processes().iter().any(|process| process.pid == tui.pid()));
}

#[test]
fn a_held_answer_can_be_interrupted() {
    let gate = Gate::default();
    let held = gate.clone();
    let agent = move |n| match n {
        1 => Reply::text("begun\n\nnever ended\n").hang(&held),
        _ => Reply::text("after it"),
    };
    let world = World::build().bare().agent(move |request| agent(request.n)).start();
    let tui = world.tui(&[]);
    tui.prompt("go");
    tui.wait_screen("half answer", |screen| screen.contains("begun"));
    tui.keys("Escape");
    tui.wait_screen("interruption", |screen| screen.contains("Interrupted"));
    gate.open();
    tui.wait_idle();
    tui.prompt("once more");
    assert!(!world.mock.wait_main(2).said("never ended"));
}

#[test]
fn an_open_dialog_is_not_idle() {
    let agent = |n| match n {
        1 => Reply::tool("Write", json!({"file_path": "made.txt", "content": "x"})),
        _ => Reply::text("ok"),
    };
    let world = World::build().bare().permission_mode("default").spy(Spy::default());
    let world = world.agent(move |request| agent(request.n)).start();
    let tui = world.tui(&[]);
    tui.prompt("go");
    world.wait_hook("PermissionRequest", |hook| hook["tool_name"] == "Write");
    tui.wait_screen("dialog", |screen| screen.contains("Do you want to create made.txt?"));
    assert_eq!(tui.prompt_box(), None);
    tui.answer("Enter");
    world.mock.wait_main(2);
    assert!(world.project().join("made.txt").is_file());
}

#[test]
fn a_compaction_summary_is_no_main_request() {
    let world = World::build().bare().spy(Spy::default()).start();
    let tui = world.tui(&[]);
    tui.prompt("go");
    world.mock.wait_main(1);
    tui.wait_idle();
    tui.prompt("/compact");
    world.wait_hook("PostCompact", |hook| {
        hook["compact_summary"].as_str().is_some_and(|text| text.contains("side answer"))
    });
    assert_eq!(world.mock.main().len(), 1);
    assert_eq!(world.mock.with_log(|log| log.of(Kind::Side).count()), 1);
}
