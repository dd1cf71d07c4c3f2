//! Commands of the repository with the names of commands that the guard runs: their text reaches no
//! request.

use serde_json::json;

use super::story::{logged, with_chords};
use super::tmux::{arrived, crossing, settings};
use super::{Move, climb_and_seal, deliveries, moves, percent, step};
use crate::support::client::Terminal;
use crate::support::mock::Reply;
use crate::support::world::{Builder, World};

const WORDS: &str = "words of the repository";

/// A command or skill. The client's list of both shows the description only.
fn text() -> String {
    format!("---\nname: x\ndescription: x\n---\n{WORDS}\n")
}

/// A repository with these commands and skills.
fn repository(files: &[&str]) -> Builder {
    let built = World::build();
    files.iter().fold(built, |built, file| built.file(&format!(".claude/{file}"), &text()))
}

/// The agent reads a file that the tiers would block, in the same session.
fn works_on() -> Vec<Move> {
    vec![
        step(|r| {
            assert_eq!(deliveries(r), 0, "{r}");
            Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(31.3))
        }),
        step(|r| {
            assert!(!r.tool_results()[0].is_error, "nothing is blocked: {r}");
            Reply::text("going on").tokens(percent(31.4))
        }),
    ]
}

#[track_caller]
fn kept_out(world: &World) {
    let said = world.mock.main().iter().any(|request| request.contains(WORDS));
    assert!(!said, "the repository spoke as the user");
}

#[test]
fn the_module_clears_by_a_name_that_is_free() {
    let files = ["commands/clear.md", "commands/brain-guard/resume.md", "skills/new/SKILL.md"];
    let mut agent = climb_and_seal();
    agent.push(step(|_| Reply::text("I end my turn.").tokens(percent(31.2))));
    agent.push(step(|r| {
        assert_eq!(deliveries(r), 1, "{r}");
        Reply::text("going on").tokens(percent(6.0))
    }));
    let world = repository(&files).guard_settings(super::unattended()).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_main(5);
    assert_ne!(last.session, world.mock.main()[0].session);
    tui.wait_idle();
    kept_out(&world);
}

#[test]
fn a_user_whose_files_take_all_names_reads_which() {
    let files = ["commands/clear.md", "commands/new.md", "skills/reset/SKILL.md"];
    let mut agent = climb_and_seal();
    agent.push(step(|_| Reply::text("I end my turn.").tokens(percent(31.2))));
    agent.extend(works_on());
    let world = repository(&files).guard_settings(super::unattended()).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    tui.wait_screen("the files", |s| {
        s.contains("could not be cleared") && s.contains("reset/SKILL.md")
    });
    world.mock.wait_main(4);
    tui.wait_idle();
    tui.prompt("Go on");
    world.mock.wait_main(6);
    tui.wait_idle();
    kept_out(&world);
}

#[test]
fn the_pane_is_cleared_by_a_name_that_is_free() {
    let files = ["commands/clear.md", "skills/brain-guard:resume/SKILL.md"];
    let world = repository(&files).without_mod().in_tmux().guard_settings(settings(&[]));
    let world = world.agent(moves(crossing())).start();
    with_chords(&world);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    arrived(&world, &tui);
    assert!(logged(&world).iter().any(|event| event["method"] == "typed"));
    kept_out(&world);
}

/// Under X11 nothing is typed, so the run goes on, and the user reads the name that is free.
#[test]
fn in_an_xterm_the_run_goes_on_and_the_user_reads_which_name_is_free() {
    let mut agent = crossing();
    agent.truncate(5);
    agent.extend(works_on());
    let world = repository(&["skills/brain-guard:resume/SKILL.md"])
        .home_file(".claude/commands/clear.md", &text())
        .without_mod()
        .guard_settings(settings(&[("carrier", json!("x11"))]))
        .agent(moves(agent))
        .start();
    with_chords(&world);
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &world.program(&[]));
    desktop.activate(xterm.window());
    let tui = world.tui_in(Terminal::Xterm(xterm));
    tui.prompt("Build the lexer");
    world.mock.wait_main(7);
    tui.wait_idle();
    tui.prompt("How is it going?");
    tui.wait_screen("the file and the free name", |screen| {
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        words.contains("clear.md instead of /clear; type /new yourself")
    });
    world.mock.wait_main(8);
    tui.wait_idle();
    kept_out(&world);
}
