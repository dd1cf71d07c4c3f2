//! `import` on the real binary, and what `doctor` and `purge` do with the store.

mod back;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::doctor::check;
use crate::support::hook::{Answer, Hook};

fn round(number: u32) -> String {
    let row = |kind: &str, uuid: String, parent: String, message: Value| {
        json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "/p",
            "timestamp": "2026-03-19T10:23:45.678Z", "message": message,
        })
        .to_string()
    };
    let asked = json!({"role": "user", "content": format!("question {number}")});
    let said = json!({"role": "assistant", "content": [{"type": "text", "text": "an answer"}]});
    let user = row("user", format!("u{number}"), format!("a{}", number - 1), asked);
    let agent = row("assistant", format!("a{number}"), format!("u{number}"), said);
    format!("{user}\n{agent}\n")
}

fn write(hook: &Hook, rounds: std::ops::RangeInclusive<u32>) {
    fs::write(&hook.transcript, rounds.map(round).collect::<String>()).expect("written");
}

fn ok(answer: &Answer) -> &str {
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    &answer.stdout
}

fn parsed(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"))
}

/// What `doctor` says about the store.
fn seen(hook: &Hook) -> String {
    check(hook, "store")["seen"].as_str().expect("text").to_owned()
}

/// What `doctor --fix` did with the store.
fn repaired(hook: &Hook) -> Value {
    let report = parsed(&hook.raw(&["doctor", "--fix", "--json"], b""));
    let done = report["done"].as_array().expect("a list").iter();
    done.clone().find(|done| done["check"] == "store").expect("a fix of the store").clone()
}

fn store(hook: &Hook) -> PathBuf {
    hook.home.join(".local/share/brain-guard/sessions")
}

fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a verb while every database write fails with "disk full".
fn on_a_full_disk(hook: &Hook, args: &[&str]) -> Output {
    let program = hook.command(args);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=pwrite64:error=ENOSPC"]);
    strace.arg(program.get_program()).args(program.get_args());
    strace.env_clear().envs(hook.variables()).current_dir(&hook.project);
    strace.output().expect("strace: apt-get install strace")
}

#[test]
fn import_accepts_file_folder_id_project_or_all() {
    let hook = Hook::new();
    write(&hook, 1..=3);
    let project = hook.project.to_str().expect("utf-8");
    let dashed: String =
        project.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let of_project = hook.home.join(".claude/projects").join(dashed);
    fs::create_dir_all(&of_project).expect("made");
    fs::write(of_project.join("of-project.jsonl"), round(1)).expect("written");
    let file = hook.transcript.to_str().expect("utf-8");
    let folder = hook.transcript.parent().and_then(Path::to_str).expect("utf-8");
    for (args, sessions) in [
        (&["import", file][..], 1),
        (&["import", folder], 1),
        (&["import", &hook.session[..6]], 1),
        (&["import", "--project", "."], 1),
        (&["import", "--all"], 2),
    ] {
        fs::remove_dir_all(store(&hook)).unwrap_or_default();
        let report = parsed(&hook.raw(&[args, &["--json"]].concat(), b""));
        assert_eq!(report["imported"].as_array().map(Vec::len), Some(sessions), "{args:?}");
        assert_eq!(report["failed"], json!([]), "{args:?}");
    }
    let again = hook.raw(&["import", "--all"], b"");
    assert!(ok(&again).contains("2 sessions looked at, 0 with something new"), "{again:?}");
    for args in [&["import"][..], &["import", "--all", file]] {
        assert_eq!(hook.raw(args, b"").code, Some(2), "{args:?}");
    }
    let unknown = hook.raw(&["import", "nobodys"], b"");
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("no file nobodys, and no session with that id found in"));
    assert!(unknown.stderr.contains(".claude/projects"));
}

#[test]
fn import_covers_subagents_and_other_clients() {
    let hook = Hook::new();
    write(&hook, 1..=2);
    let subagents = hook.transcript.with_extension("").join("subagents");
    fs::create_dir_all(&subagents).expect("made");
    fs::write(subagents.join("agent-1.jsonl"), round(1)).expect("written");
    fs::write(subagents.join("agent-1.meta.json"), r#"{"agentType":"Explore"}"#).expect("written");
    let claw = hook.home.join(".openclaw/agents/main/sessions");
    fs::create_dir_all(&claw).expect("made");
    let header = r#"{"type":"session","version":3,"id":"x1","timestamp":"2026-02-20T10:00:00.000Z","cwd":"/w"}"#;
    let entry = r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-20T10:00:01.000Z","message":{"role":"user","content":"Hello"}}"#;
    fs::write(claw.join("x1.jsonl"), format!("{header}\n{entry}\n")).expect("written");
    let pi = hook.home.join(".pi/agent/sessions/--w--");
    fs::create_dir_all(&pi).expect("made");
    let header = header.replace("x1", "p1");
    fs::write(pi.join("2026-02-20_p1.jsonl"), format!("{header}\n{entry}\n")).expect("written");
    ok(&hook.raw(&["import", "--all"], b""));
    for folder in [&format!("claude/{}", hook.session), "Explore/agent-1", "main/x1", "pi/p1"] {
        assert!(store(&hook).join(folder).join("blocks.db").is_file(), "{folder}");
    }
    assert_eq!(check(&hook, "store")["level"], "ok");
    assert_eq!(seen(&hook).split(", ").take(2).collect::<Vec<_>>(), ["4 sessions", "5 rounds"]);
}

#[test]
fn import_continues_after_an_unreadable_session() {
    let hook = Hook::new();
    write(&hook, 1..=2);
    let other =
        hook.transcript.with_file_name("x").join(hook.transcript.file_name().expect("name"));
    fs::create_dir(other.parent().expect("folder")).expect("made");
    fs::write(&other, round(9)).expect("written");
    let answer = hook.raw(&["import", "--all", "--json"], b"");
    let report = parsed(&answer);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert_eq!(report["imported"].as_array().map(Vec::len), Some(1));
    let why = report["failed"][0]["why"].as_str().expect("why");
    assert!(why.contains("--agent NAME"), "{why}");
    let apart = hook.raw(&["import", other.to_str().expect("utf-8"), "--agent", "other"], b"");
    assert!(ok(&apart).contains("other "), "{apart:?}");
}

#[test]
fn doctor_finds_and_repairs_damage_in_the_store() {
    let hook = Hook::new();
    write(&hook, 1..=4);
    ok(&hook.raw(&["import", "--all"], b""));
    assert!(seen(&hook).starts_with("1 session, 4 rounds, 8 rows"), "{}", seen(&hook));
    let folder = store(&hook).join("claude").join(&hook.session);
    let blocks = folder.join("blocks.db");
    let mut bytes = fs::read(&blocks).expect("blocks");
    let block = bytes.windows(4).position(|w| w == b"\x28\xb5\x2f\xfd").expect("a block");
    bytes[block + 20] ^= 1;
    fs::write(&blocks, &bytes).expect("written");
    let found = check(&hook, "store");
    assert_eq!(found["level"], "problem", "{found}");
    assert_eq!(found["way_out"], "run `brain-guard doctor --fix`");
    assert!(seen(&hook).contains("not what its digest says"), "{found}");
    // Without the session's file the fault stays, with the reason.
    let aside = hook.transcript.with_extension("aside");
    fs::rename(&hook.transcript, &aside).expect("moved");
    let left = repaired(&hook);
    assert!(
        left["fixed"] == false && left["said"].to_string().contains("its file is gone"),
        "{left}"
    );
    assert_eq!(check(&hook, "store")["level"], "problem");
    fs::rename(&aside, &hook.transcript).expect("moved back");
    let done = repaired(&hook);
    assert!(done["fixed"] == true && done["said"] == "1 fault repaired", "{done}");
    assert!(seen(&hook).contains("no fault"));
    assert!(folder.join("blocks.1.db").is_file(), "what was there is kept");
    // A file that is no database, and a missing one.
    fs::write(folder.join("session.db"), "no database").expect("written");
    assert!(seen(&hook).contains("session.db"), "{}", seen(&hook));
    fs::write(&hook.transcript, (1..=5).map(round).collect::<String>()).expect("written");
    let refused = hook.raw(&["import", "--all"], b"");
    assert!(refused.code == Some(1) && refused.stderr.contains("doctor --fix"), "{refused:?}");
    assert_eq!(repaired(&hook)["fixed"], true);
    for name in ["search.db", "search.db-wal", "search.db-shm"] {
        fs::remove_file(store(&hook).join(name)).unwrap_or_default();
    }
    assert_eq!(repaired(&hook)["fixed"], true);
    ok(&hook.raw(&["import", "--all"], b""));
    assert!(seen(&hook).starts_with("1 session, 5 rounds"), "{}", seen(&hook));
}

#[test]
fn purge_removes_editions_that_nothing_refers_to() {
    let mut hook = Hook::new();
    for name in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"] {
        hook.set(name, "");
    }
    write(&hook, 1..=4);
    ok(&hook.raw(&["import", "--all"], b""));
    write(&hook, 2..=3);
    let again = hook.raw(&["import", "--all"], b"");
    assert!(ok(&again).contains("kept as edition 1"), "{again:?}");
    let folder = store(&hook).join("claude").join(&hook.session);
    let (blocks, edition) = (folder.join("blocks.db"), folder.join("blocks.1.db"));
    let whole = fs::read(&blocks).expect("blocks");
    let purge = |args: &[&str]| {
        let common = ["purge", "--all-projects", "--only", "editions"];
        hook.raw(&[&common, args].concat(), b"")
    };
    assert!(ok(&purge(&["--dry-run"])).contains("1 file, "));
    // A successor was made from the session.
    let from = hook.transcript.to_str().expect("utf-8");
    let made = hook.raw(&["surgery", "compress-before", from, "round:2", "--json"], b"");
    let made = parsed(&made)["id"].as_str().expect("an id").to_owned();
    let needed = purge(&["--yes"]);
    assert!(ok(&needed).contains("--forget removes it") && edition.is_file(), "{needed:?}");
    ok(&hook.raw(&["surgery", "remove", &made], b""));
    ok(&purge(&["--yes"]));
    assert!(!edition.exists());
    assert_eq!(fs::read(&blocks).expect("blocks"), whole);
    assert!(seen(&hook).contains("no fault"));
}

#[test]
fn watch_follows_a_session_until_it_is_ended() {
    let hook = Hook::new();
    write(&hook, 1..=1);
    let mut watcher = hook
        .command(&["import", "--watch"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("started");
    let rounds = |number: u64| {
        let listed = hook.raw(&["search", "question", "--json"], b"");
        listed.stdout.matches("\"round\":").count() as u64 == number
    };
    wait_for("the first round", || rounds(1));
    write(&hook, 1..=3);
    wait_for("what was appended", || rounds(3));
    let pid = i32::try_from(watcher.id()).ok().and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.expect("a pid"), rustix::process::Signal::TERM)
        .expect("sent");
    assert_eq!(watcher.wait().expect("ended").code(), Some(0));
}

#[test]
fn session_end_imports_only_if_the_user_wants_it() {
    let hook = Hook::begun();
    let end = |hook: &Hook| hook.send(&hook.payload("SessionEnd", &json!({"reason": "other"})));
    write(&hook, 1..=2);
    assert!(end(&hook).silent());
    let project = hook.project.join(".brain-guard");
    fs::create_dir_all(&project).expect("made");
    let wanted = json!({"surgery": {"import": "session-end"}});
    fs::write(project.join("settings.json"), wanted.to_string()).expect("written");
    assert!(end(&hook).silent());
    let check = hook.raw(&["settings", "check"], b"");
    assert!(check.stdout.contains("a project's settings can only tighten"), "{check:?}");
    assert!(!store(&hook).exists(), "a project says nothing of the store");
    fs::remove_file(project.join("settings.json")).expect("removed");
    hook.settings(&wanted);
    assert!(end(&hook).silent());
    // The client writes its last row after the hook.
    fs::write(&hook.transcript, (1..=3).map(round).collect::<String>()).expect("written");
    let exported = || hook.raw(&["store", "export", &hook.session], b"").stdout;
    wait_for("its last row", || exported().contains("question 3"));
}
