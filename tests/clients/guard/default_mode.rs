//! Writing notes and sealing open no dialog, in any permission mode but plan mode.

use serde_json::json;

use super::{append, deliveries, moves, only_result, percent, step, unattended};
use crate::support::mock::{Reply, Request};
use crate::support::world::{Spy, World};

/// The path that `append` printed.
fn notes_path(request: &Request) -> String {
    let said = request.body["messages"].to_string();
    let end =
        said.find("compaction.md)").expect("the append names the file") + "compaction.md".len();
    said[..end].rsplit('(').next().unwrap_or_default().to_owned()
}

#[test]
fn notes_and_seal_open_no_permission_dialog() {
    opens_no_dialog("default");
}

#[test]
fn notes_and_seal_open_no_dialog_where_edits_are_accepted() {
    opens_no_dialog("acceptEdits");
}

#[test]
fn notes_and_seal_work_where_permissions_are_bypassed() {
    opens_no_dialog("bypassPermissions");
}

#[track_caller]
fn opens_no_dialog(mode: &str) {
    let background = json!({
        "command": "brain-guard append --kind next 'the parser fails on CRLF'",
        "description": "note", "run_in_background": true,
    });
    let agent = moves(vec![
        step(|_| Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(5.0))),
        step(move |_| Reply::tool("Bash", background.clone()).tokens(percent(31.0))),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error, "{text}");
            Reply::tool("Read", json!({"file_path": notes_path(r)})).tokens(percent(31.0))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.contains("the parser fails on CRLF"), "{text}");
            let edit = json!({
                "file_path": notes_path(r),
                "old_string": "## Forward State", "new_string": "## Forward State\n\n- write the lexer next",
            });
            Reply::tool("Edit", edit).tokens(percent(31.1))
        }),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::bash("brain-guard seal").tokens(percent(31.2))
        }),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::text("Sealed.").tokens(percent(31.3))
        }),
        step(|r| {
            assert_eq!(deliveries(r), 1);
            Reply::text("going on").tokens(percent(6.0))
        }),
    ]);
    let world = World::build().permission_mode(mode).spy(Spy::default());
    let world = world.guard_settings(unattended()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_main(7);
    assert_ne!(last.session, world.mock.main()[0].session);
    tui.wait_idle();
    assert!(world.hooks().iter().all(|hook| hook["hook_event_name"] != "PermissionRequest"));
}

/// The calls of one message run one after the other, each with its own hook.
#[test]
fn an_edit_a_commit_and_a_seal_fit_in_one_message() {
    let agent = moves(vec![
        step(|_| append("next", "write the lexer").tokens(percent(5.0))),
        step(|r| Reply::tool("Read", json!({"file_path": notes_path(r)})).tokens(percent(5.1))),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            let edit = json!({
                "file_path": notes_path(r),
                "old_string": "write the lexer", "new_string": "write the lexer and the parser",
            });
            let input = |command: &str| json!({"command": command, "description": "step"});
            Reply::tool("Edit", edit)
                .and_tool("Bash", input("git commit -q --allow-empty -m 'a grammar'"))
                .and_tool("Bash", input("brain-guard seal --no-clear"))
                .tokens(percent(5.2))
        }),
        step(|r| {
            let results = r.tool_results();
            assert!(results.iter().all(|result| !result.is_error), "{results:?}");
            let sealed = results.iter().find_map(|of| {
                of.text.lines().find_map(|line| line.strip_prefix("sealed version: "))
            });
            let sealed = std::fs::read_to_string(sealed.expect("a seal")).expect("sealed");
            assert!(sealed.contains("write the lexer and the parser"), "{sealed}");
            assert!(sealed.contains("` a grammar"), "{sealed}");
            Reply::text("Sealed.").tokens(percent(5.3))
        }),
    ]);
    let world = World::build().spy(Spy::default()).guard_settings(unattended());
    let identity = [("GIT_AUTHOR_", "agent"), ("GIT_COMMITTER_", "agent")];
    let world = identity.iter().fold(world, |world, (who, name)| {
        let world = world.env(&format!("{who}NAME"), name);
        world.env(&format!("{who}EMAIL"), "agent@example.invalid")
    });
    let world = world.agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(4);
    tui.wait_idle();
}
