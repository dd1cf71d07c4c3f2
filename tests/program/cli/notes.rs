//! `append` and `close`.

use std::fs;

use notes::compaction::{Shape, parse};
use serde_json::json;

use crate::support::hook::Hook;

fn text(hook: &Hook) -> String {
    fs::read_to_string(hook.file()).expect("file")
}

/// The lines between a section's heading and the next.
fn section(text: &str, name: &str) -> String {
    let behind = text.split_once(&format!("## {name}\n")).expect("section").1;
    behind.split("\n## ").next().expect("section").to_owned()
}

#[test]
fn a_note_goes_into_the_section_of_its_kind() {
    let hook = Hook::begun();
    for (kind, name) in [
        ("next", "Forward State"),
        ("scope", "Forward State"),
        ("directive", "Forward State"),
        ("thread", "Open Threads"),
        ("gotcha", "Open Threads"),
        ("risk", "Assumptions & Risks"),
        ("assumption", "Assumptions & Risks"),
        ("why", "Process Insight"),
        ("steering", "Process Insight"),
        ("summary", "Prior Summary"),
    ] {
        let note = format!("a note about {kind} número {kind}");
        let answer = hook.raw(&["append", "--kind", kind, &note], b"");
        assert_eq!(answer.code, Some(0), "{answer:?}");
        assert!(answer.stdout.starts_with(&format!("added to {name}: ")), "{answer:?}");
        assert!(section(&text(&hook), name).contains(&note), "{kind}");
    }
}

#[test]
fn the_newest_next_step_stands_first() {
    let hook = Hook::begun();
    hook.raw(&["append", "--kind", "scope", "the parser alone"], b"");
    hook.raw(&["append", "--kind", "next", "write the test"], b"");
    hook.raw(&["append", "--kind", "Next"], b"- fix the parser\n- then write the test for it\n");
    let forward = section(&text(&hook), "Forward State");
    let entries: Vec<&str> = forward.lines().filter(|line| line.starts_with("- ")).collect();
    let expected = [
        "- fix the parser",
        "- then write the test for it",
        "- write the test",
        "- the parser alone",
    ];
    assert_eq!(entries, expected, "{forward}");
    hook.raw(&["seal", "--no-clear"], b"");
    assert!(
        text(&hook).contains(&expected.join("\n")),
        "the seal keeps the order: {}",
        text(&hook)
    );
}

/// Without a section for next steps, the note goes where other kinds without a section go.
#[test]
fn a_next_step_needs_no_forward_section() {
    let hook = Hook::begun();
    let sections = json!([{"name": "Log"}, {"name": "Todo", "role": "threads"}]);
    hook.settings(&json!({"file": {"shape": {"sections": sections}}}));
    let answer = hook.raw(&["append", "--kind", "next", "write the test"], b"");
    assert!(answer.stdout.starts_with("added to Todo: "), "{answer:?}");
    assert_eq!(hook.raw(&["seal"], b"").code, Some(0), "and nothing asks for one");
}

#[test]
fn several_entries_from_stdin() {
    let hook = Hook::begun();
    let answer = hook.raw(&["append", "--kind", "thread"], b"- one\n- two\n  with more\n");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let threads = section(&text(&hook), "Open Threads");
    assert!(threads.contains("- one\n") && threads.contains("- two\n  with more\n"), "{threads}");
}

/// The agent learns to write list items, which look like options.
#[test]
fn a_list_item_may_be_an_argument() {
    let hook = Hook::begun();
    let answer = hook.raw(&["append", "--kind", "risk", "- the cache\n- the queue"], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let risks = section(&text(&hook), "Assumptions & Risks");
    assert!(risks.contains("\n- the cache\n- the queue"), "{risks}");
    let answer = hook.raw(&["seal", "--no-clear", "--summary", "- it holds"], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(section(&text(&hook), "Prior Summary").contains("\n- it holds"), "{}", text(&hook));
    let answer = hook.raw(&["append", "--kidn=risk", "x"], b"");
    assert_eq!(answer.code, Some(2), "{answer:?}");
}

#[test]
fn an_invalid_append_exits_with_usage() {
    let hook = Hook::begun();
    for (args, stdin, said) in [
        (&["append", "--kind", "nonsense", "x"][..], &b""[..], "kinds: "),
        (&["append"], b"", "nothing to append"),
        (&["append", "-"], b" \n", "nothing to append"),
    ] {
        let answer = hook.raw(args, stdin);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.stderr.contains(said), "{answer:?}");
    }
    assert!(!hook.file().exists());
}

#[test]
fn an_entry_is_closed_by_its_id() {
    let hook = Hook::begun();
    assert_eq!(hook.raw(&["close", "abcdef"], b"").code, Some(1), "there is no file yet");
    hook.raw(&["append", "the parser fails on CRLF"], b"");
    hook.raw(&["append", "the lexer is fine"], b"");
    let source = text(&hook);
    let shape = Shape::default();
    let document = parse(&source, &shape);
    let index = shape.route("thread").expect("route");
    let id = document.section(index).next().expect("entry").id.to_string();
    let listed = hook.raw(&["close"], b"");
    let line = listed.stdout.lines().find(|l| l.contains("the parser fails")).expect("listed");
    assert!(line.starts_with(&id) && line.contains("Open Threads"), "{line}");
    let answer = hook.raw(&["close", &id], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let expected = source.replace("- the parser fails", "- [x] the parser fails");
    assert_eq!(text(&hook), expected, "nothing else is touched");
    let answer = hook.raw(&["close", "000000"], b"");
    assert_eq!(answer.code, Some(1));
    assert!(answer.stderr.contains("compaction.md: "), "the file is named: {answer:?}");
}

/// The client runs a command itself if the hook that executed it was too slow to say so.
#[test]
fn a_verb_that_runs_twice_changes_nothing_the_second_time() {
    let hook = Hook::begun();
    let list = "brain-guard append <<'EOF'\n## Forward State\n- the lexer\n- the parser\n## Open Threads\n- CRLF\n  - on Windows\n\n  A paragraph.\nEOF";
    for command in [
        "brain-guard append --kind next 'go on'",
        list,
        "brain-guard append --kind risk '! the feed is sorted'",
        "brain-guard append --kind steering --about phase 'it helped'",
    ] {
        let first = hook.agent(command);
        let before = fs::read_to_string(hook.file()).expect("notes");
        let again = hook.agent(command);
        assert_eq!(fs::read_to_string(hook.file()).expect("notes"), before, "{again:?}");
        assert!(
            first.stdout.starts_with("added to ") && again.stdout.starts_with("already in "),
            "{again:?}"
        );
    }
    // A next step that is further down comes to the top.
    hook.agent("brain-guard append --kind next 'first the tests'");
    hook.agent("brain-guard append --kind next 'go on'");
    let text = fs::read_to_string(hook.file()).expect("notes");
    let first = text.split("## Forward State\n").nth(1).expect("section");
    assert!(first.find("go on") < first.find("first the tests"), "{text}");
}
