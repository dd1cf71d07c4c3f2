//! What `gc` removes, and above all what it does not; and that nothing else removes content.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{World, aged, came, output, text, wait_for};

fn gc(world: &World, args: &[&str]) -> Value {
    let answer = world.run(&[&["gc", "--json"], args].concat());
    serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"))
}

/// A session of which something was extracted.
fn extracted(world: &World, id: &str) -> std::path::PathBuf {
    let path = world.session(id, 3600);
    assert_eq!(came(&world.once(&path), &path), "extracted");
    aged(&path, 3600);
    path
}

/// Puts all of it back; nothing needs the content then.
fn restored(world: &World, path: &std::path::Path) {
    let answer = world.run(&["restore", text(path), "all", "--in-place"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    aged(path, 3600);
}

/// Sweeps until so many objects are left: their retention ends one by one.
fn swept(world: &World, objects: usize) {
    wait_for("what nothing needs", || {
        gc(world, &FORGET);
        world.objects() <= objects
    });
    assert_eq!(world.objects(), objects);
}

/// `gc --forget`, as the user gives it in a terminal of their own.
const FORGET: [&str; 2] = ["--forget", "--yes"];

/// The watch that deleted: it had looked for longer than the retention at a session that lay
/// where it does not look.
#[test]
fn a_watch_removes_no_content_however_old_it_is() {
    let mut world = World::new();
    world.hook.set("CLAUDECODE", "");
    world.settings(&json!({"retention": "1s", "retention_cron": "* * * * *"}));
    let moved = extracted(&world, "moved");
    let count = world.objects();
    let restored_one = extracted(&world, "back");
    restored(&world, &restored_one);
    let all = world.objects();
    let aside = world.hook.home.join("aside");
    fs::create_dir(&aside).expect("made");
    fs::rename(&moved, aside.join("moved.jsonl")).expect("renamed");
    // As a sweep of days ago would have left it.
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
    // `gc` alone removes nothing either, and says of both what would go.
    let shown = gc(&world, &[]);
    assert_eq!((&shown["dry_run"], world.objects()), (&json!(true), all), "{shown}");
    assert_eq!(shown["sessions"], json!(["pi/back", "pi/moved"]), "{shown}");
    // Moved below the client's folders it is found.
    let found = world.folder.with_file_name("--elsewhere--");
    fs::create_dir(&found).expect("made");
    fs::rename(aside.join("moved.jsonl"), found.join("moved.jsonl")).expect("renamed");
    swept(&world, count);
    fs::rename(found.join("moved.jsonl"), &moved).expect("renamed");
    restored(&world, &moved);
}

#[test]
fn only_forget_removes_after_the_session_was_named() {
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
    // The same content is one object: each session has its own.
    let live = extracted(&world, "live");
    let count = world.objects();
    assert!(count > 0);
    let other = world.session("other", 3600);
    let unlike = fs::read_to_string(&other).expect("read").replace("0123456789", "9876543210");
    fs::write(&other, unlike).expect("written");
    aged(&other, 3600);
    assert_eq!(came(&world.once(&other), &other), "extracted");
    assert_eq!(world.objects(), 2 * count);
    restored(&world, &other);
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
    swept(&world, count);
    let back = world.run(&["restore", text(&live), "live-r1"]);
    assert!(back.code == Some(0) && back.stdout.contains(&output(1)), "{back:?}");
    let words = world.run(&["gc"]);
    assert!(words.stdout.contains("0 objects"), "{words:?}");
}

#[test]
fn what_cannot_be_read_or_is_not_there_to_be_read_keeps_its_content() {
    let mut world = World::new();
    world.hook.set("CLAUDECODE", "");
    world.settings(&json!({"retention": "1s"}));
    let path = extracted(&world, "s");
    let count = world.objects();
    // Nothing is in its folder's folder: a disk that is not mounted looks like that. Moved to
    // another project it is found.
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
    // A folder in its place can't be read as a session, root or not.
    let kept = world.folder.join("kept");
    fs::rename(&path, &kept).expect("renamed");
    fs::create_dir(&path).expect("made");
    assert_eq!(gc(&world, &FORGET)["gone"]["count"], 0);
    fs::remove_dir(&path).expect("removed");
    // A copy under another name that was looked at once.
    let branch = world.folder.join("branch.jsonl");
    fs::rename(&kept, &branch).expect("renamed");
    fs::copy(&branch, &path).expect("copied");
    assert_eq!(world.run(&["restore", text(&branch), "s-r1"]).code, Some(0));
    fs::remove_file(&path).expect("removed");
    // What was extracted later, and is needed nowhere, goes: so its retention is over, too.
    let other = world.folder.with_file_name("--x--");
    fs::create_dir(&other).expect("made");
    let control = other.join("control.jsonl");
    fs::rename(world.session("control", 3600), &control).expect("renamed");
    assert_eq!(came(&world.once(&control), &control), "extracted");
    fs::remove_file(&control).expect("removed");
    swept(&world, count);
    assert_eq!(gc(&world, &FORGET)["gone"]["count"], 0);
    assert_eq!(world.objects(), count);
    // Nothing has its placeholders any more.
    fs::remove_file(&branch).expect("removed");
    swept(&world, 0);
}

#[test]
fn a_ledger_that_is_damaged_keeps_everything() {
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
    swept(&world, 0);
}

#[test]
fn settings_with_a_fault_remove_nothing() {
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
fn the_store_is_the_users_alone_and_gc_makes_none() {
    let world = World::new();
    let empty = gc(&world, &[]);
    assert_eq!(
        (&empty["gone"], &empty["kept"]),
        (&json!({ "count": 0, "bytes": 0 }), &json!({ "count": 0, "bytes": 0 }))
    );
    assert!(!world.store().exists());
    extracted(&world, "s");
    assert_eq!(fs::metadata(world.store()).expect("there").permissions().mode() & 0o777, 0o700);
    let check = world.hook.raw(&["store", "check"], b"");
    assert!(check.code == Some(0) && check.stdout.contains("no fault"), "{check:?}");
    let count = world.objects();
    world.hook.raw(&["store", "gc"], b"");
    assert_eq!(world.objects(), count);
}
