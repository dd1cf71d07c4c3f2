//! Bad input gets a clear message and exit code 1, and writes nothing.

use std::fs;
use std::process::Stdio;

use super::world::{ID, World, files, said};
use crate::cli::verbs::refused_with;

const CUT: &str = "2026-03-19T10:25Z";

/// Asserts that only the store changes.
fn unwritten(world: &World, act: impl FnOnce() -> String) -> String {
    let before = files(&world.folder());
    let why = act();
    assert_eq!(files(&world.folder()), before, "{why}");
    why
}

#[test]
fn surgery_refuses_an_empty_file() {
    let world = World::new(2);
    for text in ["", "{\"type\":\"mode\",\"mode\":\"normal\"}\n"] {
        world.write(ID, text);
        let why = unwritten(&world, || world.refused(&["surgery", "compress-before", ID, CUT]));
        assert!(why.contains(world.file(ID).to_str().unwrap()), "{why}");
        assert!(why.contains("nothing was said"), "{why}");
    }
}

#[test]
fn malformed_lines_are_named_and_stay_in_the_store() {
    let world = World::new(4);
    let mut lines: Vec<String> =
        world.session(ID, 4, 0).lines().map(|line| format!("{line}\n")).collect();
    // One in round 1, which becomes a table line, and one in round 3, which stays complete.
    lines.insert(2, "{\"type\":\"user\",\"broken\n".to_owned());
    lines.insert(16, "no JSON at all\n".to_owned());
    // A row with a readable head.
    lines[17] = lines[17].replacen("\"userType\":\"external\"", "\"userType\":\"\\q\"", 1);
    world.write(ID, &lines.concat());
    let text = world.done(&["surgery", "compress-before", ID, "round:3"]);
    assert!(text.contains("lines 3, 17-18 of"), "{text}");
    assert!(text.contains("no JSON object (a prompt may have been there), left out"), "{text}");
    let made = world.json(&["surgery", "compress-before", ID, "round:3"]);
    world.done(&["validate", made["path"].as_str().unwrap()]);
    let answer = world.run(&["validate", world.file(ID).to_str().unwrap()]);
    assert!(answer.stdout.contains('3') && answer.stdout.contains("17"), "{answer:?}");
}

#[test]
fn an_unreadable_prompt_drops_its_round_with_a_note() {
    let world = World::new(4);
    let text = world.session(ID, 4, 0);
    let (prompt, rest) = text.split_once('\n').expect("lines");
    world.write(ID, &format!("{}\n{rest}", &prompt[..60]));
    let told = world.done(&["surgery", "compress-before", ID, "round:2"]);
    assert!(told.contains("lines 1-6 of") && told.contains("in no round, left out"), "{told}");
    let made = world.json(&["surgery", "compress-before", ID, "round:2"]);
    assert!(made["notes"].to_string().contains("in no round"), "{made}");
}

#[test]
fn a_lost_index_is_reported_and_rebuilt() {
    let world = World::new(4);
    world.done(&["import", "--all"]);
    world.done(&["tag", ID, "1-2", "console-work"]);
    let asked = |args: &[&str]| world.run(args).stderr;
    let lost = "1 session in the store";
    for database in ["search.db", "sessions.db"] {
        assert!(!asked(&["search", "question"]).contains(lost));
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(world.store().join(format!("{database}{end}")));
        }
        world.done(&["import", "--all"]);
        for args in
            [&["search", "question"][..], &["tag", "matrix"], &["tag", "--search", "question", "x"]]
        {
            let told = asked(args);
            assert!(told.contains(lost) && told.contains("doctor --fix"), "{args:?}: {told}");
        }
        world.run(&["doctor", "--fix"]);
        assert!(world.done(&["search", "question"]).contains("question"));
        assert!(world.done(&["tag", "matrix"]).contains("console-work"));
    }
}

#[test]
fn a_missing_folder_is_reported() {
    let world = World::new(4);
    let gone = world.hook.home.join("gone");
    let (there, gone) = (world.hook.project.to_str().unwrap(), gone.to_str().unwrap());
    world.write(ID, &world.session(ID, 4, 0).replace(there, gone));
    let text = world.done(&["surgery", "compress-before", ID, "round:3", "--dry-run"]);
    assert!(
        text.contains(&format!("{gone}, where it goes on, is not an existing folder")),
        "{text}"
    );
}

#[test]
fn surgery_leaves_out_an_unfinished_line() {
    let world = World::new(3);
    let whole = world.session(ID, 3, 0);
    let half = world.round(ID, 4, 40);
    world.write(ID, &format!("{whole}{}", &half[..200]));
    let made = world.json(&["surgery", "compress-before", ID, CUT]);
    let path = made["path"].as_str().unwrap();
    assert!(!said(path.as_ref()).iter().any(|text| text.contains("question 4")));
    world.write(ID, &format!("{whole}{half}"));
    let made = world.json(&["surgery", "compress-before", ID, CUT]);
    let path = made["path"].as_str().unwrap();
    assert!(said(path.as_ref()).iter().any(|text| text.contains("question 4")));
}

#[test]
fn an_unknown_engagement_is_refused() {
    let world = World::new(3);
    world.done(&["tag", ID, "2", "console-work"]);
    for verb in ["compress-engagement", "extract-engagement"] {
        let invalid = ["surgery", verb, ID, "bad id!"];
        let why = unwritten(&world, || world.refused(&["surgery", verb, ID, "nobody"]));
        assert!(why.contains("nobody") && why.contains("console-work"), "{why}");
        let why = unwritten(&world, || refused_with(2, &world.hook, &invalid));
        assert!(why.contains("is not an engagement's id") && !why.contains("tag some"), "{why}");
    }
}

#[test]
fn cuts_that_leave_nothing_are_refused() {
    let world = World::new(3);
    for cut in ["2020-01-01", "2030-01-01T00:00Z", "round:1", "round:9"] {
        unwritten(&world, || world.refused(&["surgery", "compress-before", ID, cut]));
    }
}

#[test]
fn invalid_maps_are_refused() {
    let world = World::new(4);
    let map = world.hook.project.join("map.json");
    for (text, word) in [
        (r#"{"engagements": {"a": "1-2", "b": "2-3"}}"#, "2"),
        (r#"{"engagements": {"a": "1-9"}}"#, "1-4"),
        (r#"{"engagement": {"a": "1"}}"#, "engagement"),
        (r#"{"engagements": {}}"#, "engagements"),
        (r#"{"engagements": {"a": "x"}}"#, "a"),
        ("{", "line 1"),
    ] {
        fs::write(&map, text).unwrap();
        let args = ["surgery", "split", ID, map.to_str().unwrap()];
        let why = unwritten(&world, || world.refused(&args));
        assert!(why.contains(word), "{text}: {why}");
    }
    let args = ["surgery", "split", ID, "/nowhere/map.json"];
    let why = world.refused(&args);
    assert!(why.contains("there is no file /nowhere/map.json; the map comes last"), "{why}");
    let why = world.refused(&["surgery", "split", ID, world.folder().to_str().unwrap()]);
    assert!(why.contains("not a regular file"), "{why}");
    fs::write(&map, r#"{"engagements": {"a": "1"}}"#).unwrap();
    let args = ["surgery", "split", ID, map.to_str().unwrap(), "--run"];
    assert!(unwritten(&world, || world.refused(&args)).contains("tmux"));
}

#[test]
fn missing_sessions_are_refused() {
    let mut world = World::new(2);
    let why = world.refused(&["surgery", "compress-before", "deadbeef", CUT]);
    assert!(why.contains("deadbeef") && why.contains(".claude/projects"), "{why}");
    let why = world.refused(&["surgery", "compress-before", "/nowhere/x.jsonl", CUT]);
    assert!(why.contains("there is no file /nowhere/x.jsonl; name a session"), "{why}");
    let folder = world.folder();
    let why = world.refused(&["surgery", "compress-before", folder.to_str().unwrap(), CUT]);
    assert!(why.contains("is a folder; name a session's file in it"), "{why}");
    for verb in [
        &["surgery", "compress-before", "", CUT][..],
        &["surgery", "merge", ID, ""],
        &["advise", ""],
        &["tag", "", "1", "console-work"],
        &["search", "apples", "--session", ""],
    ] {
        let why = world.refused(verb);
        assert!(why.contains("the session's name is empty; name a session"), "{verb:?}: {why}");
    }
    world.done(&["surgery", "compress-before", ID, "round:2"]);
    for verb in [&["surgery", "remove", ""][..], &["store", "export", ""], &["validate", ""]] {
        assert!(world.refused(verb).contains("the session's name is empty"), "{verb:?}");
    }
    assert!(world.done(&["validate", &ID[..8]]).contains("sound"), "by the beginning of its id");
    assert!(world.refused(&["validate", "deadbeef"]).contains("no session deadbeef"));
    let limit = world.run(&["search", "apples", "--limit", "0"]);
    assert_eq!(limit.code, Some(2), "{limit:?}");
    // Outside of every session it uses the project's latest, and says so.
    let latest = world.run(&["surgery", "compress-before", "round:2", "--dry-run"]);
    assert_eq!(latest.code, Some(0), "{latest:?}");
    assert!(latest.stderr.contains("no session was named; this is the project's latest"));
    let why = world.refused(&["surgery", "compress-before", "this", CUT]);
    assert!(why.contains("CLAUDE_CODE_SESSION_ID"), "{why}");
    world.hook.set("CLAUDE_CODE_SESSION_ID", ID);
    world.done(&["surgery", "compress-before", "round:2"]);
    world.done(&["surgery", "compress-before", "this", "round:2"]);
    let twin = "3f0a9d1e-0000-4000-8000-000000000009";
    world.write(twin, &world.session(twin, 2, 0));
    let why = world.refused(&["surgery", "compress-before", "3f0a9d1e", CUT]);
    assert!(why.contains(ID) && why.contains(twin), "{why}");
    assert!(world.refused(&["surgery", "merge", ID, ID]).contains("itself"));
}

#[test]
fn nothing_is_overwritten() {
    let world = World::new(3);
    let out = world.hook.project.join("out.jsonl");
    fs::write(&out, "mine").unwrap();
    let args = ["surgery", "compress-before", ID, "round:2", "--out", out.to_str().unwrap()];
    assert!(world.refused(&args).contains("exists already"));
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    fs::remove_file(&out).unwrap();
    let text = world.done(&args);
    assert!(text.contains(&format!("claude --resume {}", out.display())), "{text}");
    let folder = world.hook.project.join("out");
    fs::create_dir(&folder).unwrap();
    let args = ["surgery", "compress-before", ID, "round:2", "--out", folder.to_str().unwrap()];
    world.done(&args);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    // A path with a trailing slash is created as a folder.
    let fresh = world.hook.project.join("fresh/");
    world.done(&["surgery", "compress-before", ID, "round:2", "--out", fresh.to_str().unwrap()]);
    assert_eq!(fs::read_dir(&fresh).unwrap().count(), 1);
    let args = ["surgery", "compress-before", ID, "round:2", "--out", "/proc/nowhere/x.jsonl"];
    assert!(world.refused(&args).contains("/proc/nowhere"));
}

/// A closed pipe is not an error; a full disk is.
#[test]
fn a_failed_write_to_stdout_is_reported() {
    let world = World::new(2);
    for args in [vec!["show", "3f0a9d1e:1"], vec!["advise", ID, "--json"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = world.hook.command(&args).stdin(Stdio::null()).stdout(full).output().unwrap();
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(why.contains("could not write the output"), "{args:?}: {why}");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let (reader, pipe) = std::io::pipe().unwrap();
        drop(reader);
        let output = world.hook.command(&args).stdin(Stdio::null()).stdout(pipe).output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{args:?}");
    }
}

/// What `advise` suggests can be run.
#[test]
fn advise_suggests_nothing_for_a_single_round() {
    let world = World::new(1);
    let advice = world.json(&["advise", ID]);
    assert_eq!(advice["advice"][0]["command"], "", "{advice}");
    let usage = world.run(&["show", "3f0a9d1e:1", "--thinking", "none"]);
    assert!(usage.code == Some(2) && usage.stderr.contains("full, omit, ref"), "{usage:?}");
}
