//! The keys of the tmux carrier have the intended effect in the client.

use std::time::Duration;

use carrier::terminal::{PromptBox, Readable as _, Refusal, Stroke, Terminal as _};
use serde_json::{Value, json};

use super::{holds, pane, wait_box, wait_idle};
use crate::support::mock::Reply;
use crate::support::world::{Builder, Spy, World};

const CHORD: [Stroke; 2] = [Stroke::ctrl(']'), Stroke::ctrl(']')];

/// A client whose user keybindings bind the chord to /clear.
fn bound() -> Builder {
    let bindings = json!({"bindings": [
        {"context": "Chat", "bindings": {"ctrl+] ctrl+]": "command:clear"}},
    ]});
    World::build().bare().in_tmux().home_file(".claude/keybindings.json", &bindings.to_string())
}

#[test]
fn a_chord_clears_and_keeps_the_draft() {
    let world = bound().spy(Spy::default()).start();
    let tui = world.tui(&[]);
    let mut pane = pane(&tui);
    tui.prompt("words");
    world.mock.wait_main(1);
    tui.type_text("a draft");
    wait_box(&world, &mut pane, &holds("a draft"));
    wait_idle(&world, &mut pane, true);
    assert_eq!(pane.chord(&CHORD, &mut || false), Ok(false));
    assert_eq!(pane.chord(&CHORD, &mut || true), Ok(true));
    world.wait_hook("SessionStart", |hook| hook["source"] == "clear");
    wait_idle(&world, &mut pane, true);
    wait_box(&world, &mut pane, &holds("a draft"));
    let clears = world.hooks();
    let clears = clears.iter().filter(|hook| hook["source"] == "clear");
    assert_eq!(clears.count(), 1);
}

#[test]
fn a_client_that_left_gets_no_keys() {
    let world = World::build().bare().in_tmux().start();
    let tui = world.tui(&[]);
    let mut pane = pane(&tui);
    wait_box(&world, &mut pane, &PromptBox::Empty);
    assert_eq!(pane.prove(), Ok(()));
    tui.quit();
    assert!(matches!(pane.chord(&CHORD, &mut || true), Err(Refusal::Never(_))));
}

#[test]
fn a_session_that_moved_to_the_background_gets_no_keys() {
    let world = bound().start();
    let tui = world.tui(&[]);
    let mut pane = pane(&tui);
    tui.prompt("words");
    world.mock.wait_main(1);
    wait_idle(&world, &mut pane, true);
    tui.keys("Left");
    tui.wait_screen("agents", |screen| screen.contains("moved to the background"));
    assert_eq!(pane.prompt_box(), Ok(PromptBox::None));
    let moved = Err(Refusal::never("the session moved to the background of the client"));
    assert_eq!(pane.chord(&CHORD, &mut || true), moved);
}

/// The client works for a moment after its Stop hook. It queues a chord from that moment, and
/// the draft is lost.
#[test]
fn chords_right_after_a_turn_keep_the_draft() {
    let agent = || Reply::text("done").delay(Duration::from_millis(400));
    let world = bound().spy(Spy::default()).agent(move |_| agent()).start();
    let tui = world.tui(&[]);
    let mut pane = pane(&tui);
    let count = |event: &str, field: &str, value: &str| {
        let like = |hook: &&Value| hook["hook_event_name"] == event && hook[field] == value;
        world.hooks().iter().filter(like).count()
    };
    for round in 1..=8 {
        tui.prompt(&format!("words {round}"));
        world.mock.wait_main(round);
        let draft = format!("draft {round}");
        tui.type_text(&draft);
        wait_box(&world, &mut pane, &holds(&draft));
        world.wait("the turn's end", || {
            (count("Stop", "hook_event_name", "Stop") == round).then_some(())
        });
        wait_idle(&world, &mut pane, true);
        assert_eq!(pane.chord(&CHORD, &mut || true), Ok(true));
        world.wait("clear", || (count("SessionStart", "source", "clear") == round).then_some(()));
        wait_idle(&world, &mut pane, true);
        wait_box(&world, &mut pane, &holds(&draft));
        tui.keys("C-u");
        wait_box(&world, &mut pane, &PromptBox::Empty);
    }
}
