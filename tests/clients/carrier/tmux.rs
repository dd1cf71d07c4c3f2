//! The tmux carrier reads the client's state correctly wherever a key could arrive.

use std::time::{Duration, Instant};

use carrier::terminal::{PromptBox, Readable as _, Terminal as _};
use serde_json::json;

use super::{holds, pane, wait_box, wait_idle};
use crate::support::client;
use crate::support::mock::{Gate, Reply};
use crate::support::world::World;

/// Types drafts of every kind and deletes each again.
fn drafts(version: &str) {
    let world = World::build().bare().in_tmux().client(version).start();
    let tui = world.tui(&[]);
    let mut pane = pane(&tui);
    wait_box(&world, &mut pane, &PromptBox::Empty);
    wait_idle(&world, &mut pane, true);
    let long = "words ".repeat(60);
    let wrapped =
        format!("{}\n{}\n{}", "words ".repeat(26), "words ".repeat(26), "words ".repeat(8));
    let wrapped = wrapped.replace(" \n", "\n");
    for (typed, held) in [
        ("one line", "one line"),
        ("first\nsecond\n  third", "first\nsecond\n  third"),
        (long.as_str(), wrapped.trim_end()),
        ("/cl", "/cl"),
        ("/clear", "/clear"),
        ("❯ looks like a box", "❯ looks like a box"),
    ] {
        for (line, text) in typed.lines().enumerate() {
            if line > 0 {
                tui.keys("C-j");
            }
            tui.type_text(text);
        }
        wait_box(&world, &mut pane, &holds(held));
        wait_idle(&world, &mut pane, true);
        empty(&world, &tui, &mut pane);
    }
    let client::Terminal::Tmux(own) = tui.terminal() else { panic!("it runs in tmux") };
    own.paste(&"a line\n".repeat(40));
    wait_box(&world, &mut pane, &holds("[Pasted text #1 +40 lines]"));
    wait_idle(&world, &mut pane, true);
    tui.keys("C-u");
    wait_box(&world, &mut pane, &PromptBox::Empty);
    tui.type_text("!ls");
    wait_box(&world, &mut pane, &holds("!ls"));
    tui.keys("C-u");
    wait_box(&world, &mut pane, &holds("!"));
    tui.keys("BSpace");
    wait_box(&world, &mut pane, &PromptBox::Empty);
    tui.type_text("stashed");
    wait_box(&world, &mut pane, &holds("stashed"));
    tui.keys("C-s");
    wait_box(&world, &mut pane, &PromptBox::Empty);
    wait_idle(&world, &mut pane, true);
    tui.keys("C-s");
    wait_box(&world, &mut pane, &holds("stashed"));
}

fn empty(world: &World, tui: &client::Tui, pane: &mut carrier::tmux::Pane) {
    world.wait("empty box", || {
        tui.keys("C-u");
        (pane.prompt_box() == Ok(PromptBox::Empty)).then_some(())
    });
}

/// Checks a running turn with an empty box, a queued prompt and a draft.
fn turns(version: &str) {
    let gate = Gate::default();
    let held = gate.clone();
    let agent = move |n| match n {
        1 => Reply::text("begun\n\nended").hang(&held),
        _ => Reply::text("ok"),
    };
    let world = World::build().bare().in_tmux().client(version).agent(move |r| agent(r.n)).start();
    let tui = world.tui(&[]);
    let mut pane = pane(&tui);
    tui.prompt("go");
    tui.wait_screen("half answer", |screen| screen.contains("begun"));
    never_idle(&mut pane, "a running turn");
    tui.type_text("half a draft");
    wait_box(&world, &mut pane, &holds("half a draft"));
    never_idle(&mut pane, "a running turn behind a draft");
    tui.keys("C-u");
    wait_box(&world, &mut pane, &PromptBox::Empty);
    tui.prompt("queued words");
    tui.wait_screen("hint", |screen| screen.contains("to edit queued messages"));
    wait_box(&world, &mut pane, &PromptBox::Empty);
    never_idle(&mut pane, "a queued prompt");
    gate.open();
    world.mock.wait_main(2);
    wait_idle(&world, &mut pane, true);
}

/// Asserts that the pane is not idle for half a second.
#[track_caller]
fn never_idle(pane: &mut carrier::tmux::Pane, what: &str) {
    let end = Instant::now() + Duration::from_millis(500);
    while Instant::now() < end {
        assert_eq!(pane.idle(), Ok(false), "{what}");
    }
}

fn permission(version: &str) {
    let agent = |n| match n {
        1 => Reply::tool("Write", json!({"file_path": "made.txt", "content": "x"})),
        _ => Reply::text("ok"),
    };
    let world = World::build().bare().in_tmux().client(version).permission_mode("default");
    let world = world.agent(move |request| agent(request.n)).start();
    let tui = world.tui(&[]);
    let mut pane = pane(&tui);
    tui.prompt("go");
    tui.wait_screen("dialog", |screen| screen.contains("Do you want to create made.txt?"));
    // The box stays for one frame.
    wait_box(&world, &mut pane, &PromptBox::None);
    never_idle(&mut pane, "a dialog");
    // "No". An extra Escape would open the list of earlier prompts.
    tui.answer("3");
    wait_idle(&world, &mut pane, true);
}

#[test]
fn drafts_are_read() {
    drafts(client::PINNED);
}

#[test]
fn drafts_are_read_in_the_oldest_client() {
    drafts(client::OLDEST);
}

#[test]
fn a_running_turn_is_recognized() {
    turns(client::PINNED);
}

#[test]
fn a_running_turn_is_recognized_in_the_oldest_client() {
    turns(client::OLDEST);
}

#[test]
fn a_permission_dialog_is_no_box() {
    permission(client::PINNED);
}

#[test]
fn a_permission_dialog_is_no_box_in_the_oldest_client() {
    permission(client::OLDEST);
}

#[test]
fn a_question_and_a_plan_are_no_box() {
    let question = json!({"questions": [{
        "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
    }]});
    let agent = move |n| match n {
        1 => Reply::tool("AskUserQuestion", question.clone()),
        2 => Reply::tool("ExitPlanMode", json!({"plan": "# Plan"})),
        _ => Reply::text("ok"),
    };
    let world = World::build().bare().in_tmux().permission_mode("plan");
    let world = world.agent(move |request| agent(request.n)).start();
    let tui = world.tui(&[]);
    let mut pane = pane(&tui);
    tui.prompt("ask");
    tui.wait_screen("question", |screen| screen.contains("1. Red"));
    never_idle(&mut pane, "a question");
    assert_eq!(pane.prompt_box(), Ok(PromptBox::None));
    tui.answer("1");
    tui.wait_screen("plan", |screen| screen.contains("Exit plan mode?"));
    never_idle(&mut pane, "a plan");
    assert_eq!(pane.prompt_box(), Ok(PromptBox::None));
}

#[test]
fn other_views_are_no_box() {
    let world = World::build().bare().in_tmux().start();
    let tui = world.tui(&[]);
    let mut pane = pane(&tui);
    tui.prompt("words");
    world.mock.wait_main(1);
    wait_idle(&world, &mut pane, true);
    for (open, seen, close) in
        [("C-o", "Showing detailed transcript", "C-o"), ("C-r", "Search prompts", "Escape")]
    {
        tui.keys(open);
        tui.wait_screen(open, |screen| screen.contains(seen));
        assert_eq!(pane.prompt_box(), Ok(PromptBox::None), "{open}");
        never_idle(&mut pane, open);
        tui.keys(close);
        wait_idle(&world, &mut pane, true);
    }
    tui.prompt("/config");
    tui.wait_screen("settings", |screen| screen.contains("Auto-compact"));
    never_idle(&mut pane, "/config");
    assert_eq!(pane.prompt_box(), Ok(PromptBox::None));
}
