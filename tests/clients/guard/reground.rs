//! A fresh session learns the shell's last folder, what `/clear` undid, and what still runs.

use serde_json::json;

use super::story::{alone, append, end, note, patient, seal, wait_acknowledged};
use super::{moves, percent, step, told};
use crate::support::mock::Reply;
use crate::support::world::{Spy, World};

#[test]
fn the_undone_cd_and_background_shells_are_named() {
    let agent = moves(vec![
        step(|_| {
            let input =
                json!({"command": "sleep 301", "description": "server", "run_in_background": true});
            Reply::tool("Bash", input).tokens(percent(5.0))
        }),
        step(|_| Reply::bash("cd src && pwd").tokens(percent(6.0))),
        step(|_| Reply::bash("pwd").tokens(percent(31.0))),
        note("the lexer drops the last token"),
        seal(),
        end(),
        step(|_| Reply::bash("pwd").tokens(percent(6.0))),
        step(|_| Reply::text("going on").tokens(percent(6.5))),
    ]);
    let world = World::build()
        .guard_settings(patient(alone()))
        .file("src/a.txt", "a\n")
        .agent(agent)
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let project = world.project().display().to_string();
    let first = world.mock.wait_main(7);
    assert_eq!(
        told(&first, &format!("The shell stood in {project}/src")),
        1,
        "{:?}",
        first.system_texts().last()
    );
    assert_eq!(told(&first, "Still running in the background: sleep 301"), 1);
    let second = world.mock.wait_main(8);
    assert_eq!(second.tool_results()[0].text, project, "the clear undid the cd");
    wait_acknowledged(&world);
}

#[test]
fn a_worktree_is_kept_and_a_cd_in_it_is_named() {
    let agent = moves(vec![
        step(|_| {
            Reply::tool("ToolSearch", json!({"query": "select:EnterWorktree"})).tokens(percent(5.0))
        }),
        step(|_| Reply::tool("EnterWorktree", json!({"name": "wt1"})).tokens(percent(5.5))),
        step(|r| {
            super::story::all_went(r);
            Reply::bash("cd src && pwd").tokens(percent(6.0))
        }),
        step(|r| {
            assert!(r.tool_results()[0].text.ends_with("/wt1/src"), "{:?}", r.tool_results());
            append("next", "the lexer drops the last token").tokens(percent(31.0))
        }),
        seal(),
        end(),
        step(|_| Reply::bash("pwd").tokens(percent(6.0))),
        step(|_| Reply::text("going on").tokens(percent(6.5))),
    ]);
    let world = World::build().guard_settings(patient(alone())).spy(Spy::default());
    let world = world.file("src/a.txt", "a\n").agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let first = world.mock.wait_main(7);
    let tree = world.project().join(".claude/worktrees/wt1").display().to_string();
    assert_ne!(first.session, world.mock.main()[0].session);
    let second = world.mock.wait_main(8);
    assert_eq!(second.tool_results()[0].text, tree, "the worktree is kept, the cd undone");
    let start = world.wait_hook("SessionStart", |hook| hook["source"] == "clear");
    assert_eq!(start["cwd"], tree, "where the client says that the fresh session stands");
    let bearings = first.system_texts().join("\n");
    assert!(
        bearings
            .contains(&format!("The shell stood in {tree}/src; the clear put it back to {tree}")),
        "{}",
        bearings.lines().filter(|l| l.contains("stood")).collect::<String>()
    );
    wait_acknowledged(&world);
    assert_eq!(world.parts().len(), 1, "the job stays with the project");
}
