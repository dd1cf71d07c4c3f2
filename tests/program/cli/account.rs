//! `explain` of one call and of recent ones, `log`, and what `status` reports as added.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use guard::files::journal::Journal;
use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook, percent_in};

fn call(hook: &Hook, id: &str, tool: &str, input: &Value) -> Answer {
    let mut call = hook.call(tool, input);
    call["tool_use_id"] = id.into();
    hook.send(&call)
}

#[test]
fn explain_finds_a_call_by_id() {
    let mut hook = Hook::climbed(percent_in("narrow"));
    let read = call(&hook, "toolu_read", "Read", &json!({"file_path": "/etc/hostname"}));
    call(&hook, "toolu_pipe", "Bash", &json!({"command": "brain-guard status | head"}));
    hook.set("CLAUDE_CODE_SESSION_ID", "");
    let told = hook.raw(&["explain", "--call", "toolu_read"], b"").stdout;
    for part in [
        "Read (toolu_read), blocked, at ",
        "because     the tier narrow blocks the band read",
        "context     31.0 % (299,770 of 967,000 tokens, transcript, ",
        "would pass  the same call below the tier block-reads (25.0 % of the context, 85.0 % of the file)",
        "would pass  the operator's override: /brain-guard:override 30m",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.contains(read.reason().lines().next().expect("a line")), "{told}");
    let told = hook.raw(&["explain", "--call", "toolu_pipe", "--json"], b"").json();
    let accounts = told["accounts"].as_array().expect("a list");
    let why = "`|` outside single quotes at column 20";
    assert_eq!(accounts[0]["not_own"], why);
    let told = hook.raw(&["explain", "--call", "toolu_pipe"], b"").stdout;
    assert!(told.contains(&format!("it doesn't count as a brain-guard command: {why}")), "{told}");
    assert!(accounts[0]["context_age_ms"].as_i64().is_some_and(|age| age >= 0), "{told}");
    assert!(accounts[0]["let_through"].as_array().is_some_and(|ways| ways.len() == 4), "{told}");
}

#[test]
fn explain_escapes_terminal_sequences() {
    let hook = Hook::climbed(percent_in("narrow"));
    call(&hook, "toolu_esc", "Ba\u{1b}]0;x\u{7}sh", &json!({"command": "\u{1b}[2J"}));
    for args in [
        &["explain"][..],
        &["explain", "--why"],
        &["explain", "--call", "toolu_esc"],
        &["explain", "--last", "9"],
    ] {
        let told = hook.raw(args, b"").stdout;
        assert!(told.contains("Ba]0;xsh"), "{told}");
        assert!(!told.contains('\u{1b}') && !told.contains('\u{7}'), "{told:?}");
    }
}

#[test]
fn explain_says_what_has_no_line() {
    let none = Hook::begun().raw(&["explain", "--call", "toolu_none"], b"");
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("no call toolu_none in the journal"), "{none:?}");
    assert!(none.stderr.contains("a call that passes below every tier"), "{none:?}");
}

#[test]
fn explain_lists_recent_calls_in_order() {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.read();
    hook.batch();
    let last = hook.raw(&["explain", "--last", "1", "--json"], b"").json();
    assert_eq!(last["accounts"].as_array().map(Vec::len), Some(1));
    let all = hook.raw(&["explain", "--last", "99"], b"").stdout;
    assert!(all.contains("), blocked, at") && all.contains("\n  said "), "{all}");
    // The hook names the call that `explain` runs in; the question is about an earlier one.
    let own = hook.agent("brain-guard explain").stdout;
    assert!(
        own.contains("brain-guard blocked ") && own.contains("/brain-guard:override 30m"),
        "{own}"
    );
    let calm = Hook::begun();
    let none = calm.raw(&["explain", "--last", "3"], b"").stdout;
    assert!(none.contains("below every tier nothing is written"), "{none}");
}

#[test]
fn status_reports_what_was_added() {
    let hook = Hook::begun();
    let text = hook.raw(&["status"], b"").stdout;
    assert!(text.contains("added     nothing to the context yet"), "{text}");
    hook.fill(percent_in("narrow"));
    let reason = hook.read().reason();
    let note = hook.batch().note();
    let status = hook.raw(&["status", "--json"], b"").json();
    let added = &status["added"];
    assert_eq!(added["denials"], json!({"count": 1, "bytes": reason.len()}));
    assert_eq!(added["bytes"], json!(reason.len() + note.len()));
    let tokens =
        (reason.len() + note.len()) as f64 / added["bytes_per_token"].as_f64().expect("a rate");
    assert_eq!(added["tokens"], json!(tokens.ceil() as u64));
    let text = hook.raw(&["status"], b"").stdout;
    assert!(
        text.contains("added     ") && text.contains("1 denial") && text.contains(" %)"),
        "{text}"
    );
}

#[test]
fn log_filters_by_kind_session_and_time() {
    let hook = Hook::begun();
    hook.fill(percent_in("narrow"));
    hook.read();
    hook.bash("ls");
    let log = |args: &[&str]| hook.raw(&[&["log"], args].concat(), b"");
    let shown = log(&[]).stdout;
    assert_eq!(shown.lines().filter(|l| l.contains("  deny ")).count(), 2, "{shown}");
    assert!(!shown.contains('\u{1b}'), "plain where nobody looks: {shown}");
    assert!(
        shown.contains("Read denied · tier narrow")
            && shown.contains(&hook.session[..8.min(hook.session.len())])
    );
    assert_eq!(log(&["--last", "1", "--kind", "deny"]).stdout.lines().count(), 1);
    let raw = log(&["--kind", "deny", "--json", "--since", "5m"]).stdout;
    for line in raw.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&line["kind"], &line["session"]), (&json!("deny"), &json!(hook.session)));
    }
    assert_eq!(raw.lines().count(), 2);
    let nothing = log(&["--kind", "fault"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), ""));
    let unknown = log(&["--kind", "denied"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("would-deny"), "{unknown:?}");
    assert_eq!(log(&["--since", "yesterday"]).code, Some(2));
    assert_eq!(log(&["--session", &hook.session, "--kind", "deny"]).stdout.lines().count(), 2);
    assert_eq!(log(&["--session", "other"]).code, Some(1));
    let everywhere = log(&["--all", "--kind", "deny"]).stdout;
    assert_eq!(everywhere.lines().count(), 2, "{everywhere}");
    // The rotated part is read too.
    let journal = Journal::of_session(&hook.places(), &hook.session);
    std::fs::rename(&journal.path, journal.rotated()).expect("rotated");
    hook.read();
    assert_eq!(log(&["--kind", "deny"]).stdout.lines().count(), 3);
}

#[test]
fn log_follows_across_a_rotation() {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.read();
    let mut follower = hook
        .command(&["log", "--follow", "--last", "1", "--kind", "deny"])
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .expect("started");
    let (send, lines) = mpsc::channel();
    let stdout = follower.stdout.take().expect("piped");
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    let next = || lines.recv_timeout(Duration::from_secs(20)).expect("a line");
    assert!(next().contains("Read denied"));
    hook.bash("ls");
    assert!(next().contains("Bash denied"));
    let journal = Journal::of_session(&hook.places(), &hook.session);
    std::fs::rename(&journal.path, journal.rotated()).expect("rotated");
    hook.pre("Grep", &json!({"pattern": "x"}));
    assert!(next().contains("Grep denied"));
    assert!(follower.try_wait().expect("asked").is_none(), "it goes on until it is ended");
    // SIGTERM, because a test run in the background ignores interrupts.
    let pid = rustix::process::Pid::from_child(&follower);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("ended");
    let ended = follower.wait().expect("ended");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(15), "{ended:?}");
}

#[test]
fn explain_asks_for_no_seal_of_notes_that_are_sealed() {
    let hook = Hook::climbed(percent_in("narrow"));
    let explained = hook.raw(&["explain"], b"").stdout;
    assert!(explained.contains("Let the agent seal its notes"), "{explained}");
    hook.agent("brain-guard append --kind next 'write the lexer'");
    hook.agent("brain-guard seal");
    let explained = hook.raw(&["explain"], b"").stdout;
    assert!(explained.contains("This session restarts from its notes: "), "{explained}");
    assert!(!explained.contains("Let the agent seal"), "{explained}");
}
