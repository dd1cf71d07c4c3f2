//! `surgery log` and `surgery remove`.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;

use super::world::{ID, World, files};
use crate::cli::verbs::register_client;

fn made(world: &World) -> (String, PathBuf) {
    let made = world.json(&["surgery", "compress-before", ID, "round:3"]);
    (made["id"].as_str().expect("id").to_owned(), made["path"].as_str().expect("path").into())
}

#[test]
fn remove_takes_logged_successors() {
    let world = World::new(4);
    assert!(world.refused(&["surgery", "remove"]).contains("nothing to remove"));
    let before = files(&world.folder());
    let (first, _) = made(&world);
    let (second, path) = made(&world);
    let log = world.json(&["surgery", "log"])["sessions"].clone();
    assert_eq!((&log[0]["id"], &log[1]["id"]), (&second.clone().into(), &first.clone().into()));
    assert_eq!(
        (&log[0]["state"], &log[0]["operation"]),
        (&"there".into(), &"compress-before 2026-03-19T10:30Z".into())
    );
    assert_eq!(log[0]["sources"], json!([{ "agent": "claude", "session": ID }]));
    assert_eq!(log[0]["indexed"][0], json!({ "session": ID, "round": 1 }));
    assert!(world.done(&["surgery", "remove"]).contains(path.to_str().unwrap()));
    assert!(!path.exists());
    let log = world.done(&["surgery", "log", &second[..8]]);
    assert!(log.contains("(removed)"), "{log}");
    // The next older one must be named.
    let why = world.refused(&["surgery", "remove"]);
    assert!(why.contains(&format!("{}, was removed already", &second[..8])), "{why}");
    assert!(why.contains(&format!("`brain-guard surgery remove {}`", &first[..8])), "{why}");
    assert!(world.refused(&["surgery", "remove", &second]).contains("removed already"));
    world.done(&["surgery", "remove", &first[..13]]);
    assert_eq!(files(&world.folder()), before, "all is as it was");
    assert!(world.refused(&["surgery", "remove"]).contains("all that surgery made was removed"));
    assert!(world.refused(&["surgery", "remove", "abcdef"]).contains("surgery log"));
    assert!(world.refused(&["surgery", "log", "abcdef"]).contains("abcdef"));
}

#[test]
fn no_list_shows_a_session_that_was_removed() {
    let world = World::new(4);
    let (first, _) = made(&world);
    let listed = || world.json(&["sessions", "--all"]).to_string();
    // Reading it imports it.
    world.done(&["rounds", &first]);
    let second = world.json(&["surgery", "compress-before", &first, "round:3"]);
    let second = second["id"].as_str().expect("id");
    world.done(&["rounds", second]);
    assert!(listed().contains(&first) && listed().contains(second));
    world.done(&["surgery", "remove", second]);
    assert!(listed().contains(&first) && !listed().contains(second));
    world.done(&["surgery", "remove", &first]);
    assert!(listed().contains(ID) && !listed().contains(&first), "{}", listed());
}

#[test]
fn remove_and_validate_find_a_session_by_any_name() {
    let world = World::new(4);
    let out = world.hook.project.join("lean.jsonl");
    let make = || {
        let out = out.to_str().expect("utf-8");
        let made = world.json(&["surgery", "compress-before", ID, "round:3", "--out", out]);
        made["id"].as_str().expect("id").to_owned()
    };
    let id = make();
    for name in [&id, &id[..8], "lean.jsonl", out.to_str().expect("utf-8")] {
        assert!(world.done(&["validate", name]).contains("sound"), "{name}");
    }
    world.done(&["surgery", "remove", "lean.jsonl"]);
    assert!(!out.exists());
    assert!(world.refused(&["validate", &id]).contains("no session"), "its file is gone");
    let id = make();
    world.done(&["surgery", "remove", &id[..8]]);
    assert!(!out.exists());
}

/// A split makes several sessions in one operation.
#[test]
fn remove_goes_on_with_the_rest_of_a_split() {
    let world = World::new(4);
    let older = made(&world).1;
    let map = world.hook.project.join("map.json");
    let text = r#"{"shared": "1", "engagements": {"console-work": "2", "import-work": "3-4"}}"#;
    fs::write(&map, text).expect("written");
    let split =
        world.json(&["surgery", "split", ID, map.to_str().expect("utf-8")])["sessions"].clone();
    let paths = split.as_array().expect("a list").iter().map(|made| made["path"].clone());
    let paths: Vec<PathBuf> = paths.map(|path| path.as_str().expect("path").into()).collect();
    for left in [1, 0] {
        world.done(&["surgery", "remove"]);
        assert_eq!(paths.iter().filter(|path| path.exists()).count(), left);
    }
    assert!(world.refused(&["surgery", "remove"]).contains("the next older one is"));
    assert!(older.exists());
}

#[test]
fn remove_says_when_the_file_was_gone_already() {
    let world = World::new(4);
    let (id, path) = made(&world);
    fs::remove_file(&path).unwrap();
    let text = world.done(&["surgery", "remove", &id]);
    assert!(text.contains("was gone already") && !text.contains("removed"), "{text}");
}

#[test]
fn a_folder_that_is_not_utf8_is_refused() {
    let world = World::new(4);
    let folder = world.hook.home.join(std::ffi::OsStr::from_bytes(b"nu\xff"));
    fs::create_dir(&folder).unwrap();
    let mut program = world.hook.command(&["surgery", "compress-before", ID, "round:3", "--out"]);
    let output = program.arg(&folder).stdin(Stdio::null()).output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && why.contains("is not UTF-8"), "{why}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn remove_keeps_a_changed_session() {
    let world = World::new(4);
    let (id, path) = made(&world);
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"type\":\"mode\"}\n").unwrap();
    let why = world.refused(&["surgery", "remove", &id]);
    assert!(why.contains("has grown by 16 B") && why.contains(path.to_str().unwrap()), "{why}");
    assert!(path.exists());
    let (id, path) = made(&world);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("question", "quastion")).unwrap();
    let why = world.refused(&["surgery", "remove", &id]);
    assert!(why.contains("is not as it was written: its content or its time was changed"), "{why}");
    let (id, path) = made(&world);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let why = world.refused(&["surgery", "remove", &id]);
    assert!(why.contains("is not as it was written: its rights, its links"), "{why}");
    let (id, path) = made(&world);
    fs::copy(&path, path.with_extension("back")).unwrap();
    fs::rename(path.with_extension("back"), &path).unwrap();
    let why = world.refused(&["surgery", "remove", &id]);
    assert!(why.contains("is not as it was written: another file is there"), "{why}");
    let (id, path) = made(&world);
    let beside = path.with_extension("").join("tool-results/1.txt");
    fs::create_dir_all(beside.parent().unwrap()).unwrap();
    fs::write(&beside, "x").unwrap();
    assert!(world.refused(&["surgery", "remove", &id]).contains("was put there since"));
    assert!(path.exists() && beside.exists());
}

/// The new session may have a folder with the same name that is not its own.
#[test]
fn remove_keeps_and_names_an_unrelated_folder() {
    let world = World::new(4);
    let folder = world.folder().join("elsewhere");
    let (out, beside) = (folder.join("notes.jsonl"), folder.join("notes"));
    let stranger = beside.join("deep/mine.txt");
    fs::create_dir_all(stranger.parent().unwrap()).unwrap();
    fs::create_dir_all(beside.join("empty")).unwrap();
    fs::write(&stranger, "mine").unwrap();
    let out = out.to_str().unwrap();
    let made = world.json(&["surgery", "compress-before", ID, "round:3", "--out", out]);
    let removed = world.json(&["surgery", "remove", made["id"].as_str().unwrap()]);
    assert!(!PathBuf::from(out).exists(), "{removed}");
    assert_eq!(fs::read_to_string(&stranger).unwrap(), "mine");
    assert!(beside.join("empty").is_dir());
    let left = ["deep", "empty"].map(|name| beside.join(name).display().to_string());
    assert_eq!(removed["left"], serde_json::json!(left), "{removed}");
}

#[test]
fn remove_keeps_a_running_session() {
    let mut world = World::new(4);
    let (id, path) = made(&world);
    world.hook.set("CLAUDE_CODE_SESSION_ID", &id);
    assert!(world.refused(&["surgery", "remove", &id]).contains("this runs in the session"));
    world.hook.set("CLAUDE_CODE_SESSION_ID", "");
    // A client started on it, recognized by its command line. Until it says something, the system
    // may not show that yet.
    let mut client = Command::new("sh")
        .args(["-c", "echo; read line", "claude", "--resume", &id])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    client.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let why = world.refused(&["surgery", "remove", &id]);
    assert!(why.contains(&format!("the process {} runs", client.id())), "{why}");
    drop(client.stdin.take());
    client.wait().unwrap();
    // A client that was started without the id; this process plays it.
    let start = base::process::start_time(std::process::id()).unwrap();
    let registered = register_client(&path, start);
    let why = world.refused(&["surgery", "remove", &id]);
    assert!(why.contains(&format!("the process {} runs", std::process::id())), "{why}");
    fs::remove_file(registered).unwrap();
    world.done(&["surgery", "remove", &id]);
    assert!(!path.exists());
}

/// A file that somebody removed does not stop the undo of the rest.
#[test]
fn remove_accepts_missing_files() {
    let world = World::new(4);
    let (id, path) = made(&world);
    fs::remove_file(&path).unwrap();
    assert!(world.done(&["surgery", "log"]).contains("(gone)"));
    world.done(&["surgery", "remove", &id]);
    assert!(world.done(&["surgery", "log"]).contains("(removed)"));
}

/// Killed at each call that makes something permanent. Every named file is in the log and can be
/// removed, and nothing else remains in the client's folder.
#[test]
fn a_killed_operation_leaves_no_session_unknown_to_remove() {
    let world = World::new(4);
    world.done(&["import", world.file(ID).to_str().unwrap()]);
    let mut killed = 0;
    for call in ["linkat", "fsync"] {
        for nth in 1..40 {
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let program = world.hook.command(&["surgery", "compress-before", ID, "round:3"]);
            let mut strace = Command::new("strace");
            strace.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e"]);
            strace.arg(inject).arg(program.get_program()).args(program.get_args());
            strace.env_clear().envs(world.hook.variables()).stdout(Stdio::null());
            let status = strace.status().expect("strace: apt-get install strace");
            if status.success() {
                assert!(nth > 1, "{call} was never called");
                break;
            }
            killed += 1;
        }
    }
    assert!(killed >= 3, "{killed}");
    let log = world.json(&["surgery", "log"])["sessions"].clone();
    let there = log.as_array().unwrap().iter().filter(|made| made["state"] == "there");
    let known: Vec<&str> = there.map(|made| made["path"].as_str().unwrap()).collect();
    for entry in fs::read_dir(world.folder()).unwrap().flatten() {
        let path = entry.path();
        assert!(
            path == world.file(ID) || known.contains(&path.to_str().unwrap()),
            "{} is not in {known:?}",
            path.display()
        );
    }
    assert!(!known.is_empty(), "a run was not killed");
    for path in known {
        world.done(&["validate", path]);
        let id = &path[path.len() - 42..path.len() - 6];
        world.done(&["surgery", "remove", id]);
    }
}
