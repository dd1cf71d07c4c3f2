//! `doctor` on a real installation, with and without traces of the client's sessions.

use serde_json::Value;

use super::{moves, percent, step, unattended};
use crate::support::client::{self, PINNED};
use crate::support::mock::Reply;
use crate::support::world::World;

/// The findings of `doctor`, which calls the client three times.
fn doctor(world: &World) -> Vec<Value> {
    let output = world.guard(&["doctor", "--json"]);
    let report: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    report["found"].as_array().expect("findings").clone()
}

/// The level and text of a check.
fn check(found: &[Value], name: &str) -> (String, String) {
    // A check can have several findings: problems come first.
    let mut of_it: Vec<&Value> = found.iter().filter(|f| f["check"] == name).collect();
    of_it.sort_by_key(|f| f["level"] == "ok");
    let text = |name: &str| of_it[0][name].as_str().expect("text").to_owned();
    (text("level"), text("seen"))
}

#[test]
fn doctor_sees_hooks_fire_the_module_live_and_both_missing() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::text("first done").tokens(percent(5.1))),
        step(|_| Reply::text("second done").tokens(percent(5.0))),
    ]);
    let clients = client::binary(PINNED);
    let folder = clients.parent().expect("a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let world =
        World::build().bare().env("PATH", &path).guard_settings(unattended()).agent(agent).start();
    let installed = world.guard(&["install", "--no-demo"]);
    assert!(installed.status.success(), "{installed:?}");
    let found = doctor(&world);
    let (level, seen) = check(&found, "hooks");
    assert!(level == "note" && seen.contains("none has ever run"), "{seen}");
    for name in ["plugin", "files", "client", "registered", "switches"] {
        let (level, seen) = check(&found, name);
        assert_eq!(level, "ok", "{name}: {seen}");
    }

    let tui = world.tui(&[]);
    tui.prompt("Go");
    tui.wait_screen("the turn's end", |s| s.contains("first done"));
    tui.wait_idle();
    let found = doctor(&world);
    let (level, seen) = check(&found, "hooks");
    assert!(level == "ok" && seen.contains(" s ago in this project"), "{seen}");
    let (level, seen) = check(&found, "module");
    assert!(level == "ok" && seen.contains("is loaded in"), "{seen}");
    tui.quit();
    let found = doctor(&world);
    let (level, seen) = check(&found, "module");
    assert!(level == "ok" && seen.contains("was loaded in the last session"), "{seen}");

    let settings = world.project().join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().expect("a folder")).expect("own folder");
    std::fs::write(&settings, r#"{"disableAllHooks": true}"#).expect("own file");
    let deaf = world.tui(&[]);
    deaf.prompt("Go on");
    deaf.wait_screen("the turn's end", |s| s.contains("second done"));
    deaf.wait_idle();
    let found = doctor(&world);
    let (level, seen) = check(&found, "switches");
    assert!(level == "problem" && seen.contains("disableAllHooks"), "{seen}");
    // The client writes its transcript with a delay.
    let seen = world.wait("a session without hooks to be found", || {
        let (level, seen) = check(&doctor(&world), "hooks");
        (level == "problem").then_some(seen)
    });
    assert!(seen.contains("no hook of it has run"), "{seen}");
    deaf.quit();
}
