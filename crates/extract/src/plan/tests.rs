//! Plans of whole sessions.

mod cut;

use chrono::DateTime;

use super::*;
use crate::entry::Entries;
use crate::entry::tests::read;
use sessions::settings::Fixed;

fn now() -> Time {
    DateTime::from_timestamp(1_771_600_000, 0).unwrap()
}

fn none(_: &Entry, _: &str) -> bool {
    false
}

fn flat(id: &str, kind: &str, key: &str, more: &str) -> String {
    let text = "x".repeat(900);
    format!(r#"{{"type":"{kind}","__id":"{id}","{key}":"{text}"{more}}}"#) + "\n"
}

fn without_dedupe(settings: &ExtractSettings) -> ExtractSettings {
    let fixed = Fixed { dedupe: false, ..Fixed::default() };
    ExtractSettings { fixed, ..settings.clone() }
}

/// The life of an entry: extracted, restored, protected, extracted again.
#[test]
fn a_long_thought_before_three_prompts() {
    let life = |more: &str| {
        let rows: String = [
            flat("msg-1", "thinking", "thinking", more),
            flat("u1", "user", "content", ""),
            flat("u2", "user", "content", ""),
            flat("u3", "user", "content", ""),
        ]
        .concat();
        let entries = read(rows.as_bytes());
        plan(&entries, &ExtractSettings::default(), now(), &none, &NoGain::new())
    };
    let first = life("");
    assert_eq!((first.entries, first.messages), (4, 4));
    let keys: Vec<_> = first.items.iter().map(|i| (i.entry.as_str(), i.key.as_str())).collect();
    assert_eq!(keys, [("msg-1", "thinking")]);
    assert_eq!(first.stay, BTreeMap::from([(Stays::Type, 3)]));
    let ago = |minutes| {
        let at = now() - chrono::Duration::minutes(minutes);
        format!(r#","_restored":"{}""#, at.to_rfc3339())
    };
    assert_eq!(life(&ago(1)).stay.get(&Stays::Restored), Some(&1));
    assert_eq!(life(&ago(11)).items.len(), 1);
}

#[test]
fn bytes_that_the_model_is_sent_are_counted_apart() {
    let text = "x".repeat(900);
    let result = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"toolResult","toolName":"exec","content":[{{"type":"text","text":"{text}"}}],"details":{{"aggregated":"{text}"}}}}}}"#
        ) + "\n"
    };
    let rows = [
        result("a", "null"),
        result("b", "\"a\""),
        r#"{"type":"compaction","id":"k","parentId":"b","firstKeptEntryId":"b","summary":"s"}"#
            .to_owned(),
    ];
    let settings =
        ExtractSettings { keep_recent: 0, protect_turns: 0, ..ExtractSettings::default() };
    let plan = plan(&read(rows.concat().as_bytes()), &settings, now(), &none, &NoGain::new());
    let found: Vec<_> = plan.items.iter().map(|i| (i.row, i.key.as_str(), i.sent)).collect();
    assert_eq!(
        found,
        [
            (0, "message.content.0.text", false),
            (0, "message.details.aggregated", false),
            (1, "message.content.0.text", true),
            (1, "message.details.aggregated", false),
        ]
    );
    assert_eq!(plan.bytes(), (4 * 902, 902));
    assert!(plan.items.iter().all(|item| item.tool.as_deref() == Some("exec")));
}

/// Only the ledger decides what is a placeholder, also of a whole block.
#[test]
fn a_placeholder_is_no_value() {
    let text = "[[extracted-a]]".repeat(60);
    let row = format!(
        r#"{{"type":"message","id":"a","_extractable":true,"message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    );
    let entries = read([row.as_str(), &flat("b", "assistant", "text", "")].join("\n").as_bytes());
    for (key, there) in [
        ("message.content.0", true),
        ("message.content.0.text", true),
        ("message.content.1", false),
    ] {
        let ledger = |entry: &Entry, at: &str| entry.id == "a" && at == key;
        let plan = plan(&entries, &ExtractSettings::default(), now(), &ledger, &NoGain::new());
        assert_eq!(plan.items.is_empty(), there, "{key}");
        assert_eq!(plan.stay.contains_key(&Stays::Placeholder), there, "{key}");
    }
}

/// A tool call and its result.
fn asked(n: u32, tool: &str, arguments: &str, output: &str) -> String {
    format!(
        r#"{{"type":"tool_call","__id":"c{n}","toolCallId":"t{n}","name":"{tool}","arguments":{arguments}}}
{{"type":"tool_result","__id":"r{n}","toolCallId":"t{n}","output":"{output}"}}
"#
    )
}

/// What is extracted of these rows, and why, if values are compared.
fn goes(rows: &[String], settings: &ExtractSettings) -> Vec<(String, Goes)> {
    let mut entries = Entries::comparing(256);
    let bytes = rows.concat();
    for (line, n) in bytes.lines().zip(0..) {
        entries.row(n, line.as_bytes());
    }
    let plan = plan(&entries.finish(), settings, now(), &none, &NoGain::new());
    plan.items.into_iter().map(|item| (item.entry, item.why)).collect()
}

fn told(goes: &[(String, Goes)]) -> Vec<(&str, Goes)> {
    goes.iter().map(|(entry, why)| (entry.as_str(), *why)).collect()
}

/// A value that occurs again later goes before it is old; its last occurrence stays.
#[test]
fn what_stands_again_later_goes_before_it_is_old() {
    let text = |letter: &str| letter.repeat(900);
    let rows = [
        asked(1, "exec", "{}", &text("a")),
        asked(2, "exec", "{}", &text("b")),
        asked(3, "exec", "{}", &text("a")),
        asked(4, "exec", "{}", &text("a")),
        flat("end", "assistant", "content", ""),
    ];
    let settings = ExtractSettings { keep_recent: 100, ..ExtractSettings::default() };
    let found = goes(&rows, &settings);
    assert_eq!(told(&found), [("r1", Goes::Again), ("r3", Goes::Again)]);
    let off = without_dedupe(&settings);
    assert_eq!(goes(&rows, &off), []);
    // A value that is extracted itself is not a later occurrence.
    let mut forced = rows.clone();
    forced[3] = forced[3].replace(r#""__id":"r4""#, r#""__id":"r4","_extractable":true"#);
    let found = goes(&forced, &settings);
    assert_eq!(told(&found), [("r1", Goes::Again), ("r4", Goes::Said)]);
    // An old value goes because of its age, and a short one is not compared.
    let found = goes(&rows, &ExtractSettings { keep_recent: 5, ..settings.clone() });
    assert_eq!(told(&found), [("r1", Goes::Old), ("r2", Goes::Old), ("r3", Goes::Again)]);
    let short = rows.map(|row| row.replace(&text("a"), &"a".repeat(255)));
    let settings = ExtractSettings { min_value_length: 200, ..settings };
    assert_eq!(goes(&short, &settings), []);
}

/// An abandoned branch, a copy and the same entry are not later occurrences.
#[test]
fn only_the_conversation_stands_for_what_goes() {
    let text = "x".repeat(900);
    let result = |id: &str, parent: &str, content: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"toolResult","toolName":"exec",{content}}}}}"#
        ) + "\n"
    };
    let said = format!(r#""content":[{{"type":"text","text":"{text}"}}]"#);
    let twice = format!(
        r#""content":[{{"type":"text","text":"{text}"}},{{"type":"text","text":"{text}"}}]"#
    );
    let copied = format!(r#""content":[],"details":{{"aggregated":"{text}"}}"#);
    let end = r#"{"type":"message","id":"end","parentId":"a","message":{"role":"assistant","content":[]}}"#;
    let settings = ExtractSettings { keep_recent: 100, ..ExtractSettings::default() };
    for (rows, found) in [
        ([result("a", "", &said), result("b", "a", &said)], &[][..]),
        ([result("a", "", &twice), String::new()], &[]),
        ([result("x", "", &said), result("a", "x", &copied)], &[]),
        ([result("x", "", &said), result("a", "x", &said)], &[("x", Goes::Again)]),
    ] {
        let rows = [rows[0].clone(), rows[1].clone(), end.to_owned()];
        assert_eq!(told(&goes(&rows, &settings)), found, "{rows:?}");
    }
}

/// A read goes before it is old if the file was read again later.
#[test]
fn a_read_goes_when_the_file_was_read_again() {
    let text = |letter: &str| letter.repeat(900);
    let (whole, part, other) = (
        r#"{"path":"/w/a"}"#,
        r#"{"path":"/w/a","offset":10,"limit":20}"#,
        r#"{"path":"/w/a","offset":30,"limit":20}"#,
    );
    let end = || flat("end", "assistant", "content", "");
    let settings = ExtractSettings { keep_recent: 100, ..ExtractSettings::default() };
    for (first, second, found) in [
        (whole, whole, &[("r1", Goes::Reread)][..]),
        (part, whole, &[("r1", Goes::Reread)]),
        (part, part, &[("r1", Goes::Reread)]),
        (whole, part, &[]),
        (part, other, &[]),
        (whole, r#"{"path":"/w/b"}"#, &[]),
    ] {
        let rows =
            [asked(1, "read", first, &text("a")), asked(2, "read", second, &text("b")), end()];
        assert_eq!(told(&goes(&rows, &settings)), found, "{first} {second}");
    }
    let two = |second: String| [asked(1, "read", whole, &text("a")), second, end()];
    for (rows, why) in [
        (two(asked(2, "exec", whole, &text("b"))), "no read"),
        (two(asked(2, "read", whole, "File unchanged since last read.")), "a word, no file"),
        (
            two(asked(2, "read", whole, &text("b"))
                .replace(r#""output""#, r#""isError":true,"output""#)),
            "a failure",
        ),
    ] {
        assert_eq!(goes(&rows, &settings), [], "{why}");
    }
    // Two texts of one read are one read.
    let rows = two(String::new());
    assert_eq!(goes(&rows, &settings), []);
    let off = without_dedupe(&settings);
    let rows = two(asked(2, "read", whole, &text("b")));
    assert_eq!(goes(&rows, &off), []);
}

/// A read goes before it is old if the agent wrote the file anew later.
#[test]
fn a_read_goes_when_the_file_was_written_anew() {
    let read = asked(1, "Read", r#"{"file_path":"/w/a"}"#, &"a".repeat(900));
    let end = || flat("end", "assistant", "content", "");
    let settings = ExtractSettings { keep_recent: 100, ..ExtractSettings::default() };
    let stale = &[("r1", Goes::Stale)][..];
    let write = r#"{"file_path":"/w/a","content":"b"}"#;
    let failed = |row: String| row.replace(r#""output""#, r#""isError":true,"output""#);
    for (change, found) in [
        (asked(2, "Write", write, "done"), stale),
        (
            asked(
                2,
                "mcp__files__write_file",
                r#"{"path":"/w/a","content":"[[extracted-c2]]"}"#,
                "",
            ),
            stale,
        ),
        (asked(2, "Write", &write.replace("/w/a", "/w/b"), "done"), &[]),
        (asked(2, "Edit", write, "most of the read is still true"), &[]),
        (failed(asked(2, "Write", write, "no such folder")), &[]),
    ] {
        let rows = [read.clone(), change, end()];
        assert_eq!(told(&goes(&rows, &settings)), found, "{rows:?}");
    }
    let before = [asked(2, "Write", write, "done"), read, end()];
    assert_eq!(goes(&before, &settings), [], "it was read after that");
}

#[test]
fn a_read_of_claude_code_goes_likewise() {
    let row = |id: &str, parent: &str, kind: &str, block: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{id}","parentUuid":{parent},"isSidechain":false,"message":{{"id":"m{id}","role":"{kind}","content":[{block}]}}}}"#
        ) + "\n"
    };
    let call = |n: u32, tool: &str| {
        format!(
            r#"{{"type":"tool_use","id":"t{n}","name":"{tool}","input":{{"file_path":"/w/a"}}}}"#
        )
    };
    let result = |n: u32, more: &str| {
        let text = "a".repeat(900);
        format!(r#"{{"type":"tool_result","tool_use_id":"t{n}"{more},"content":"{text}"}}"#)
    };
    let settings = ExtractSettings { keep_recent: 100, ..ExtractSettings::default() };
    for (more, found) in [("", &[("b", Goes::Stale)][..]), (r#","is_error":true"#, &[])] {
        let rows = [
            row("a", "null", "assistant", &call(1, "Read")),
            row("b", "\"a\"", "user", &result(1, "")),
            row("c", "\"b\"", "assistant", &call(2, "Write")),
            row("d", "\"c\"", "user", &result(2, more).replace(&"a".repeat(900), "done")),
            row("e", "\"d\"", "assistant", r#"{"type":"text","text":"so"}"#),
        ];
        assert_eq!(told(&goes(&rows, &settings)), found, "{more}");
    }
}

/// The placeholder of an extracted read is not a later read of the file.
#[test]
fn a_placeholder_stands_for_nothing() {
    let text = |letter: &str| letter.repeat(900);
    let read = |n, letter| asked(n, "read", r#"{"path":"/w/a"}"#, &text(letter));
    let rows = [read(1, "a"), read(2, "b"), flat("end", "assistant", "content", "")].concat();
    let mut entries = Entries::comparing(256);
    for (line, n) in rows.lines().zip(0..) {
        entries.row(n, line.as_bytes());
    }
    let settings = ExtractSettings { keep_recent: 100, ..ExtractSettings::default() };
    let entries = entries.finish();
    let of = |live: &str| {
        let ledger = |entry: &Entry, _: &str| entry.id == live;
        plan(&entries, &settings, now(), &ledger, &NoGain::new()).items.len()
    };
    assert_eq!((of("nobody"), of("r2")), (1, 0));
}

/// Rows with something wrong are left alone, reported by their lines, and keep nothing else.
#[test]
fn what_is_wrong_with_rows_is_told() {
    let rows = [
        flat("a", "tool_result", "output", ""),
        flat("b", "tool_result", "output", ",\"x\":\"a\tb\""),
        flat("c", "tool_result", "output", r#","_extractable":"false""#),
        flat("d", "tool_result", "output", r#","output":"x""#),
        flat("e", "tool_result", "output", r#","x":nul"#),
        flat("f", "tool_result", "output", ""),
    ];
    let settings =
        ExtractSettings { keep_recent: 0, protect_turns: 0, ..ExtractSettings::default() };
    let plan = plan(&read(rows.concat().as_bytes()), &settings, now(), &none, &NoGain::new());
    let entries: Vec<&str> = plan.items.iter().map(|item| item.entry.as_str()).collect();
    assert_eq!(entries, ["a", "f"]);
    assert_eq!(
        plan.left,
        BTreeMap::from([
            (Stays::Broken, vec![1, 4]),
            (Stays::Unclear, vec![2]),
            (Stays::Twice, vec![3])
        ])
    );
    assert_eq!(
        plan.stay,
        BTreeMap::from([(Stays::Broken, 2), (Stays::Unclear, 1), (Stays::Twice, 1)])
    );
}

/// A value that no placeholder would shorten still counts as a later occurrence.
#[test]
fn what_stays_for_want_of_gain_stands() {
    let rows = [
        flat("a", "tool_result", "output", ""),
        flat("b", "tool_result", "output", r#","_extractable":true"#),
        r#"{"type":"assistant","__id":"end","content":"done"}"#.to_owned(),
    ];
    let mut read = Entries::comparing(256);
    for (n, row) in (0..).zip(&rows) {
        read.row(n, row.trim_end().as_bytes());
    }
    let entries = read.finish();
    let going = |no_gain: &NoGain| -> Vec<(u64, Goes)> {
        let plan = plan(&entries, &ExtractSettings::default(), now(), &none, no_gain);
        plan.items.iter().map(|item| (item.row, item.why)).collect()
    };
    assert_eq!(going(&NoGain::new()), [(1, Goes::Said)]);
    let no_gain = [(1, entries[1].values[0].key.clone())].into();
    assert_eq!(going(&no_gain), [(0, Goes::Again)]);
}
