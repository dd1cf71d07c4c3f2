//! The verb: which session or job it reports on, and its text when there is little data.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::hook::Hook;

#[test]
fn report_prints_a_session_as_text_and_json() {
    let hook = Hook::begun();
    hook.fill(26.0);
    assert_eq!(hook.read().verdict(), "deny");
    let text = hook.raw(&["report"], b"").stdout;
    for part in [
        "session 5e550000-0000-4000-8000-000000000001",
        "limit 967,000 tokens; coach 20 %, block-reads 25 %, narrow 30 %",
        "Read denied",
        "2 responses, highest context usage 26.0 %",
        "denied  Read (read) ×1 at block-reads",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let report = hook.raw(&["report", "--json"], b"").json();
    assert_eq!(report["subject"]["session"], hook.session.as_str());
    let denied = &report["sessions"][0]["events"];
    let denied = denied.as_array().expect("a list").iter().find(|e| e["kind"] == "deny");
    let denied = denied.expect("the denial");
    assert_eq!((&denied["tool"], &denied["why"]), (&json!("Read"), &json!("tier")));
    let added = &report["totals"]["added"];
    assert!(added["bytes"].as_u64() > Some(100) && added["tokens"].as_u64() > Some(20), "{added}");
}

#[test]
fn report_lists_what_shadow_mode_would_have_blocked() {
    let hook = Hook::begun();
    hook.settings(&json!({"mode": "shadow"}));
    hook.fill(31.0);
    assert_eq!(hook.read().verdict(), "pass");
    assert_eq!(hook.bash("ls").verdict(), "pass");
    let report = hook.raw(&["report", "--json"], b"").json();
    let totals = &report["totals"];
    assert_eq!((&totals["denied"], &totals["would_deny"]), (&json!(0), &json!(2)), "{totals}");
    let text = hook.raw(&["report"], b"").stdout;
    let told = text.split("these calls would have been:").nth(1).unwrap_or_default();
    assert!(
        told.contains("Read (read), narrow at 31.0 %") && told.contains("Bash (shell)"),
        "{text}"
    );
}

#[test]
fn report_lists_a_jobs_sessions_in_order() {
    let mut hook = Hook::begun();
    hook.raw(&["job", "focus", "parser", "--no-clear"], b"");
    hook.agent("brain-guard append --kind next 'one'");
    let first = hook.session.clone();
    let second = "5e550000-0000-4000-8000-000000000002".to_owned();
    hook.transcript = hook.transcript.with_file_name(format!("{second}.jsonl"));
    hook.session.clone_from(&second);
    hook.set("CLAUDE_CODE_SESSION_ID", &second);
    hook.start("clear");
    hook.fill(6.0);
    hook.read();
    for args in [&["report", "--json", "--job", "parser"][..], &["report", "--json", "--job"]] {
        let report = hook.raw(args, b"").json();
        let sessions = report["sessions"].as_array().expect("a list");
        let ids: Vec<&str> = sessions.iter().filter_map(|s| s["session"].as_str()).collect();
        assert_eq!(ids, [first.as_str(), second.as_str()]);
        assert_eq!(report["subject"]["job"], "parser");
    }
}

#[test]
fn report_says_when_there_is_little_data() {
    let hook = Hook::new();
    assert!(hook.start("startup").silent());
    let text = hook.raw(&["report"], b"").stdout;
    assert!(text.contains("its transcript is not written yet, or gone"), "{text}");
    assert!(text.contains("below the first tier nothing is written"), "{text}");
    assert!(text.contains("0 responses"), "{text}");
    let page = hook.raw(&["report", "--html", "-"], b"");
    assert!(page.code == Some(0) && page.stdout.starts_with("<!DOCTYPE html>"), "{page:?}");
}

#[test]
fn unknown_names_are_refused_with_the_way_out() {
    let mut hook = Hook::begun();
    let folder = hook.home.to_str().expect("utf-8").to_owned();
    for (args, says) in [
        (&["report", "--session", "nobody"][..], "no session nobody in"),
        (&["report", "--job", "nothing"], "no job nothing in"),
        (&["report", "--job", "../x"], "brain-guard job list"),
        (&["report", "--html", &folder], "is a folder; name a file in it"),
        (&["report", "--html", "/nowhere/at/all.html"], "could not write /nowhere/at/all.html"),
    ] {
        let answer = hook.raw(args, b"");
        assert_eq!(answer.code, Some(1), "{args:?}: {answer:?}");
        assert!(answer.stderr.contains(says), "{args:?}: {answer:?}");
    }
    assert_eq!(hook.raw(&["report", "--session", "a", "--job", "b"], b"").code, Some(2));
    hook.set("CLAUDE_CODE_SESSION_ID", "unheard-of");
    let answer = hook.raw(&["report"], b"");
    assert!(answer.stderr.contains("its hooks have not run yet"), "{answer:?}");
}

#[test]
fn report_names_the_ended_session_it_chose() {
    let mut hook = Hook::begun();
    let id = hook.session.clone();
    hook.send(&hook.payload("SessionEnd", &json!({"reason": "prompt_input_exit"})));
    hook.set("CLAUDE_CODE_SESSION_ID", "").set("CLAUDE_PID", "");
    let path = hook.places().session(&id, "json");
    let mut state = hook.state();
    state["client"] = json!({"pid": 4_194_305, "start": 1});
    fs::write(path, state.to_string()).expect("state");
    let answer = hook.raw(&["report"], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.stderr.contains(&format!("the last one, {id}")), "{answer:?}");
    assert_eq!(hook.raw(&["report", "--session", &id], b"").code, Some(0));
}

#[test]
fn the_page_is_private_and_replaces_an_older_one() {
    let hook = Hook::begun();
    let file = hook.home.join("report.html");
    let args = ["report", "--html", file.to_str().expect("utf-8")];
    let answer = hook.raw(&args, b"");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{answer:?}");
    assert!(answer.stderr.contains("wrote "), "{answer:?}");
    let mode = fs::metadata(&file).expect("file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::write(&file, "older").expect("file");
    assert_eq!(hook.raw(&args, b"").code, Some(0));
    assert!(fs::read_to_string(&file).expect("file").starts_with("<!DOCTYPE html>"));
}
