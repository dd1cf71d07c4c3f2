//! `status` and `explain`: their JSON, and which session they find.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::hook::{Hook, finish, percent_in};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str).collect()
}

#[test]
fn status_json_has_its_documented_keys() {
    let hook = Hook::climbed(percent_in("narrow"));
    let status = hook.raw(&["status", "--json"], b"").json();
    let expected = [
        "added",
        "attended",
        "blocked",
        "boundary",
        "capped",
        "carrier",
        "context",
        "doing",
        "file",
        "job",
        "mode",
        "now",
        "override",
        "session",
        "settings_problems",
        "stance",
        "tier",
    ];
    assert_eq!(keys(&status), expected);
    let context = [
        "age_ms",
        "limit",
        "limit_source",
        "percent",
        "source",
        "used",
        "window",
        "window_certain",
        "window_source",
    ];
    assert_eq!(keys(&status["context"]), context);
    assert_eq!(keys(&status["file"]), ["limit", "path", "percent", "words"]);
    assert_eq!((&status["stance"], &status["carrier"]), (&"narrow".into(), &"mod".into()));
    assert_eq!(status["blocked"], serde_json::json!(["read", "write", "shell", "dispatch"]));
    assert_eq!(status["context"]["percent"], 31.0);
}

#[test]
fn explain_json_has_its_documented_keys() {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.read();
    let status = hook.raw(&["status", "--json"], b"").json();
    let explain = hook.raw(&["explain", "--json"], b"").json();
    let more: Vec<&str> = keys(&explain).into_iter().filter(|k| status.get(k).is_none()).collect();
    assert_eq!(more, ["account", "base_percent", "carriers", "last_denied"]);
    assert_eq!(keys(&explain["last_denied"]), ["at", "in_shadow", "reason", "tool"]);
    let text = hook.raw(&["explain"], b"").stdout;
    for part in [
        "brain-guard blocked Read: the context is 31 % full (300k of 967k)",
        "\nNow: the context is ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn explain_names_what_shadow_mode_let_pass() {
    let hook = Hook::begun();
    hook.settings(&serde_json::json!({"mode": "shadow"})).fill(percent_in("narrow"));
    hook.read();
    let text = hook.raw(&["explain"], b"").stdout;
    let said = "  Shadow mode let Read pass, which would have been blocked.\nNow: ";
    assert!(text.contains(said), "{text}");
}

#[test]
fn status_names_faults_in_the_settings() {
    let hook = Hook::begun();
    hook.write_settings(r#"{"file": {"words": 5}}"#);
    let shown = hook.raw(&["status", "--json"], b"").json();
    let problems = shown["settings_problems"].to_string();
    assert!(problems.contains("settings.json:1:19: file.words: must be 100"), "{problems}");
}

#[test]
fn views_change_nothing() {
    let hook = Hook::climbed(percent_in("block-reads"));
    let before = hook.state();
    for args in [&["status"][..], &["explain"], &["settings", "show"]] {
        assert_eq!(hook.raw(args, b"").code, Some(0), "{args:?}");
    }
    assert_eq!(hook.state(), before);
}

#[test]
fn from_a_terminal_the_only_live_session_is_found() {
    let mut hook = Hook::begun();
    for name in [
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_PID",
        "CLAUDE_PROJECT_DIR",
        "CLAUDECODE",
        "BRAIN_GUARD_MOD",
    ] {
        hook.set(name, "");
    }
    // As in a checkout, the project is found from a subfolder.
    std::fs::create_dir_all(hook.project.join(".git")).expect("folder");
    std::fs::create_dir_all(hook.project.join("src")).expect("folder");
    let mut below = hook.command(&["status", "--json"]);
    let output = below.current_dir(hook.project.join("src")).output().expect("ran");
    let status: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(status["session"], hook.session.as_str());
}

#[test]
fn views_show_the_latest_of_several_live_sessions() {
    let mut hook = Hook::begun();
    let mut other = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().expect("a client");
    let first = std::mem::replace(&mut hook.session, "second".into());
    hook.set("CLAUDE_PID", &other.id().to_string());
    hook.start("startup");
    hook.set("CLAUDE_CODE_SESSION_ID", "");
    let several = hook.raw(&["status", "--json"], b"");
    let acting = hook.raw(&["append", "a note"], b"");
    let started = hook.raw(&["status", "--json", "--session", &first[..8]], b"").json();
    let named = hook.raw(&["status", "--json", "--session", "second"], b"").json();
    other.kill().expect("ended");
    other.wait().expect("ended");
    assert_eq!(several.code, Some(0), "{several:?}");
    assert!(several.stdout.contains(r#""session": "second""#), "{several:?}");
    assert!(
        several.stderr.contains("2 sessions run, and ") && several.stderr.contains("--session")
    );
    assert_eq!(acting.code, Some(1), "a note goes to no session by guess: {acting:?}");
    assert!(acting.stderr.contains(&first[..8]) && acting.stderr.contains("second"), "{acting:?}");
    assert_eq!(started["session"], first.as_str(), "by the beginning of its id");
    assert_eq!(named["session"], "second");
    let left = hook.raw(&["status", "--json"], b"").json();
    assert_eq!(left["session"], first.as_str(), "the other client is gone");
}

#[test]
fn status_finds_the_client_that_runs_below_the_folder() {
    let mut hook = Hook::begun();
    hook.set("CLAUDE_CODE_SESSION_ID", "").set("CLAUDE_PROJECT_DIR", "");
    let mut command = hook.command(&["status", "--json"]);
    command.current_dir(hook.project.parent().expect("a folder"));
    let answer = finish(command, b"");
    let status: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    assert_eq!(status["session"], hook.session.as_str());
    assert!(answer.stderr.contains("no live session here; this is the one in"), "{answer:?}");
}

#[test]
fn without_a_session_the_way_out_is_named() {
    let mut hook = Hook::new();
    hook.set("CLAUDE_CODE_SESSION_ID", "");
    let answer = hook.raw(&["status"], b"");
    assert_eq!(answer.code, Some(1));
    assert!(
        answer.stderr.contains("no session yet in") && answer.stderr.contains("--project"),
        "{answer:?}"
    );
    hook.set("HOME", "");
    let answer = hook.raw(&["status"], b"");
    assert_eq!(answer.code, Some(1));
    assert!(answer.stderr.contains("HOME is not set"), "{answer:?}");
}
