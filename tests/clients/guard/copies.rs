//! The installed plugin and one from another marketplace, in one client.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::story::{alone, append, end, logged, patient, said, seal, sealed, wait_acknowledged};
use super::{moves, percent, step};
use crate::support::client::{self, PINNED};
use crate::support::mock::Reply;
use crate::support::process::{self, DEADLINE};
use crate::support::world::World;

/// A client on the PATH, for `install`.
fn path() -> String {
    let program = client::binary(PINNED);
    let folder = program.parent().expect("a folder").display();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}

/// The states of all sessions.
fn sessions(world: &World) -> Vec<Value> {
    let parts = world.parts().into_iter();
    let folders = parts.filter_map(|part| fs::read_dir(part.join("sessions")).ok());
    let files = folders.flat_map(|files| files.flatten().map(|file| file.path()));
    let files = files.filter(|path| path.extension().is_some_and(|e| e == "json"));
    files.map(|p| serde_json::from_slice(&fs::read(p).expect("state")).expect("JSON")).collect()
}

/// The findings of the check `registered`.
fn registered(world: &World) -> Vec<String> {
    let output = world.guard(&["doctor", "--json"]);
    let report: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    let found = report["found"].as_array().into_iter().flatten();
    found.filter(|f| f["check"] == "registered").map(ToString::to_string).collect()
}

/// Runs `claude plugin …`.
fn plugin(world: &World, arguments: &[&str]) {
    let mut command: Command = world.command();
    let output = process::run(command.arg("plugin").args(arguments), DEADLINE).expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// All paths below a folder that name us, without those below another one of them.
fn ours(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().contains("brain-guard") {
            found.insert(path.display().to_string());
        } else if path.is_dir() && !path.is_symlink() {
            found.extend(ours(&path));
        }
    }
    found
}

#[test]
fn one_of_two_copies_runs_and_uninstall_leaves_only_what_it_lists() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        step(|r| {
            assert!(r.tool_results()[0].is_error, "blocked: {:?}", r.tool_results());
            assert_eq!(r.tool_results()[0].text.matches("brain-guard blocked Bash").count(), 1);
            append("next", "the lexer drops the last token").tokens(percent(31.1))
        }),
        seal(),
        end(),
        step(|_| Reply::bash("echo goes-on").tokens(percent(6.0))),
        step(|_| Reply::text("going on").tokens(percent(6.5))),
    ]);
    let world = World::build().bare().env("PATH", &path());
    let world = world.guard_settings(patient(alone())).agent(agent).start();
    let installed = world.guard(&["install", "--no-demo"]);
    assert!(installed.status.success(), "{installed:?}");
    world.install_from("acme");

    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let first = world.mock.wait_main(6);
    assert_ne!(first.session, world.mock.main()[0].session, "a fresh session");
    let files = sealed(&world);
    assert_eq!((files.len(), said(&first, &files[0])), (1, 1), "the notes, once: {first}");
    world.mock.wait_main(7);
    wait_acknowledged(&world);
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), 7, "one turn, not two");
    let screen = tui.screen();
    assert!(!screen.contains("hook failed") && !screen.contains("hook error"), "{screen}");
    let strips =
        screen.lines().filter(|line| line.starts_with("context ") && line.contains("notes "));
    assert_eq!(strips.count(), 1, "one status strip: {screen}");
    let boundaries =
        logged(&world).into_iter().filter(|e| e["kind"] == "boundary" && e["step"] == "cleared");
    assert_eq!(boundaries.count(), 1);

    let sessions = sessions(&world);
    let roots: BTreeSet<&str> = sessions.iter().filter_map(|s| s["plugin"].as_str()).collect();
    assert_eq!((sessions.len(), roots.len()), (2, 1), "{sessions:?}");
    let found = registered(&world);
    let runs = if roots.iter().any(|root| root.contains("acme")) { "acme" } else { "brain-guard" };
    for part in [
        "brain-guard@brain-guard".to_owned(),
        "claude plugin uninstall brain-guard@acme".to_owned(),
        format!("brain-guard@{runs} ran"),
    ] {
        assert!(found.iter().any(|finding| finding.contains(&part)), "{part}: {found:?}");
    }
    tui.quit();

    let removed = world.guard(&["uninstall"]);
    assert!(removed.status.success(), "{removed:?}");
    plugin(&world, &["uninstall", "brain-guard@acme"]);
    plugin(&world, &["marketplace", "remove", "acme"]);
    for path in [world.home(), world.state(), world.project()].iter().flat_map(|f| ours(f)) {
        let is_listed = removed.stdout.contains(&format!("{path} ("));
        assert!(is_listed || path.contains("/cache/acme/"), "{path}: {}", removed.stdout);
    }
}
