use serde_json::{Value, json};

use super::splice::{apply, without};
use super::*;
use sessions::dialect::Kind;

const ALL: [Level; 3] = [Level::Full, Level::Summary, Level::Omit];

fn fidelity(thinking: Level, tool_use: Level, tool_result: Level) -> Fidelity {
    Fidelity { thinking, tool_use, tool_result, ..Fidelity::default() }
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
        assistant("a1", "m1", json!({"type": "thinking", "thinking": "Hm, é ".repeat(40), "signature": "s=="})),
        assistant("a2", "m1", json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/w/a.rs"}})),
        r#"{"toolUseResult":{"durationMs":34.6},"sourceToolAssistantUUID":"a2","type":"user","uuid":"r1","timestamp":"2026-03-19T10:23:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"\n first | line\nsecond, and what the rest of this file says, which is more than its beginning"},{"type":"image","source":{}}]}]}}"#.to_owned(),
        assistant("a3", "m2", json!({"type": "redacted_thinking", "data": "xyz"})),
        assistant("a4", "m2", json!({"type": "text", "text": "Answer"})),
    ]
}

/// The rows that remain, `None` for a removed one.
fn seen(rows: &[String], fidelity: Fidelity) -> Vec<Option<Value>> {
    let mut lens = Lens::new(rows.iter().map(String::as_bytes), fidelity, "3f:007".into());
    let mut scratch = Scratch::default();
    let left = rows.iter().map(|line| {
        let row = Claude.row(line.as_bytes(), &mut scratch);
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
    let rows = claude();
    let left = seen(&rows, Fidelity::default());
    let same: Vec<Value> = rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(left.into_iter().flatten().collect::<Vec<_>>(), same);
}

const NOTE: &str = "[brain-guard] Left out of this round: 1 thinking block, about 70 tokens. Read it with: brain-guard show 3f:007 thinking";

/// Which rows remain.
fn stay(left: &[Option<Value>]) -> Vec<bool> {
    left.iter().map(Option::is_some).collect()
}

#[test]
fn thinking_goes_and_the_prompt_says_so() {
    let left = seen(&claude(), fidelity(Level::Summary, Level::Full, Level::Full));
    // Nobody can read the redacted one.
    assert_eq!(content(left[0].as_ref()), json!([text("Ask"), text(NOTE)]));
    assert_eq!(stay(&left), [true, false, true, true, false, true]);
    let left = seen(&claude(), fidelity(Level::Omit, Level::Full, Level::Full));
    assert_eq!(content(left[0].as_ref()), "Ask");
    assert_eq!(stay(&left), [true, false, true, true, false, true]);
}

#[test]
fn the_note_is_nobodys_words() {
    assert!(Claude.said(NOTE).is_none());
    let f = fidelity(Level::Summary, Level::Full, Level::Full);
    let prompt = |content: Value| {
        let mut rows = claude();
        rows[0] =
            json!({"type": "user", "uuid": "u1", "message": {"role": "user", "content": content}})
                .to_string();
        seen(&rows, f)[0].clone().unwrap()
    };
    let two = prompt(json!([{"type": "image", "source": {}}, text("Ask")]));
    assert_eq!(two["message"]["content"][2], text(NOTE));
    let kind = Claude.row(two.to_string().as_bytes(), &mut Scratch::default()).kind;
    assert_eq!(kind, Kind::Prompt);
    // With a note, it would no longer begin a round.
    let image = prompt(json!([{"type": "image", "source": {}}]));
    assert_eq!(image["message"]["content"].as_array().unwrap().len(), 1);
    let left = seen(&claude()[1..], f);
    assert_eq!(stay(&left), [false, true, true, false, true], "a round without a prompt");
}

#[test]
fn thinking_that_is_shorter_than_its_note_stays() {
    let mut rows = claude();
    rows[1] = rows[1].replace(&"Hm, é ".repeat(40), "Hm");
    let left = seen(&rows, fidelity(Level::Summary, Level::Full, Level::Full));
    assert_eq!(stay(&left), [true; 6]);
    assert_eq!(content(left[0].as_ref()), "Ask");
}

#[test]
fn a_result_stays_a_result_while_its_call_is_one() {
    let left = seen(&claude(), fidelity(Level::Full, Level::Full, Level::Summary));
    let row = left[3].as_ref().unwrap();
    let summary = "[tool_result: 23 tokens, 34 ms, 1 image, first | line — brain-guard show 3f:007 --tool-result full]";
    let expected = json!([{"type": "tool_result", "tool_use_id": "t1", "content": summary}]);
    assert_eq!(row["message"]["content"], expected);
    assert_eq!(
        (&row["toolUseResult"], &row["sourceToolAssistantUUID"]),
        (&Value::Null, &json!("a2"))
    );
    assert_eq!(content(left[1].as_ref())[0]["signature"], "s==", "its message is as it was");
    let left = seen(&claude(), fidelity(Level::Full, Level::Full, Level::Omit));
    assert_eq!(content(left[3].as_ref())[0]["content"], "[tool_result omitted]");
}

#[test]
fn a_result_that_would_get_longer_stays() {
    let mut rows = claude();
    rows[3] = r#"{"type":"user","uuid":"r1","toolUseResult":{"stdout":"12 files"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"12 files ok"}]}}"#.to_owned();
    for level in ALL {
        let left = seen(&rows, fidelity(Level::Full, Level::Full, level));
        assert_eq!(
            left[3].as_ref().unwrap().to_string(),
            serde_json::from_str::<Value>(&rows[3]).unwrap().to_string()
        );
    }
}

#[test]
fn a_call_keeps_the_beginnings_of_its_long_values() {
    let long = "let é = \"x\";\n".repeat(20);
    let input =
        json!({"file_path": "/w/a.rs", "edits": [{"new_string": long, "all": true}], "x": null});
    let short = format!(
        "{}… (260 characters; brain-guard show 3f:007)",
        long.chars().take(80).collect::<String>()
    );
    let expected =
        json!({"file_path": "/w/a.rs", "edits": [{"new_string": short, "all": true}], "x": null});
    let mut rows = claude();
    rows[2] = rows[2].replace(r#"{"file_path":"/w/a.rs"}"#, &input.to_string());
    let f = fidelity(Level::Full, Level::Summary, Level::Full);
    let left = seen(&rows, f);
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": expected}]);
    assert_eq!(content(left[2].as_ref()), call);
    // Its message changed, so the signature no longer holds. The other one has no call.
    assert_eq!(stay(&left), [true, false, true, true, true, true]);
    assert_eq!(content(left[0].as_ref()), json!([text("Ask"), text(NOTE)]));
    let same: Value = serde_json::from_str(&rows[3]).unwrap();
    assert_eq!(left[3].as_ref(), Some(&same), "its result");
    let left = seen(&claude(), f);
    assert_eq!(stay(&left), [true; 6], "nothing is long");
    assert_eq!(content(left[0].as_ref()), "Ask");
}

#[test]
fn values_are_cut_only_where_that_helps() {
    let cut = |json: &str| {
        let short = words::shortened(json.as_bytes(), "3f:007");
        short.map(|json| String::from_utf8(json).unwrap())
    };
    let text = |n| "ü".repeat(n);
    assert_eq!(cut(&format!(r#"{{"a":"{}"}}"#, text(120))), None);
    // The note has 45 characters.
    assert_eq!(cut(&format!(r#"{{"a":"{}"}}"#, "u".repeat(125))), None);
    let expected = format!(
        r#"{{"a":"{}… (1,000 characters; brain-guard show 3f:007)","b":"\"{{"}}"#,
        text(80)
    );
    assert_eq!(cut(&format!(r#"{{"a":"{}","b":"\"{{"}}"#, text(1_000))), Some(expected));
    assert_eq!(cut(&format!(r#"{{"{}" : 1}}"#, text(1_000))), None, "a name");
    assert_eq!(cut("{}"), None);
}

#[test]
fn omitted_calls_take_their_results_along() {
    for level in ALL {
        let left = seen(&claude(), fidelity(Level::Summary, Level::Omit, level));
        assert_eq!(stay(&left), [true, false, false, false, false, true]);
        assert_eq!(content(left[0].as_ref()), json!([text("Ask"), text(NOTE)]));
    }
    // A text beside results stays, and begins no round.
    let mut rows = claude();
    rows[3] = rows[3].replace(
        r#"{"type":"tool_result""#,
        r#"{"type":"text","text":"wait"},{"type":"tool_result""#,
    );
    let left = seen(&rows, fidelity(Level::Omit, Level::Omit, Level::Full));
    let row = left[3].as_ref().unwrap();
    assert_eq!(
        (&row["message"]["content"], &row["isMeta"]),
        (&json!([text("wait")]), &json!(true))
    );
    assert_eq!(Claude.row(row.to_string().as_bytes(), &mut Scratch::default()).kind, Kind::Notice);
}

#[test]
fn messages_become_one_where_only_calls_were_between_them() {
    let mut rows = claude();
    let look = |uuid: &str| {
        rows[5]
            .replace("Answer", "I look")
            .replace("\"m2\"", "\"m1\"")
            .replace("\"a4\"", &format!("\"{uuid}\""))
    };
    let first = look("a0");
    rows.insert(1, first);
    rows[5] = rows[2].replace("\"m1\"", "\"m2\"").replace("\"a1\"", "\"a3\"");
    let f = fidelity(Level::Full, Level::Omit, Level::Full);
    let ids = |rows: &[String]| -> Vec<(String, String)> {
        let left = seen(rows, f).into_iter().flatten();
        let agents = left.filter(|row| row["type"] == "assistant");
        let words = |row: &Value| row["message"]["content"][0]["text"].as_str().unwrap().to_owned();
        agents.map(|row| (row["message"]["id"].as_str().unwrap().to_owned(), words(&row))).collect()
    };
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    // Both changed, and keep no thinking.
    assert_eq!(ids(&rows), [pair("m1", "I look"), pair("m1", "Answer")]);
    let words = json!({"type": "user", "uuid": "n", "isMeta": true, "message": {"role": "user", "content": "Go on"}});
    rows.insert(5, words.to_string());
    let left = seen(&rows, f);
    assert_eq!(content(left[6].as_ref())[0]["signature"], "s==", "a message of its own");
    assert_eq!(left[7].as_ref().unwrap()["message"]["id"], "m2");
}

#[test]
fn tools_of_the_service_go_with_their_results() {
    let row = r#"{"type":"assistant","uuid":"a","message":{"id":"m","role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"LONG"}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]},{"type":"text","text":"Found"}]}}"#;
    let rows = [row.replace("LONG", &"x".repeat(500))];
    let left = |f| content(seen(&rows, f)[0].as_ref());
    let whole = content(Some(&serde_json::from_str(&rows[0]).unwrap()));
    assert_eq!(left(fidelity(Level::Full, Level::Full, Level::Omit)), whole);
    assert_eq!(left(fidelity(Level::Full, Level::Summary, Level::Omit)), whole);
    assert_eq!(left(fidelity(Level::Full, Level::Omit, Level::Full)), json!([text("Found")]));
}

#[test]
fn words_always_stay_and_no_pair_goes_by_half() {
    for thinking in ALL {
        for tool_use in ALL {
            for tool_result in ALL {
                let f = fidelity(thinking, tool_use, tool_result);
                let left = seen(&claude(), f);
                let all = Value::from(left.into_iter().flatten().collect::<Vec<_>>()).to_string();
                assert!(all.contains("Ask") && all.contains("Answer"), "{f:?}");
                let calls = all.matches(r#""type":"tool_use""#).count();
                let results = all.matches("tool_use_id").count();
                let expected = if tool_use == Level::Omit { (0, 0) } else { (1, 1) };
                assert_eq!((calls, results), expected);
                assert!(!all.contains(r#""content":[]"#), "{f:?}");
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
