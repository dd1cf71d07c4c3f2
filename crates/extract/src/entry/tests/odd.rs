//! Rows that must not be changed, values that no key leads to, and how results, calls and
//! signatures depend on each other.

use super::*;
use crate::edit;

/// A row is checked without its values, and each value by itself: together that checks the whole
/// row.
#[test]
fn rows_that_are_no_valid_json() {
    let text = long(200);
    for (row, sound) in [
        (r#"{"type":"tool_result","id":"a","output":"T"}"#, true),
        (r#"{"type":"tool_result","id":"a","output":"T\ud83e","n":-1.5e3,"x":"\/"}"#, true),
        (r#"{"type":"tool_result","id":"a","output":"T\x"}"#, false),
        ("{\"type\":\"tool_result\",\"id\":\"a\",\"output\":\"T\tT\"}", false),
        ("{\"type\":\"tool_result\",\"id\":\"a\",\"output\":\"T\",\"x\":\"a\tb\"}", false),
        (r#"{"type":"tool_result","id":"a","output":"T","n":01}"#, false),
        (r#"{"type":"tool_result","id":"a","output":"T","n":nul}"#, false),
        (r#"{"type":"tool_result","id":"a","output":"T","n":[1,]}"#, false),
        (r#"{"type":"tool_result","id":"a","output":"T","x":"\u12"}"#, false),
        (
            r#"{"type":"message","id":"a","message":{"role":"assistant","content":[{"type":"thinking","thinking":"T","thinkingSignature":"\x"}]}}"#,
            false,
        ),
    ] {
        let row = row.replace('T', &text);
        let entry = one(&row);
        assert_eq!((!entry.broken, entry.values.len()), (sound, 1), "{row}");
        assert_eq!(edit::sound(row.as_bytes()), sound, "{row}");
    }
    let mut bytes = format!(r#"{{"type":"tool_result","id":"a","output":"{text}"}}"#).into_bytes();
    *bytes.iter_mut().rfind(|byte| **byte == b'x').unwrap() = 0xff;
    assert!(read(&bytes)[0].broken);
}

/// Whatever field holds the reasoning of a flat row.
#[test]
fn signed_reasoning_of_a_flat_row_is_no_value() {
    let text = long(900);
    for (row, values) in [
        (r#"{"type":"thinking","id":"a","message":"T","signature":"s"}"#, 0),
        (r#"{"type":"thinking","id":"a","message":{"content":"T"},"signature":"s"}"#, 0),
        (r#"{"type":"thinking","id":"a","message":{"content":"T","signature":"s"}}"#, 0),
        (r#"{"type":"thinking","id":"a","message":"T","signature":""}"#, 1),
        (r#"{"type":"thinking","id":"a","message":{"content":"T"}}"#, 1),
    ] {
        assert_eq!(one(&row.replace('T', &text)).values.len(), values, "{row}");
    }
}

/// A name on a value's path occurs twice, so its key is ambiguous. The row's other values are not
/// affected.
#[test]
fn names_that_stand_twice() {
    let text = long(200);
    for (row, left, doubled) in [
        (r#""type":"tool_result","output":"T","output":"T""#, &[][..], 2),
        (r#""type":"tool_result","output":"T","x":1,"x":2"#, &["output"], 0),
        (r#""type":"tool_result","output":"T","data":{"a":"T","\u0061":1}"#, &["output"], 1),
        (r#""type":"tool_result","output":"T","outpu\u0074":"T""#, &[], 1),
        (
            r#""type":"message","message":{"role":"toolResult","content":[{"type":"text","text":"T"}],"details":{"a":"T"}},"message":{"x":1}"#,
            &[],
            2,
        ),
        (
            r#""type":"message","message":{"role":"toolResult","content":[{"type":"text","text":"T"}],"details":{"a":"T"},"details":{}}"#,
            &["message.content.0.text"],
            1,
        ),
        (
            r#""type":"message","message":{"role":"user","content":[{"type":"text","text":"T","text":"T"},{"type":"text","text":"T"}]}"#,
            &["message.content.1.text"],
            1,
        ),
        // Also with many values.
        (
            r#""type":"tool_result","output":"T","data":["T","T","T",{"a":"T","a":"T","b":"T"}]"#,
            &["output", "data.0", "data.1", "data.2", "data.3.b"],
            2,
        ),
    ] {
        let row = format!(r#"{{"id":"a",{}}}"#, row.replace('T', &text));
        let entry = one(&row);
        let keys: Vec<&str> = entry.values.iter().map(|value| value.key.as_str()).collect();
        assert_eq!((keys.as_slice(), entry.doubled, entry.broken), (left, doubled, false), "{row}");
        for value in &entry.values {
            assert_eq!(edit::locate(row.as_bytes(), &value.key), Some(value.span), "{row}");
        }
    }
}

/// A result that names no tool has its call's tool, in every format.
#[test]
fn a_result_has_the_tool_of_its_call() {
    let text = long(200);
    let call = r#"{"type":"tool_call","__id":"m1","id":"c1","toolCallId":"t1","name":"read","arguments":{"path":"/w/a"}}"#;
    let asked = r#"{"type":"message","id":"m2","message":{"role":"assistant","content":[{"type":"toolCall","id":"p1","name":"read","arguments":{"path":"/w/a"}}]}}"#;
    for result in [
        r#"{"type":"tool_result","id":"r","toolCallId":"t1","output":"T"}"#,
        r#"{"type":"tool_result","id":"r","tool_call_id":"c1","output":"T"}"#,
        r#"{"type":"tool","id":"r","tool_use_id":"m1","output":"T"}"#,
        r#"{"type":"tool_result","id":"r","message":{"role":"tool","tool_call_id":"c1","content":"T"}}"#,
        r#"{"type":"message","id":"r","message":{"role":"toolResult","toolCallId":"p1","content":[{"type":"text","text":"T"}]}}"#,
    ] {
        let rows = [call, asked, &result.replace('T', &text)].join("\n");
        let entry = read(rows.as_bytes()).pop().unwrap();
        assert_eq!(entry.tool.as_deref(), Some("read"), "{result}");
        assert_eq!(entry.values[0].tool.as_deref(), Some("read"), "{result}");
        assert!(entry.values[0].read.is_some_and(|read| read.part == 0), "{result}");
    }
    let named = r#"{"type":"tool_result","id":"r","toolCallId":"t1","name":"exec","output":"T"}"#;
    let rows = [call, &named.replace('T', &text)].join("\n");
    assert_eq!(read(rows.as_bytes())[1].tool.as_deref(), Some("exec"), "its own name goes before");
    let other = r#"{"type":"tool_result","id":"r","toolCallId":"t2","output":"T"}"#;
    let rows = [call, &other.replace('T', &text)].join("\n");
    assert_eq!(read(rows.as_bytes())[1].tool, None);
}

/// Claude Code may write results of parallel calls in one row: each has its own tool, and its own
/// error flag.
#[test]
fn each_result_of_a_row_is_what_it_says_of_itself() {
    let text = long(200);
    let call = r#"{"type":"assistant","uuid":"u1","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}},{"type":"tool_use","id":"t2","name":"Bash","input":{}}]}}"#;
    let results = r#"{"type":"user","uuid":"u2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"T","is_error":true},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"T"}]}]},"toolUseResult":{"stdout":"T"}}"#;
    let entry = read([call, &results.replace('T', &text)].join("\n").as_bytes()).pop().unwrap();
    let found: Vec<_> =
        entry.values.iter().map(|value| (value.tool.as_deref(), value.error, value.copy)).collect();
    assert_eq!(
        found,
        [(Some("Read"), true, false), (Some("Bash"), false, false), (Some("Read"), true, true)]
    );
    let rules = |protect: &[&str]| {
        let settings = sessions::settings::ExtractSettings {
            keep_recent: 0,
            protect_turns: 0,
            protect: protect.iter().map(|tool| (*tool).to_owned()).collect(),
            ..sessions::settings::ExtractSettings::default()
        };
        let mut entry = entry.clone();
        for value in &mut entry.values {
            (value.chars, value.span.end) = (900, value.span.start + 900);
        }
        let at = crate::rules::Position { from_end: 9, first: false, turns: 9, latest: false };
        let now = chrono::DateTime::UNIX_EPOCH;
        let rules = crate::rules::Rules::new(&settings, now);
        entry.values[..2]
            .iter()
            .map(|value| rules.extracted(&entry, value, at, None).is_ok())
            .collect::<Vec<_>>()
    };
    assert_eq!(rules(&[]), [false, true], "an error stays, the other result goes");
    assert_eq!(rules(&["Bash"]), [false, false]);
    assert_eq!(rules(&["Read"]), [false, true]);
}

/// Reasoning is never separated from its signature, and a signature is never a value.
#[test]
fn signed_reasoning_in_flat_rows() {
    let text = long(200);
    for (row, values) in [
        (r#"{"type":"thinking","id":"a","thinking":"T","thinkingSignature":"T"}"#, &[][..]),
        (r#"{"type":"thinking","id":"a","text":"T","signature":"T"}"#, &[]),
        (r#"{"type":"thinking","id":"a","thinking":"T","thinkingSignature":""}"#, &["thinking"]),
        (
            r#"{"type":"assistant","id":"a","thinking":"T","content":"T","signature":"s"}"#,
            &["content"],
        ),
        (
            r#"{"type":"assistant","id":"a","content":[{"type":"thinking","thinking":"T","thinkingSignature":"T"},{"type":"text","text":"T"}]}"#,
            &["content.1.text"],
        ),
        (
            r#"{"type":"tool_result","id":"a","result":{"signature":"fn a()","doc":"T","thinkingSignature":"T"}}"#,
            &["result.doc"],
        ),
    ] {
        let entry = one(&row.replace('T', &text));
        let keys: Vec<&str> = entry.values.iter().map(|value| value.key.as_str()).collect();
        assert_eq!(keys, values, "{row}");
    }
}

/// Values are comparable only on request, and only if they are long enough.
#[test]
fn values_that_are_the_same() {
    let row = |id: &str, text: &str, chars: usize| {
        format!(r#"{{"type":"tool_result","id":"{id}","output":"{}"}}"#, text.repeat(chars)) + "\n"
    };
    let rows = [row("a", "x", 300), row("b", "x", 300), row("c", "y", 300), row("d", "x", 299)];
    let mut entries = Entries::comparing(300);
    for (line, n) in rows.iter().zip(0..) {
        entries.row(n, line.as_bytes());
    }
    let same: Vec<u64> = entries.finish().iter().map(|entry| entry.values[0].same).collect();
    assert!(same[0] != 0 && same[0] == same[1] && same[2] != 0 && same[2] != same[0]);
    assert_eq!(same[3], 0);
    assert!(read(rows.concat().as_bytes()).iter().all(|entry| entry.values[0].same == 0));
}
