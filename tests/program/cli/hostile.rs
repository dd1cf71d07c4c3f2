//! A session file that was made to steer a terminal: no verb prints what the terminal would obey.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::cli::verbs::{done, outside, refused};
use crate::support::hook::Hook;

const ID: &str = "0badf00d-0000-4000-8000-000000000001";

/// A title, a cleared screen, a control sequence in one character, and text from right to left.
const EVIL: &str = "ev\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}il\u{2066}\r";

/// Rounds with hostile text in every place that a session's row has for it.
fn session(hook: &Hook) -> String {
    let mut text = String::new();
    let mut parent = Value::Null;
    let mut row = |n: usize, kind: &str, extra: Value| {
        let id = format!("{ID}-{n}");
        let mut row = json!({
            "parentUuid": parent, "type": kind, "uuid": id, "sessionId": ID, "cwd": hook.project,
            "timestamp": format!("2026-03-19T10:{:02}:{:02}.000Z", n / 60, n % 60), "gitBranch": EVIL,
        });
        row.as_object_mut().expect("a row").extend(extra.as_object().expect("fields").clone());
        let _ = writeln!(text, "{row}");
        parent = json!(id);
    };
    for n in (0..24).step_by(4) {
        row(n, "user", json!({"message": {"role": "user", "content": format!("{EVIL} ask {n}")}}));
        let call = json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": format!("Re{EVIL}ad"),
            "input": {"file_path": format!("/x/{EVIL}"), "command": EVIL, "description": EVIL}});
        let thought = json!({"type": "thinking", "thinking": EVIL, "signature": "sig"});
        let message = |id: &str, content: Value| {
            json!({"message": {"id": format!("{id}{n}"), "role": "assistant", "model": format!("claude-{EVIL}"),
                "content": content, "usage": {"input_tokens": 5000 + n, "output_tokens": 9}}})
        };
        row(n + 1, "assistant", message("a", json!([thought, call])));
        let result = json!({"type": "tool_result", "tool_use_id": format!("toolu_{n}"), "content": EVIL.repeat(200)});
        row(n + 2, "user", json!({"message": {"role": "user", "content": [result]}}));
        row(
            n + 3,
            "assistant",
            message("b", json!([{"type": "text", "text": format!("{EVIL} said {n}")}])),
        );
    }
    let _ = writeln!(text, "{}", json!({"type": "summary", "summary": EVIL, "leafUuid": parent}));
    let _ =
        writeln!(text, "{}", json!({"type": "custom-title", "customTitle": EVIL, "sessionId": ID}));
    let path = hook.transcript.with_file_name(format!("{ID}.jsonl"));
    fs::write(&path, text).expect("transcript");
    path.display().to_string()
}

#[test]
fn no_verb_prints_what_a_terminal_would_obey() {
    let hook = outside(ID);
    let path = session(&hook);
    let edit = hook.project.join("list.txt");
    fs::write(&edit, "index 1\nshrink 2\nengagement other 3\n").expect("the list");
    let edit = edit.display().to_string();
    let verbs: &[&[&str]] = &[
        &["import", &path],
        &["sessions", "--all"],
        &["rounds", ID],
        &["tag", ID, "1-2", "work"],
        &["search", "ask"],
        &["tag", "matrix"],
        &["show", "0badf00d:1"],
        &["show", "0badf00d:1-4"],
        &["advise", ID],
        &["validate", &path],
        &["mend", &path, "--dry-run"],
        &["surgery", "compress-before", ID, "round:5"],
        &["surgery", "compress-engagement", ID, "work", "--tool-result", "summary"],
        &["surgery", "extract-engagement", ID, "work"],
        &["surgery", "split", ID, "--by-tag"],
        &["surgery", "edit", ID, "--plan", &edit],
        &["surgery", "log"],
        &["surgery", "revive", ID],
        &["extract", "plan", ID, "--keep-recent", "1", "--min-length", "40"],
        &["extract", "run", ID, "--keep-recent", "1", "--min-length", "40"],
        &["extract", "context", ID],
        &["tag", "--search", "ask", "other", "--retag", "--yes"],
    ];
    let is_inert = |text: &str| {
        !text.replace("\r\n", "").replace('\n', "").chars().any(base::plain::is_hidden)
    };
    for args in verbs {
        for more in [&[][..], &["--json"]] {
            let answer = hook.raw(&[args, more].concat(), b"");
            assert!(is_inert(&answer.stdout), "{args:?} {more:?}: {answer:?}");
            assert!(is_inert(&answer.stderr), "{args:?} {more:?}: {answer:?}");
            assert_ne!(answer.code, Some(2), "{args:?} {more:?}: {answer:?}");
        }
    }
    // JSON still has every character.
    let round = done(&hook, &["show", "0badf00d:1", "--json"]);
    let round: Value = serde_json::from_str(&round).expect("JSON");
    assert!(round["text"].as_str().is_some_and(|text| text.contains('\u{202e}')), "{round}");
}

#[test]
fn a_line_of_more_than_64_mb_is_refused_with_its_number() {
    let hook = outside(ID);
    let path = session(&hook);
    let mut text = fs::read(&path).expect("the session");
    text.extend(br#"{"type":"user","uuid":"long","message":{"role":"user","content":""#);
    text.resize(text.len() + (65 << 20), b'x');
    text.extend(b"\"}}\n");
    fs::write(&path, text).expect("transcript");
    for args in [&["import", &path][..], &["validate", &path], &["mend", &path]] {
        let answer = hook.raw(args, b"");
        assert_eq!(answer.code, Some(1), "{args:?}: {answer:?}");
        assert!(answer.stderr.contains("line 27 is longer than 64 MB"), "{args:?}: {answer:?}");
    }
    assert!(refused(&hook, &["rounds", &path]).contains("line 27"));
}

#[test]
fn search_cuts_long_words_around_the_match() {
    let hook = outside(ID);
    let long = format!("{}needle{}", "ab/".repeat(20_000), "/cd".repeat(20_000));
    let row = json!({
        "parentUuid": null, "type": "user", "uuid": format!("{ID}-1"), "sessionId": ID, "cwd": hook.project,
        "timestamp": "2026-03-19T10:00:00.000Z", "message": {"role": "user", "content": format!("see /needle/{long}")},
    });
    let path = hook.transcript.with_file_name(format!("{ID}.jsonl"));
    fs::write(&path, format!("{row}\n")).expect("transcript");
    done(&hook, &["import", path.to_str().expect("utf-8")]);
    let found = done(&hook, &["search", "needle"]);
    assert!(found.len() < 500 && found.contains("[needle]"), "{}: {found:.600}", found.len());
}
