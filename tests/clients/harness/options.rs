//! The options of a world reach the client.

use std::fs;

use serde_json::json;

use crate::support::client;
use crate::support::mock::Reply;
use crate::support::world::World;

#[test]
fn settings_files_and_variables_reach_the_client() {
    let agent = |n| match n {
        1 => Reply::bash(
            "echo \"mark $E2E_MARK\"; cat src/a.txt; touch made; touch ~/made || echo refused",
        ),
        _ => Reply::text("ok"),
    };
    let world = World::build().bare().agent(move |request| agent(request.n)).client(client::PINNED);
    let world = world.sandbox().env("E2E_MARK", "seen").file("src/a.txt", "text of a\n");
    let world = world.client_setting("attribution", json!({"commit": "", "pr": ""})).start();
    assert!(world.print(&[], "go").finish().status.success());
    let result = world.mock.wait_main(2).tool_results().remove(0).text;
    for part in ["mark seen", "text of a", "refused"] {
        assert!(result.contains(part), "{result}");
    }
    assert!(world.project().join("made").is_file() && !world.home().join("made").exists());
    assert!(!world.mock.main()[0].said("Co-Authored-By"));
}

#[test]
fn the_plugin_is_installed_with_its_settings() {
    let world = World::build().installed().without_mod();
    let world = world
        .guard_settings(json!({"mode": "user"}))
        .guard_project_settings(json!({"mode": "project"}));
    let world = world.start();
    let output = world.command().args(["plugin", "list"]).output().expect("the client runs");
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(listed.contains("brain-guard@"), "{listed}");
    assert!(world.plugin_arguments().is_empty());
    let user = world.home().join(".claude/brain-guard/settings.json");
    let project = world.project().join(".brain-guard/settings.json");
    assert!(fs::read_to_string(user).is_ok_and(|text| text.contains("user")));
    assert!(fs::read_to_string(project).is_ok_and(|text| text.contains("project")));
    let hooks =
        fs::read_to_string(world.plugin("brain-guard").join("hooks/hooks.json")).expect("hooks");
    assert!(hooks.contains("SessionStart") && !hooks.contains("modules"), "{hooks}");
    assert!(world.guard(&["--version"]).status.success());
    assert!(world.state().is_dir());
}
