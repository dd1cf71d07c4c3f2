//! Bad input gets a clear message and exit code 1, and changes nothing.
#![allow(clippy::format_collect, reason = "a row is a line")]

use std::fs::{self, File};
use std::process::Command;
use std::time::SystemTime;

use serde_json::json;

use super::world::{ID, World, plain};

#[test]
fn missing_and_invalid_sessions_are_refused() {
    let world = World::new();
    let path = world.file();
    let file = path.to_str().expect("utf-8");
    let why = world.refused(&["plan", file]);
    assert!(why.contains(&format!("there is no file {file}; name a session")), "{why}");
    assert!(world.refused(&["plan", ""]).contains("the session's name is empty; name a session"));
    assert!(world.refused(&["plan"]).contains("no session of"), "none of the project");
    assert!(world.refused(&["plan", "3f0a9d1e"]).contains("no session 3f0a9d1e found in"));
    assert!(world.refused(&["plan", "this"]).contains("CLAUDE_CODE_SESSION_ID"));
    for (text, words) in [
        ("", "is empty"),
        ("\n\n", "is not a session"),
        ("words\n{\"a\":1}\n", "is not a session"),
        ("SQLite format 3\0 and no more", file),
    ] {
        world.write(text);
        for verb in ["plan", "run"] {
            let why = world.refused(&[verb, file]);
            assert!(why.contains(words), "{text:?}: {why}");
        }
    }
    let folder = path.parent().expect("folder").to_str().expect("utf-8");
    assert!(world.refused(&["run", folder]).contains("is a folder; name a session's file"));
    world.write(&plain().text());
    assert!(world.refused(&["run", file, "--type", "toolresult"]).contains("toolresult"));
    assert!(world.refused(&["run", file, "--out", "/x"]).contains("edited in place"));
    assert!(world.refused(&["run", &format!("{file}:x")]).contains(file));
    let usage = world.run(&["restore", file, "aa000003", "--unmarked"]);
    assert_eq!(usage.code, Some(2), "{usage:?}");
}

#[test]
fn an_ambiguous_id_prefix_is_refused() {
    let world = World::of(&plain().text());
    let twin = world.file().with_file_name("3f0a9d1e-0000-4000-8000-000000000002.jsonl");
    world.put(&twin, &plain().text());
    let why = world.refused(&["plan", "3f0a9d1e"]);
    assert!(why.contains(ID) && why.contains("000000000002"), "{why}");
    assert_eq!(world.json(&["plan", ID])["session"], ID);
    // The file names of pi have a timestamp before the id.
    let pi =
        world.hook.home.join(".pi/agent/sessions/--w--/2026-02-20T10-00-00-000Z_77777777-x.jsonl");
    world.put(&pi, &plain().text().replace(ID, "77777777-x"));
    let plan = world.json(&["plan", "7777"]);
    assert_eq!((&plan["session"], &plan["agent"]), (&"77777777-x".into(), &"pi".into()));
}

#[test]
fn a_missing_session_file_is_named() {
    let world = World::of(&plain().text());
    assert_eq!(world.extracts(&[]), 2);
    let moved = world.hook.home.join("moved.jsonl");
    fs::rename(world.file(), &moved).expect("moved");
    let file = world.file().display().to_string();
    for args in [vec!["plan", ID], vec!["restore", ID, "aa000003"], vec!["context", "3f0a"]] {
        let why = world.refused(&args);
        assert!(why.contains(&format!("is gone: {file}; what was extracted")), "{why}");
        assert!(why.contains("Give the path of its file"), "{why}");
    }
    assert!(world.done(&["status"]).contains(&format!("its file is gone: {file}")));
    let named = moved.to_str().expect("utf-8");
    assert_eq!(world.json(&["context", named])["extracted"][0]["entry_id"], "aa000003");
}

#[test]
fn invalid_entries_keys_and_numbers_are_refused() {
    let world = World::of(&plain().text());
    assert_eq!(world.extracts(&[]), 2);
    let file = world.file().display().to_string();
    for (args, words) in [
        (vec!["restore", ID, ""], "the entry's name is empty; name an entry of "),
        (vec!["restore", ID, "zz"], "there is no entry zz in "),
        (vec!["restore", ID, "aa000001"], "nothing of aa000001 in "),
        (vec!["restore", ID, "aa000003", "--key", "no"], "no extracted value of aa000003 from "),
        (vec!["restore", ID, "all", "--key", "no"], "no extracted value from "),
        (vec!["set-extractable", ID, "", "false"], "the entry's name is empty; "),
        (vec!["set-extractable", ID, "zz", "false"], "there is no entry zz in "),
        (vec!["set-extractable", ID, "aa", "false"], "several entries of "),
    ] {
        let why = world.refused(&args);
        assert!(why.contains(words) && why.contains(&file), "{args:?}: {why}");
        let there = ["aa000003", "message.content.0.text", "`extract context SESSION`"];
        assert!(there.iter().any(|out| why.contains(out)), "{why}");
    }
    let why = world.refused(&["set-extractable", ID, "aa000003", "-1"]);
    assert!(why.contains("`-1` is neither true, false, none nor a number"), "{why}");
    for (args, words) in [
        (vec!["plan", ID, "--keep-recent", "-1"], "invalid value '-1' for '--keep-recent <N>'"),
        (vec!["plan", ID, "--min-length", "-1"], "invalid value '-1' for '--min-length <N>'"),
        (vec!["restore", ID, "aa000003", "--from", "0"], "invalid value '0' for '--from <N>'"),
    ] {
        let answer = world.run(&args);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.stderr.contains(words), "{answer:?}");
    }
}

#[test]
fn an_unusable_store_is_named() {
    let mut world = World::of(&plain().text());
    let none = world.hook.home.join("a file");
    fs::write(&none, "").expect("file");
    let none = none.to_str().expect("utf-8").to_owned();
    let path = none.clone();
    world.hook.set("BRAIN_GUARD_STORE", &path);
    for verb in [vec!["plan", ID], vec!["run", ID], vec!["status"], vec!["gc"]] {
        let why = world.refused(&verb);
        assert!(why.contains(&none) && why.contains("BRAIN_GUARD_STORE"), "{verb:?}: {why}");
    }
    for verb in [&["search", "words"][..], &["store", "export", ID], &["surgery", "log"]] {
        let answer = world.hook.raw(verb, b"");
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(1), ""), "{verb:?}: {answer:?}");
        assert!(answer.stderr.contains(&none), "{verb:?}: {answer:?}");
        assert!(answer.stderr.contains("BRAIN_GUARD_STORE"), "{verb:?}: {answer:?}");
    }
    // A store that cannot be created.
    world.hook.set("BRAIN_GUARD_STORE", "/proc/nowhere");
    let why = world.refused(&["run", ID]);
    assert!(why.contains("/proc/nowhere") && why.contains("BRAIN_GUARD_STORE"), "{why}");
    world.hook.set("BRAIN_GUARD_STORE", "/a/../b");
    let why = world.refused(&["run", ID]);
    assert!(why.contains("BRAIN_GUARD_STORE: `/a/../b`"), "{why}");
}

#[test]
fn sessions_before_version_3_are_refused() {
    let world = World::new();
    let old = json!({ "type": "session", "id": ID, "timestamp": "2026-02-20T10:00:00.000Z", "cwd": "/w" });
    let rows: String = plain().text().lines().skip(1).map(|line| format!("{line}\n")).collect();
    world.write(&format!("{old}\n{rows}"));
    let why = world.refused(&["run", ID]);
    assert!(why.contains("version 1, not 3") && why.contains("open it once"), "{why}");
}

#[test]
fn a_session_in_use_is_refused() {
    let world = World::of(&plain().text());
    let file = File::options().append(true).open(world.file()).expect("session");
    file.set_modified(SystemTime::now()).expect("time");
    drop(file);
    let why = world.refused(&["run", ID]);
    assert!(why.contains("was written") && why.contains("Try again"), "{why}");
    world.write(&plain().text());
    // Held open by a process that can write it. What this one has open, its children have for a
    // moment, too.
    let held = File::options().append(true).open(world.file()).expect("session");
    let mut holder = Command::new("sleep").arg("60").stdout(held).spawn().expect("sleep");
    let why = world.refused(&["run", ID]);
    holder.kill().expect("it runs");
    holder.wait().expect("it ended");
    assert!(why.contains(&format!("process {}", holder.id())), "{why}");
    let lock = world.file().with_extension("jsonl.lock");
    let stat = fs::read_to_string("/proc/self/stat").expect("stat");
    let start = stat.rsplit_once(')').expect("name").1.split_whitespace().nth(19).expect("start");
    let started: u64 = start.parse().expect("number");
    let held = json!({
        "pid": std::process::id(), "createdAt": chrono::Utc::now().to_rfc3339(), "starttime": started,
    });
    fs::write(&lock, serde_json::to_string_pretty(&held).expect("JSON")).expect("lock");
    let why = world.refused(&["run", ID]);
    assert!(why.contains(&std::process::id().to_string()), "{why}");
    fs::remove_file(&lock).expect("lock");
    assert_eq!(world.extracts(&[]), 2);
    assert!(!lock.exists());
}

/// Without a name, `plan` shows the project's latest session, but `run` refuses to edit it.
#[test]
fn extract_run_edits_only_named_sessions() {
    let world = World::new();
    let project = world.hook.project.canonicalize().expect("project").display().to_string();
    let folder = format!("--{}--", project.trim_start_matches('/').replace('/', "-"));
    let sessions = world.hook.home.join(".pi/agent/sessions").join(folder);
    let path = sessions.join("2026-02-20T10-00-00-000Z_77.jsonl");
    let text = plain().text().replace(ID, "77");
    world.put(&path, &text);
    assert_eq!(world.json(&["plan"])["session"], "77");
    let answer = world.run(&["run"]);
    let why = format!("{} would be edited in place", path.display());
    assert!(
        answer.stderr.contains(&why) && answer.stderr.contains("name the session"),
        "{answer:?}"
    );
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert_eq!(fs::read_to_string(&path).expect("session"), text);
    assert_eq!(world.json(&["run", "77"])["values"], 2);
}

#[test]
fn sessions_of_claude_code_are_never_changed() {
    let world = World::new();
    let id = "7c41b2aa-0000-4000-8000-000000000002";
    let row = json!({
        "parentUuid": null, "isSidechain": false, "type": "user", "uuid": "u1", "sessionId": id,
        "message": { "role": "user", "content": "go" }, "timestamp": "2026-03-19T10:00:00.000Z",
    });
    let path = world.hook.home.join(".claude/projects/-p").join(format!("{id}.jsonl"));
    world.put(&path, &format!("{row}\n"));
    assert_eq!(world.json(&["plan", id])["kind"], "claude");
    let told = world.done(&["set-extractable", id, "u1", "false"]);
    assert!(told.contains("u1 is never extracted") && told.contains("never changed"), "{told}");
    assert_eq!(world.json(&["context", id])["said"][0]["entry_id"], "u1");
    assert_eq!(fs::read_to_string(&path).expect("session"), format!("{row}\n"));
}

#[test]
fn a_session_of_claude_code_is_extracted_where_its_file_is_now() {
    let world = World::new();
    let id = "7c41b2aa-0000-4000-8000-000000000003";
    let row = |number: u32, kind: &str, content: serde_json::Value| {
        let parent = (number > 1).then(|| format!("u{}", number - 1));
        json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": format!("u{number}"),
            "sessionId": id, "cwd": "/tmp", "timestamp": "2026-03-19T10:00:00.000Z",
            "message": { "id": format!("m{number}"), "role": kind, "content": content },
        })
    };
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]);
    let result =
        json!([{"type": "tool_result", "tool_use_id": "t1", "content": "long ".repeat(900)}]);
    let rows = [
        row(1, "user", json!("go")),
        row(2, "assistant", call),
        row(3, "user", result),
        row(4, "assistant", json!([{"type": "text", "text": "done"}])),
    ];
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let projects = world.hook.home.join(".claude/projects");
    let path = projects.join("-p").join(format!("{id}.jsonl"));
    world.put(&path, &text);
    let extracted = || {
        let how = ["--keep-recent", "0", "--min-length", "100", "--dry-run"];
        let made = world.json(&[&["run", id][..], &how].concat());
        made["extracted"].as_array().expect("a list").len()
    };
    assert_eq!(extracted(), 1);
    let moved = projects.join("-q").join(format!("{id}.jsonl"));
    fs::create_dir_all(moved.parent().expect("a folder")).expect("a folder");
    fs::rename(&path, &moved).expect("moved");
    assert_eq!(extracted(), 1);
}

/// Extraction refuses before it writes anything, and a retry leaves nothing behind either.
#[test]
fn a_file_system_without_hard_links_is_refused() {
    let world = World::of(&plain().text());
    let (before, folder) = (world.text(), world.file().parent().expect("folder").to_owned());
    for error in ["EPERM", "EOPNOTSUPP"] {
        let program = world.hook.command(&["extract", "run", ID]);
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=link,linkat", "-e"]);
        strace.arg(format!("inject=link,linkat:error={error}"));
        strace.arg(program.get_program()).args(program.get_args());
        strace.env_clear().envs(world.hook.variables());
        let answer = strace.output().expect("strace: apt-get install strace");
        let why = String::from_utf8_lossy(&answer.stderr);
        assert_eq!(answer.status.code(), Some(1), "{why}");
        assert!(why.contains("does not allow a hard link to it"), "{why}");
        assert_eq!(world.text(), before);
        assert_eq!(fs::read_dir(&folder).expect("folder").count(), 1);
        let content = |path: &std::path::PathBuf| !path.ends_with(".lock");
        assert!(!world.kept().keys().any(content), "{:?}", world.kept());
    }
    assert!(world.extracts(&[]) > 0);
}
