//! What `gc` removes and keeps, and that nothing else removes content.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{World, aged, came, output, text, wait_for};
use crate::cli::doctor::check;

fn gc(world: &World, args: &[&str]) -> Value {
    let answer = world.run(&[&["gc", "--json"], args].concat());
    serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"))
}

/// A session with an extracted value.
fn extracted(world: &World, id: &str) -> std::path::PathBuf {
    let path = world.session(id, 3600);
    assert_eq!(came(&world.once(&path), &path), "extracted");
    aged(&path, 3600);
    path
}

/// Restores all values, so that nothing needs the content.
fn restore_all(world: &World, path: &std::path::Path) {
    let answer = world.run(&["restore", text(path), "all", "--in-place"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    aged(path, 3600);
}

/// Runs `gc` until this many objects remain, because their retention ends one by one.
fn gc_until(world: &World, objects: usize) {
    wait_for("what nothing needs", || {
        gc(world, &FORGET);
        world.objects() <= objects
    });
    assert_eq!(world.objects(), objects);
}

/// The flags with which a user runs `gc` in a terminal.
const FORGET: [&str; 2] = ["--forget", "--yes"];

/// An earlier `watch` deleted content once the session had been missing for longer than the
/// retention.
#[test]
fn a_watch_removes_no_content_however_old_it_is() {
    let mut world = World::new();
    world.hook.set("CLAUDECODE", "");
    world.settings(&json!({"retention": "1s"}));
    let moved = extracted(&world, "moved");
    let count = world.objects();
    let restored_one = extracted(&world, "back");
    restore_all(&world, &restored_one);
    let all = world.objects();
    let aside = world.hook.home.join("aside");
    fs::create_dir(&aside).expect("made");
    fs::rename(&moved, aside.join("moved.jsonl")).expect("renamed");
    // The state after a run days ago.
    fs::write(
        world.store().join("state.json"),
        r#"{"last_retention_run_at":"2026-01-01T00:00:00Z"}"#,
    )
    .expect("written");
    for _ in 0..3 {
        let report = world.once(&world.folder);
        assert_eq!(report["swept"], Value::Null, "{report}");
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    assert_eq!(world.objects(), all);
    // `gc` alone removes nothing either, and lists what would go.
    let shown = gc(&world, &[]);
    assert_eq!((&shown["dry_run"], world.objects()), (&json!(true), all), "{shown}");
    assert_eq!(shown["sessions"], json!(["pi/back", "pi/moved"]), "{shown}");
    // Moved inside the client's folders, the session is found.
    let found = world.folder.with_file_name("--elsewhere--");
    fs::create_dir(&found).expect("made");
    fs::rename(aside.join("moved.jsonl"), found.join("moved.jsonl")).expect("renamed");
    gc_until(&world, count);
    fs::rename(found.join("moved.jsonl"), &moved).expect("renamed");
    restore_all(&world, &moved);
}

#[test]
fn gc_removes_content_only_with_forget() {
    let mut world = World::new();
    let path = extracted(&world, "s");
    let count = world.objects();
    fs::remove_file(&path).expect("removed");
    let kept = world.run(&["gc"]);
    assert!(kept.code == Some(0) && kept.stdout.contains("--forget"), "{kept:?}");
    assert!(kept.stderr.contains("content of session pi/s would be removed"), "{kept:?}");
    assert_eq!(world.objects(), count);
    let agent = world.run(&["gc", "--forget", "--yes"]);
    assert!(agent.code == Some(1) && agent.stderr.contains("terminal of your own"), "{agent:?}");
    world.hook.set("CLAUDECODE", "");
    let asked = world.run(&["gc", "--forget"]);
    assert!(asked.code == Some(1) && asked.stderr.contains("pi/s"), "{asked:?}");
    assert_eq!(world.objects(), count, "no terminal, and no --yes");
    let dry = gc(&world, &["--forget", "--dry-run"]);
    assert_eq!((&dry["gone"]["count"], world.objects()), (&json!(count), count), "{dry}");
    let gone = gc(&world, &FORGET);
    assert_eq!((&gone["sessions"], world.objects()), (&json!(["pi/s"]), 0), "{gone}");
}

#[test]
fn content_of_a_live_placeholder_stays_whatever_its_age() {
    let mut world = World::new();
    world.hook.set("CLAUDECODE", "");
    world.settings(&json!({"retention": "1s"}));
    // Equal content is one object, so each session has its own text.
    let live = extracted(&world, "live");
    let count = world.objects();
    assert!(count > 0);
    let other = world.session("other", 3600);
    let unlike = fs::read_to_string(&other).expect("read").replace("0123456789", "9876543210");
    fs::write(&other, unlike).expect("written");
    aged(&other, 3600);
    assert_eq!(came(&world.once(&other), &other), "extracted");
    assert_eq!(world.objects(), 2 * count);
    restore_all(&world, &other);
    let young = {
        world.settings(&json!({"retention": "1h"}));
        gc(&world, &FORGET)
    };
    assert_eq!(young["gone"], json!({ "count": 0, "bytes": 0 }), "young content stays: {young}");
    world.settings(&json!({"retention": "1s"}));
    wait_for("its retention to be over", || {
        gc(&world, &[])["gone"]["count"].as_u64() == Some(count as u64)
    });
    assert_eq!(world.objects(), 2 * count, "without --forget nothing goes");
    gc_until(&world, count);
    let back = world.run(&["restore", text(&live), "live-r1"]);
    assert!(back.code == Some(0) && back.stdout.contains(&output(1)), "{back:?}");
    let words = world.run(&["gc"]);
    assert!(words.stdout.contains("0 objects"), "{words:?}");
}

#[test]
fn an_unreadable_session_keeps_its_content() {
    let mut world = World::new();
    world.hook.set("CLAUDECODE", "");
    world.settings(&json!({"retention": "1s"}));
    let path = extracted(&world, "s");
    let count = world.objects();
    // The session's parent folder is missing, as with an unmounted disk. A session moved to another
    // project is found.
    for (aside, unread) in [
        (world.hook.home.join("aside"), json!([path])),
        (world.folder.with_file_name("elsewhere"), json!([])),
    ] {
        fs::rename(&world.folder, &aside).expect("renamed");
        for _ in 0..2 {
            let kept = gc(&world, &FORGET);
            assert_eq!((&kept["gone"]["count"], &kept["unread"]), (&json!(0), &unread), "{kept}");
        }
        fs::rename(&aside, &world.folder).expect("renamed");
    }
    // A folder in its place cannot be read as a session, not even by root.
    let kept = world.folder.join("kept");
    fs::rename(&path, &kept).expect("renamed");
    fs::create_dir(&path).expect("made");
    assert_eq!(gc(&world, &FORGET)["gone"]["count"], 0);
    fs::remove_dir(&path).expect("removed");
    // A copy under another name that was read once.
    let branch = world.folder.join("branch.jsonl");
    fs::rename(&kept, &branch).expect("renamed");
    fs::copy(&branch, &path).expect("copied");
    assert_eq!(world.run(&["restore", text(&branch), "s-r1"]).code, Some(0));
    fs::remove_file(&path).expect("removed");
    // Newer content that nothing needs is removed, so the retention of this one is over, too.
    let other = world.folder.with_file_name("--x--");
    fs::create_dir(&other).expect("made");
    let control = other.join("control.jsonl");
    fs::rename(world.session("control", 3600), &control).expect("renamed");
    assert_eq!(came(&world.once(&control), &control), "extracted");
    fs::remove_file(&control).expect("removed");
    gc_until(&world, count);
    assert_eq!(gc(&world, &FORGET)["gone"]["count"], 0);
    assert_eq!(world.objects(), count);
    // No file has its placeholders any more.
    fs::remove_file(&branch).expect("removed");
    gc_until(&world, 0);
}

#[test]
fn a_damaged_ledger_keeps_everything() {
    let mut world = World::new();
    world.hook.set("CLAUDECODE", "");
    world.settings(&json!({"retention": "1s"}));
    let path = extracted(&world, "s");
    let count = world.objects();
    fs::remove_file(&path).expect("removed");
    let ledger = world.store().join("sessions/pi/s/ledger.jsonl");
    let whole = fs::read(&ledger).expect("read");
    fs::write(&ledger, [b"no record\n", &whole[..]].concat()).expect("written");
    let kept = gc(&world, &FORGET);
    assert_eq!(kept["gone"]["count"], 0, "{kept}");
    assert_eq!(world.objects(), count);
    fs::write(&ledger, whole).expect("written");
    gc_until(&world, 0);
}

#[test]
fn faulty_settings_remove_nothing() {
    let world = World::new();
    extracted(&world, "s");
    world.settings(&json!({"retention": "a while"}));
    for args in [&["gc"][..], &["watch", text(&world.folder), "--once"]] {
        let refused = world.run(args);
        assert!(
            refused.code == Some(1) && refused.stderr.contains("extract.retention"),
            "{refused:?}"
        );
    }
}

#[test]
fn the_store_is_private_and_gc_creates_none() {
    let world = World::new();
    let empty = gc(&world, &[]);
    assert_eq!(
        (&empty["gone"], &empty["kept"]),
        (&json!({ "count": 0, "bytes": 0 }), &json!({ "count": 0, "bytes": 0 }))
    );
    assert!(!world.store().exists());
    extracted(&world, "s");
    assert_eq!(fs::metadata(world.store()).expect("there").permissions().mode() & 0o777, 0o700);
    assert_eq!(check(&world.hook, "store")["level"], "ok");
}
