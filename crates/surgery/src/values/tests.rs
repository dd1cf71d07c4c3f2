//! What is removed from a row, and what remains in its place.

use super::*;
use extract::rules::Goes;

fn long(letter: char) -> String {
    letter.to_string().repeat(700)
}

fn item(line: &str, key: &str, trigger: Trigger, whole: bool) -> Item {
    let span = edit::locate(line.as_bytes(), key).unwrap();
    Item {
        row: 0,
        entry: "old".into(),
        key: key.into(),
        span,
        chars: 700,
        trigger,
        tool: None,
        whole,
        sent: true,
        why: Goes::Old,
    }
}

/// The placeholder of a long value.
fn put(letter: char) -> String {
    let json = format!("\"{}\"", long(letter));
    let about = About { entry: "e", tool: None, json: json.as_bytes() };
    String::from_utf8(placeholder::json(&about, false).unwrap()).unwrap()
}

fn left(line: &str, items: &[Item]) -> (Option<String>, Vec<Taken>) {
    let lean = row(line.as_bytes(), items, "e").unwrap();
    (lean.line.map(|line| String::from_utf8(line).unwrap()), lean.taken)
}

#[test]
fn a_result_leaves_a_string_and_its_copy_goes() {
    for copy in [r#"{"stdout":"<x>"}"#.to_owned(), format!("\"{}\"", long('r'))] {
        let line = format!(
            r#"{{"uuid":"old","message":{{"role":"user","content":[{{"tool_use_id":"t","type":"tool_result","content":"{}","is_error":true}}]}},"toolUseResult":{copy},"z":1}}"#,
            long('r')
        );
        let key = "message.content.0.content";
        let (left, taken) = left(&line, &[item(&line, key, Trigger::ToolResult, false)]);
        assert_eq!(
            left.unwrap(),
            format!(
                r#"{{"uuid":"old","message":{{"role":"user","content":[{{"tool_use_id":"t","type":"tool_result","content":{},"is_error":true}}]}},"z":1}}"#,
                put('r')
            )
        );
        assert_eq!(taken[0].key, key);
        assert_eq!(taken[0].at.slice(line.as_bytes()), format!("\"{}\"", long('r')).as_bytes());
        assert_eq!(taken[0].placeholder, put('r').as_bytes());
    }
}

#[test]
fn two_texts_and_an_image_keep_their_places() {
    let line = format!(
        r#"{{"message":{{"content":[{{"type":"tool_result","content":[{{"type":"text","text":"{}"}},{{"type":"image","source":{{"data":"{}"}}}},{{"type":"text","text":"{}"}}]}}]}}}}"#,
        long('a'),
        long('i'),
        long('b')
    );
    let of = |n: usize| {
        let key = format!("message.content.0.content.{n}.text");
        item(&line, &key, Trigger::ToolResult, false)
    };
    let (left, taken) = left(&line, &[of(0), of(2)]);
    let left = left.unwrap();
    assert_eq!(left.matches("[[extracted-e]] ").count(), 2);
    assert!(left.contains(&long('i')) && !left.contains(&long('a')));
    assert_eq!(taken.len(), 2);
}

#[test]
fn thinking_goes_whole_and_what_stands_behind_moves_up() {
    let thought = format!(r#"{{"type":"thinking","thinking":"{}","signature":"s"}}"#, long('t'));
    let call = format!(
        r#"{{"type":"tool_use","id":"c","input":{{"command":"{}","n":[{{"deep":"{}"}}],"a.b":"{}","short":"x"}}}}"#,
        long('c'),
        long('d'),
        long('e')
    );
    let line = format!(r#"{{"message":{{"content":[{thought}, {call} ,{thought},{thought}]}}}}"#);
    let whole = |n: usize| item(&line, &format!("message.content.{n}"), Trigger::Thinking, true);
    let input = item(&line, "message.content.1.input", Trigger::ToolCall, false);
    let (left, taken) = left(&line, &[whole(0), input, whole(2), whole(3)]);
    let (command, deep) = (put('c'), put('d'));
    assert_eq!(
        left.unwrap(),
        format!(
            r#"{{"message":{{"content":[{{"type":"tool_use","id":"c","input":{{"command":{command},"n":[{{"deep":{deep}}}],"a.b":"{}","short":"x"}}}}]}}}}"#,
            long('e')
        )
    );
    let keys: Vec<&str> = taken.iter().map(|value| value.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "message.content.0",
            "message.content.0.input.command",
            "message.content.0.input.n.0.deep",
            "message.content.2",
            "message.content.3"
        ]
    );
    assert_eq!(taken[0].at.slice(line.as_bytes()), thought.as_bytes());
    assert!(taken[0].placeholder.is_empty());
}

#[test]
fn a_row_of_nothing_else_goes() {
    let line = format!(
        r#"{{"message":{{"content":[{{"type":"thinking","thinking":"{}","signature":"s"}}]}}}}"#,
        long('t')
    );
    let (left, taken) = left(&line, &[item(&line, "message.content.0", Trigger::Thinking, true)]);
    assert_eq!((left, taken.len()), (None, 1));
}

#[test]
fn what_lies_elsewhere_or_gains_nothing_stays() {
    let line =
        format!(r#"{{"message":{{"content":"{}"}},"toolUseResult":"{}"}}"#, long('a'), long('b'));
    let mut wrong = item(&line, "message.content", Trigger::User, false);
    wrong.span.end -= 1;
    assert_eq!(row(line.as_bytes(), &[wrong], "e"), None);
    let copy = item(&line, "toolUseResult", Trigger::ToolResult, false);
    assert_eq!(row(line.as_bytes(), &[copy], "e"), None);
    let short = r#"{"message":{"content":"short"}}"#;
    let value = item(short, "message.content", Trigger::User, false);
    assert_eq!(row(short.as_bytes(), &[value], "e"), None);
}

#[test]
fn keys_move_up_by_what_is_gone_before() {
    let of = |key| shifted(key, &[0, 2]);
    assert_eq!(of("message.content.1.input.x"), "message.content.0.input.x");
    assert_eq!(of("message.content.3"), "message.content.1");
    assert_eq!(of("message.content"), "message.content");
    assert_eq!(of("toolUseResult.3"), "toolUseResult.3");
    assert_eq!(shifted("message.content.1.text", &[]), "message.content.1.text");
}
