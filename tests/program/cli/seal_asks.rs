//! `seal` first asks for a next step and for a summary of the entries it would drop, once each.
//! Without an answer it still seals.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook, percent_in};

fn text(hook: &Hook) -> String {
    fs::read_to_string(hook.file()).expect("file")
}

fn is_question(answer: &Answer) -> bool {
    answer.code == Some(1) && answer.stderr.starts_with("brain-guard: not sealed yet")
}

#[test]
fn a_seal_without_a_next_step_asks_once() {
    let hook = Hook::climbed(percent_in("narrow"));
    hook.agent("brain-guard append --kind thread 'the parser fails on CRLF'");
    let before = text(&hook);
    let asked = hook.agent("brain-guard seal");
    assert!(is_question(&asked), "{asked:?}");
    assert_eq!(
        asked.stderr,
        "brain-guard: not sealed yet: the seal asks this once. To seal without an answer, run `brain-guard seal` again.\n\n\
         Forward State has no open entry, so the next session would not know where to begin. Add the next step, then seal:\n\
         brain-guard append --kind next <<'EOF'\n- the next step\nEOF\n\
         If nothing comes next, say why: brain-guard append --kind next 'none: why'\n"
    );
    assert_eq!(text(&hook), before);
    assert!(hook.state()["notes"]["seal_asked"]["next_step"].as_bool().expect("remembered"));
    let sealed = hook.agent("brain-guard seal");
    assert!(sealed.stdout.contains("end your turn now"), "{sealed:?}");
    assert_eq!(hook.opened().len(), 1);
}

#[test]
fn a_seal_that_says_little_asks_once() {
    let hook = Hook::begun();
    hook.settings(&json!({"boundary": {"little_words": 20}}));
    hook.agent("brain-guard append --kind next 'write the lexer'");
    let first = hook.agent("brain-guard seal");
    assert!(is_question(&first), "{first:?}");
    let says = "The notes have only 3 words, and nothing of this session under: Open Threads, Assumptions & Risks, Process Insight.";
    assert!(first.stderr.contains(says), "{first:?}");
    assert_eq!(hook.agent("brain-guard seal").code, Some(0), "once");

    let hook = Hook::begun();
    hook.settings(&json!({"boundary": {"little_words": 20}}));
    for kind in ["next 'write the lexer'", "thread 'none: all done'", "risk 'none: none seen'"] {
        hook.agent(&format!("brain-guard append --kind {kind}"));
    }
    hook.agent("brain-guard append --kind lesson 'none: nothing new'");
    assert_eq!(hook.agent("brain-guard seal").code, Some(0), "`none: why` is an answer");
}

#[test]
fn seal_asks_only_for_a_missing_next_step() {
    for (kind, note) in [("next", "fix it"), ("next", "none: the user decides"), ("scope", "x")] {
        let hook = Hook::begun();
        hook.raw(&["append", "the parser fails"], b"");
        assert!(is_question(&hook.raw(&["seal"], b"")));
        hook.raw(&["append", "--kind", kind, note], b"");
        assert_eq!(hook.raw(&["seal"], b"").code, Some(0), "{note}");
        assert_eq!(hook.raw(&["seal"], b"").code, Some(0), "{note}: sealed already");
    }
    let hook = Hook::begun();
    hook.raw(&["append", "--kind", "next", "[x] fix it"], b"");
    hook.raw(&["append", "the parser fails"], b"");
    assert_eq!(hook.raw(&["seal", "--no-clear"], b"").code, Some(0), "the session goes on");
    assert!(is_question(&hook.raw(&["seal"], b"")), "what is closed is no next step");
    let json = hook.raw(&["seal", "--dry-run", "--json"], b"").json();
    assert_eq!(json["verdict"], "already-sealed", "a dry run asks nothing");
}

#[test]
fn the_seal_question_has_a_json_form() {
    let hook = Hook::begun();
    hook.raw(&["append", "the parser fails"], b"");
    let asked = hook.raw(&["seal", "--json"], b"");
    assert_eq!((asked.code, asked.stderr.as_str()), (Some(1), ""));
    let asked: Value = serde_json::from_str(&asked.stdout).expect("JSON");
    assert_eq!(
        (&asked["verdict"], &asked["next_step"], &asked["condense"], &asked["boundary"]),
        (&"asked".into(), &"Forward State".into(), &Value::Null, &false.into())
    );
}

/// A file with a next step and this many earlier lessons of 25 words in Prior Summary.
fn overfull(lessons: usize) -> Hook {
    let hook = Hook::begun();
    let mut text = "# j\n\n## Forward State\n- go on\n\n## Prior Summary\n".to_owned();
    for n in 0..lessons {
        let words: Vec<String> = (0..20).map(|w| format!("l{n}w{w}")).collect();
        let _ = writeln!(text, "- lesson {n} in src/part{n}.rs takes {} {n}00 ms", words.join(" "));
    }
    fs::create_dir_all(hook.file().parent().expect("folder")).expect("folder");
    fs::write(hook.file(), text).expect("file");
    hook
}

#[test]
fn seal_asks_to_condense_what_it_would_drop() {
    // 20 entries of 27 words each; the section's limit is 500.
    let hook = overfull(20);
    let asked = hook.raw(&["seal", "--clear"], b"");
    assert!(is_question(&asked), "{asked:?}");
    let (question, list) =
        asked.stderr.split_once(&format!("{}.\n", hook.file().display())).expect("a list");
    let listed: Vec<&str> = list.lines().collect();
    let told = "Replace all of them (5, together 135 words) with one entry of at most 90 words for Prior Summary.";
    assert!(question.contains(told), "{question}");
    assert!(question.contains("\nbrain-guard seal --clear --summary - <<'EOF'\n"), "{question}");
    assert!(!question.contains("Forward State"), "{question}");
    assert!(
        (0..5).all(|n| listed[n].contains(&format!("  lesson {n} in src/part{n}.rs takes"))),
        "{list}"
    );
    assert!(
        listed[0].ends_with("l0w19 000 ms") && listed.len() == 5,
        "whole, and no other: {list}"
    );

    let answer =
        b"- lessons 0 to 4: src/part0.rs takes 000 ms and src/part1.rs 100 ms, part2.rs 200 ms\n";
    let sealed = hook.raw(&["seal", "--clear", "--summary", "-"], answer);
    assert_eq!(sealed.code, Some(0), "{sealed:?}");
    assert!(
        sealed
            .stdout
            .contains("also named src/part2.rs, src/part3.rs, 300 ms, src/part4.rs, 400 ms. If a later session needs one of these"),
        "{}",
        sealed.stdout
    );
    let text = text(&hook);
    assert!(text.contains("lessons 0 to 4") && !text.contains("l0w0") && !text.contains("l4w0"));
    assert!((5..20).all(|n| text.contains(&format!("l{n}w0"))), "no other one is dropped: {text}");
    let removed = hook.file().with_file_name("sealed").join("v0001.removed.md");
    let removed = fs::read_to_string(removed).expect("archive");
    assert!((0..5).all(|n| removed.contains(&format!("l{n}w19 {n}00 ms"))), "{removed}");
}

#[test]
fn without_an_answer_the_oldest_entries_are_dropped() {
    let hook = overfull(20);
    assert!(is_question(&hook.raw(&["seal"], b"")));
    let sealed = hook.raw(&["seal"], b"");
    assert_eq!(sealed.code, Some(0), "{sealed:?}");
    let text = text(&hook);
    assert!(!text.contains("l1w0") && text.contains("l2w0"), "{text}");
}

#[test]
fn pinning_also_answers_the_seal() {
    let hook = overfull(20);
    hook.raw(&["seal"], b"");
    let pinned = text(&hook).replace("- lesson 0", "- ! lesson 0");
    fs::write(hook.file(), pinned).expect("file");
    let sealed = hook.raw(&["seal", "--summary", "lessons 1 to 4 are condensed"], b"");
    assert_eq!(sealed.code, Some(0), "{sealed:?}");
    let text = text(&hook);
    assert!(text.contains("- ! lesson 0 in") && !text.contains("l1w0"), "{text}");
}

/// A summary written before the question is not asked for again.
#[test]
fn a_summary_from_before_the_question_is_kept() {
    let hook = overfull(20);
    let asked = hook.raw(&["seal", "--summary", "the parser is done"], b"");
    assert!(is_question(&asked) && asked.stderr.ends_with("don't repeat it.\n"), "{asked:?}");
    assert!(text(&hook).contains("- the parser is done"), "{}", text(&hook));
    hook.raw(&["seal", "--summary", "lessons 0 to 4 are condensed"], b"");
    let text = text(&hook);
    assert!(text.contains("- the parser is done") && text.contains("- lessons 0 to 4"), "{text}");
}

#[test]
fn the_guards_own_seal_asks_nothing() {
    let mut hook = overfull(20);
    hook.set("CLAUDE_CODE_SESSION_ATTENDED", "");
    hook.fill(percent_in("narrow"));
    hook.read();
    hook.agent("brain-guard append --kind thread 'the parser fails'");
    for _ in 0..3 {
        hook.stop();
    }
    assert!(text(&hook).contains("version: 1"), "{}", text(&hook));
    assert!(!text(&hook).contains("l0w0"));
}
