use serde_json::{Value, json};

use super::splice::{apply, without};
use super::*;
use sessions::dialect::{Claude, Kind, Pi};

const ALL: [Level; 3] = [Level::Full, Level::Summary, Level::Omit];

fn fidelity(thinking: Level, tool_use: Level, tool_result: Level) -> Fidelity {
    Fidelity { thinking, tool_use, tool_result }
}

/// A round of Claude Code: thinking and a call, its result, thinking and the answer.
fn claude() -> Vec<String> {
    let assistant = |uuid: &str, id: &str, block: Value| {
        json!({"parentUuid": "p", "type": "assistant", "uuid": uuid, "timestamp": "2026-03-19T10:23:01.000Z",
            "message": {"id": id, "role": "assistant", "content": [block]}})
        .to_string()
    };
    vec![
        json!({"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Ask"}}).to_string(),
        assistant("a1", "m1", json!({"type": "thinking", "thinking": "Hm, é", "signature": "s=="})),
        assistant("a2", "m1", json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/w/a.rs"}})),
        r#"{"toolUseResult":{"durationMs":34.6},"sourceToolAssistantUUID":"a2","type":"user","uuid":"r1","timestamp":"2026-03-19T10:23:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"\n first | line\nsecond"},{"type":"image","source":{}}]}]}}"#.to_owned(),
        assistant("a3", "m2", json!({"type": "redacted_thinking", "data": "xyz"})),
        assistant("a4", "m2", json!({"type": "text", "text": "Answer"})),
    ]
}

/// The same round of pi.
fn pi() -> Vec<String> {
    vec![
        r#"{"type":"message","id":"u1","parentId":null,"timestamp":"2026-03-19T10:23:00.000Z","message":{"role":"user","content":"Ask"}}"#,
        r#"{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-03-19T10:23:01.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm, é","thinkingSignature":"s"},{"type":"toolCall","id":"t1","name":"exec","arguments":{"command":"ls"}}],"stopReason":"toolUse"}}"#,
        r#"{"type":"message","id":"r1","parentId":"a1","timestamp":"2026-03-19T10:23:02.000Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"exec","content":[{"type":"text","text":"out"}],"details":{"x":1},"isError":true,"timestamp":1}}"#,
        r#"{"type":"message","id":"a2","parentId":"r1","timestamp":"2026-03-19T10:23:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Answer"}]}}"#,
    ]
    .into_iter()
    .map(str::to_owned)
    .collect()
}

/// The rows that remain, `None` for a removed one.
fn seen(dialect: &dyn Dialect, rows: &[String], fidelity: Fidelity) -> Vec<Option<Value>> {
    let mut lens = Lens::new(dialect, rows.iter().map(String::as_bytes), fidelity, "3f:007".into());
    let mut scratch = Scratch::default();
    let left = rows.iter().map(|line| {
        let row = dialect.row(line.as_bytes(), &mut scratch);
        let left = lens.row(line.as_bytes(), &row)?;
        if let Cow::Borrowed(same) = left {
            assert_eq!(same, line.as_bytes());
        }
        Some(
            serde_json::from_slice(&left)
                .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&left))),
        )
    });
    left.collect()
}

fn content(row: Option<&Value>) -> Value {
    row.map_or(Value::Null, |row| row["message"]["content"].clone())
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn full_is_what_it_was() {
    for (dialect, rows) in [(&Claude as &dyn Dialect, claude()), (&Pi, pi())] {
        let left = seen(dialect, &rows, Fidelity::default());
        let same: Vec<Value> = rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
        assert_eq!(left.into_iter().flatten().collect::<Vec<_>>(), same);
    }
}

#[test]
fn thinking_becomes_a_reference_or_goes() {
    let left = seen(&Claude, &claude(), fidelity(Level::Summary, Level::Full, Level::Full));
    assert_eq!(
        content(left[1].as_ref()),
        json!([text("[thinking · 5 chars — inject(3f:007, thinking)]")])
    );
    assert_eq!(
        content(left[4].as_ref()),
        json!([text("[thinking · redacted — inject(3f:007, thinking)]")])
    );
    let left = seen(&Claude, &claude(), fidelity(Level::Omit, Level::Full, Level::Full));
    assert_eq!(
        left.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false, true, true, false, true]
    );
}

#[test]
fn a_result_stays_a_result_while_its_call_is_one() {
    let left = seen(&Claude, &claude(), fidelity(Level::Full, Level::Full, Level::Summary));
    let row = left[3].as_ref().unwrap();
    let summary = "[tool_result: 6 tokens, 34 ms, 1 picture, first | line — brain-guard inject 3f:007 --tool-result full]";
    let expected = json!([{"type": "tool_result", "tool_use_id": "t1", "content": summary}]);
    assert_eq!(row["message"]["content"], expected);
    assert_eq!(
        (&row["toolUseResult"], &row["sourceToolAssistantUUID"]),
        (&Value::Null, &json!("a2"))
    );
    assert_eq!(content(left[1].as_ref())[0]["signature"], "s==", "its message is as it was");
    let left = seen(&Claude, &claude(), fidelity(Level::Full, Level::Full, Level::Omit));
    assert_eq!(content(left[3].as_ref())[0]["content"], "[tool_result omitted]");
    let left = seen(&Pi, &pi(), fidelity(Level::Full, Level::Full, Level::Summary));
    let message = &left[2].as_ref().unwrap()["message"];
    let summary = "[tool_result: error, 1 tokens, 1000 ms, out — brain-guard inject 3f:007 --tool-result full]";
    assert_eq!((&message["content"], &message["details"]), (&json!([text(summary)]), &Value::Null));
    assert_eq!(message["toolCallId"], "t1");
}

#[test]
fn without_its_call_a_result_is_a_text_or_goes() {
    let left = seen(&Claude, &claude(), fidelity(Level::Full, Level::Summary, Level::Full));
    let call = "[tool_use: Read·a.rs — brain-guard inject 3f:007 --tool-use full]";
    assert_eq!(content(left[2].as_ref()), json!([text(call)]));
    let row = left[3].as_ref().unwrap();
    let told = json!([text("[tool_result: Read·a.rs]\n\n first | line\nsecond"), {"type": "image", "source": {}}]);
    assert_eq!(row["message"]["content"], told);
    assert_eq!((&row["isMeta"], &row["toolUseResult"]), (&json!(true), &Value::Null));
    assert_eq!(row["sourceToolAssistantUUID"], Value::Null);
    let line = row.to_string();
    let again = Claude.row(line.as_bytes(), &mut Scratch::default()).kind;
    assert_eq!(again, Kind::Notice, "it begins no round");
    let thinking = "[thinking · 5 chars — inject(3f:007, thinking)]";
    assert_eq!(content(left[1].as_ref()), json!([text(thinking)]), "its message changed");
    assert_eq!(content(left[4].as_ref())[0]["data"], "xyz", "this one has no call");
    let left = seen(&Claude, &claude(), fidelity(Level::Omit, Level::Omit, Level::Omit));
    assert_eq!(
        left.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false, false, false, false, true]
    );

    let left = seen(&Pi, &pi(), fidelity(Level::Full, Level::Summary, Level::Full));
    let told = left[2].as_ref().unwrap();
    assert_eq!(told["type"], "custom_message");
    assert_eq!(told["content"], json!([text("[tool_result (error): exec·ls]\nout")]));
    assert_eq!(
        (&told["id"], &told["parentId"], &told["message"]),
        (&json!("r1"), &json!("a1"), &Value::Null)
    );
    let left = seen(&Pi, &pi(), fidelity(Level::Omit, Level::Omit, Level::Omit));
    assert_eq!(left.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, true]);
}

#[test]
fn tools_of_the_service_go_with_their_results() {
    let row = r#"{"type":"assistant","uuid":"a","message":{"id":"m","role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]},{"type":"text","text":"Found"}]}}"#;
    let rows = [row.to_owned()];
    let left = |f| content(seen(&Claude, &rows, f)[0].as_ref());
    assert_eq!(left(fidelity(Level::Full, Level::Full, Level::Omit)).as_array().unwrap().len(), 3);
    let short = left(fidelity(Level::Full, Level::Summary, Level::Full));
    let served = "[web_search_tool_result — brain-guard inject 3f:007 --tool-result full]";
    assert_eq!(short[1], text(served));
    assert_eq!(left(fidelity(Level::Full, Level::Omit, Level::Omit)), json!([text("Found")]));
}

#[test]
fn words_always_stay_and_no_pair_goes_by_half() {
    for (dialect, rows) in [(&Claude as &dyn Dialect, claude()), (&Pi, pi())] {
        for thinking in ALL {
            for tool_use in ALL {
                for tool_result in ALL {
                    let f = fidelity(thinking, tool_use, tool_result);
                    let left = seen(dialect, &rows, f);
                    let all =
                        Value::from(left.into_iter().flatten().collect::<Vec<_>>()).to_string();
                    assert!(all.contains("Ask") && all.contains("Answer"), "{f:?}");
                    let calls = all.matches(r#""type":"tool_use""#).count()
                        + all.matches("toolCall\"").count();
                    let results =
                        all.matches("tool_use_id").count() + all.matches("toolCallId").count();
                    assert_eq!(
                        (calls, results),
                        if tool_use == Level::Full { (1, 1) } else { (0, 0) }
                    );
                    assert!(!all.contains(r#""content":[]"#), "{f:?}");
                }
            }
        }
    }
}

#[test]
fn fields_are_taken_out_with_their_commas() {
    let json = br#"{"a":1,"b":2,"c":3,"d":4}"#;
    let mut fields = Vec::new();
    span::fields(json, &mut fields);
    let cut =
        |names: &[&str]| String::from_utf8(apply(json, without(&fields, names, json, 0))).unwrap();
    assert_eq!(cut(&["a", "b"]), r#"{"c":3,"d":4}"#);
    assert_eq!(cut(&["b", "d"]), r#"{"a":1,"c":3}"#);
    assert_eq!(cut(&["c", "d", "x"]), r#"{"a":1,"b":2}"#);
    assert_eq!(cut(&["a", "d"]), r#"{"b":2,"c":3}"#);
}
