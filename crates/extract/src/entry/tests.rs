//! Rows of every format, their values, and what is in the context.

mod context;
mod odd;

use super::*;

/// The entries of a file.
pub(crate) fn read(bytes: &[u8]) -> Vec<Entry> {
    let mut entries = Entries::default();
    for (n, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
        entries.row(n as u64, line);
    }
    entries.finish()
}

fn one(row: &str) -> Entry {
    let mut all = read(row.as_bytes());
    assert_eq!(all.len(), 1, "{row}");
    all.remove(0)
}

/// Key, type, characters, and `copy` or `whole` of each value.
fn told(entry: &Entry) -> Vec<String> {
    let values = entry.values.iter().map(|value| {
        let mark = |on: bool, word: &'static str| if on { word } else { "" };
        format!(
            "{} {} {}{}{}",
            value.key,
            value.trigger.name(),
            value.chars,
            mark(value.copy, " copy"),
            mark(value.whole, " whole")
        )
    });
    values.collect()
}

fn long(chars: usize) -> String {
    "x".repeat(chars)
}

#[test]
fn a_result_of_pi() {
    let text = long(600);
    let entry = one(&format!(
        r#"{{"type":"message","id":"c3d4e5f6","parentId":"b2","timestamp":"…","message":{{"role":"toolResult","toolCallId":"call_123","toolName":"exec","content":[{{"type":"text","text":"{text}"}},{{"type":"image","data":"{text}","mimeType":"image/png"}},{{"type":"text","text":"{text}!"}}],"details":{{"aggregated":"{text}","a":[{{"type":"image","data":"{text}"}},{{"b.c":"{text}","timestamp":"{text}"}}]}},"isError":true,"timestamp":1}}}}"#
    ));
    assert_eq!((entry.role, entry.tool.as_deref(), entry.error), (Role::Tool, Some("exec"), true));
    assert_eq!(
        told(&entry),
        [
            "message.content.0.text tool_result 600",
            "message.content.2.text tool_result 601",
            "message.details.aggregated tool_result 600 copy",
        ]
    );
    assert!(entry.values.iter().all(|value| value.tool.as_deref() == Some("exec")));
}

#[test]
fn a_message_of_pis_agent() {
    let text = long(600);
    let entry = one(&format!(
        r#"{{"type":"message","id":"b2c3d4e5","parentId":null,"_extractable":7,"_restored":"2026-02-20T18:30:00+01:00","message":{{"role":"assistant","content":[{{"type":"thinking","thinking":"{text}","thinkingSignature":"s=="}},{{"type":"thinking","thinking":"{text}","thinkingSignature":""}},{{"type":"text","text":"{text}"}},{{"type":"toolCall","id":"call_{text}","name":"write","arguments":{{"path":"/w","edits":["{text}",{{"new":"{text}"}}]}}}}],"model":"m"}}}}"#
    ));
    assert_eq!((entry.role, entry.tool.as_deref()), (Role::Assistant, None));
    assert_eq!(entry.extractable, Some(Extractable::After(7)));
    assert_eq!(entry.restored.unwrap().to_rfc3339(), "2026-02-20T17:30:00+00:00");
    assert_eq!(
        told(&entry),
        [
            "message.content.0 thinking 600 whole",
            "message.content.1.thinking thinking 600",
            "message.content.2.text assistant 600",
            "message.content.3.arguments.edits.0 tool_call 600",
            "message.content.3.arguments.edits.1.new tool_call 600",
        ]
    );
    let tools: Vec<_> = entry.values.iter().map(|value| value.tool.as_deref()).collect();
    assert_eq!(tools, [None, None, None, Some("write"), Some("write")]);
}

/// pi signs texts and calls, too: a text is extracted with its signature, signed arguments stay.
#[test]
fn signed_texts_and_calls_of_pi() {
    let text = long(600);
    let row = |signature: &str| {
        format!(
            r#"{{"type":"message","id":"a","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}","textSignature":{signature}}},{{"type":"toolCall","id":"c","name":"write","arguments":{{"content":"{text}"}},"thoughtSignature":{signature}}}]}}}}"#
        )
    };
    assert_eq!(told(&one(&row(r#""s==""#))), ["message.content.0 assistant 600 whole"]);
    for none in [r#""""#, "null"] {
        let parts = [
            "message.content.0.text assistant 600",
            "message.content.1.arguments.content tool_call 600",
        ];
        assert_eq!(told(&one(&row(none))), parts, "{none}");
    }
    let flat = |more: &str| format!(r#"{{"type":"assistant","__id":"a","text":"{text}"{more}}}"#);
    assert_eq!(told(&one(&flat(""))), ["text assistant 600"]);
    assert_eq!(told(&one(&flat(r#","textSignature":"s""#))), [""; 0]);
    let blocks = format!(
        r#"{{"type":"assistant","__id":"a","content":[{{"type":"text","text":"{text}","textSignature":"s"}},{{"type":"text","text":"{text}"}}]}}"#
    );
    assert_eq!(told(&one(&blocks)), ["content.1.text assistant 600"]);
    let claude = r#"{"type":"assistant","uuid":"a","message":{"role":"assistant","content":[{"type":"text","text":"T","textSignature":"s"}]}}"#;
    assert_eq!(told(&one(&claude.replace('T', &text))), [""; 0], "nothing would be left of it");
}

#[test]
fn other_rows_of_pi() {
    let text = long(200);
    for (row, role, values) in [
        (
            r#""type":"message","message":{"role":"user","content":"T"}"#,
            Role::User,
            &["message.content user 200"][..],
        ),
        (
            r#""type":"message","message":{"role":"user","content":[{"type":"text","text":"T"}]}"#,
            Role::User,
            &["message.content.0.text user 200"],
        ),
        (
            r#""type":"message","message":{"role":"toolResult","content":"T"}"#,
            Role::Tool,
            &["message.content tool_result 200"],
        ),
        (
            r#""type":"message","message":{"role":"bashExecution","command":"T","output":"T"}"#,
            Role::None,
            &["message.output tool_result 200"],
        ),
        (
            r#""type":"message","message":{"role":"bashExecution","output":"T","excludeFromContext":true}"#,
            Role::None,
            &["message.output tool_result 200 copy"],
        ),
        (
            r#""type":"message","message":{"role":"custom","content":"T"}"#,
            Role::None,
            &["message.content user 200"],
        ),
        (
            r#""type":"message","message":{"role":"compactionSummary","summary":"T"}"#,
            Role::None,
            &[],
        ),
        (
            r#""type":"custom_message","content":"T","details":{"a":"T"}"#,
            Role::None,
            &["content user 200", "details.a tool_result 200 copy"],
        ),
        (r#""type":"custom","data":{"a":"T"}"#, Role::None, &[]),
        (
            r#""type":"compaction","summary":"T","firstKeptEntryId":"T","details":{"a":"T"}"#,
            Role::None,
            &[],
        ),
        (r#""type":"branch_summary","summary":"T""#, Role::None, &[]),
        (r#""type":"session_info","name":"T""#, Role::None, &[]),
        (r#""type":"message","message":"T""#, Role::None, &[]),
        (
            r#""type":"message","message":{"role":"user","content":[{"type":"text","text":"T"}],"content":[{"type":"text","text":"T"}]}"#,
            Role::User,
            &[],
        ),
    ] {
        let entry = one(&format!(r#"{{"id":"a1",{}}}"#, row.replace('T', &text)));
        assert_eq!(
            (entry.role, told(&entry)),
            (role, values.iter().map(ToString::to_string).collect()),
            "{row}"
        );
    }
}

#[test]
fn rows_that_hold_no_entry() {
    for row in [
        r#"{"type":"session","version":3,"id":"3f2c1a44","cwd":"/w"}"#,
        r#"{"type":"message","message":{"role":"user","content":"of version 1"}}"#,
        r#"{"type":"message","id":"a1""#,
        r#"{"type":"message","id":"a1"} {"#,
        r#"{"type":"message","id":"","message":{}}"#,
        r#"{"id":7}"#,
        "[]",
        "no JSON",
        "",
        "\r\n",
    ] {
        assert_eq!(read(row.as_bytes()), [], "{row}");
    }
}

/// Flat rows. `__id` overrides `id`.
#[test]
fn flat_rows() {
    let text = long(500);
    let flat = |row: &str| one(&row.replace('T', &text));
    let skill = flat(
        r#"{"type":"tool_result","__id":"msg-123","message":{"role":"tool","content":"T"},"_extractable":false}"#,
    );
    assert_eq!((skill.id.as_str(), skill.role), ("msg-123", Role::Tool));
    assert_eq!(skill.extractable, Some(Extractable::Never));
    assert_eq!(told(&skill), ["message.content tool_result 500"]);
    let both = flat(
        r#"{"id":"b","__id":"a","type":"toolResult","name":"read","output":"T","content":"T","result":{"x":["T"]},"text":"T","data":"T","error":false}"#,
    );
    assert_eq!((both.id.as_str(), both.tool.as_deref(), both.error), ("a", Some("read"), false));
    assert_eq!(
        told(&both),
        ["output", "content", "result.x.0", "text", "data"]
            .map(|key| format!("{key} tool_result 500"))
    );
    let thinking = flat(
        r#"{"type":"thinking","id":"t","thinking":"T","parentId":"T","toolCallId":"T","timestamp":"T"}"#,
    );
    assert_eq!(
        (thinking.role, told(&thinking)),
        (Role::Assistant, vec!["thinking thinking 500".into()])
    );
    let call = flat(
        r#"{"type":"tool_call","id":"c","name":"write","arguments":{"path":"p","content":"T","type":"T"}}"#,
    );
    assert_eq!(told(&call), ["arguments.content tool_call 500"]);
    assert_eq!(call.values[0].tool.as_deref(), Some("write"));
    let user = flat(r#"{"type":"user","id":"u","message":"T","unknown":"T"}"#);
    assert_eq!(told(&user), ["message user 500"]);
    for row in [
        r#"{"type":"tool_result","id":"n","output":null,"content":""}"#,
        r#"{"type":"tool_result","id":"n"}"#,
    ] {
        assert_eq!(told(&one(row)), Vec::<String>::new());
    }
    let deep = format!(
        r#"{{"type":"tool_result","id":"d","data":{}"{text}"{}}}"#,
        r#"{"a":["#.repeat(100),
        "]}".repeat(100)
    );
    assert_eq!(told(&one(&deep)), Vec::<String>::new(), "too deep to look");
}

#[test]
fn rows_of_claude_code() {
    let text = long(300);
    let rows = [
        r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"T"},"uuid":"u1"}"#,
        r#"{"parentUuid":"u1","isSidechain":false,"message":{"id":"msg_1","role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"c2ln"}]},"type":"assistant","uuid":"a1"}"#,
        r#"{"parentUuid":"a1","isSidechain":false,"message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Write","input":{"file_path":"/w","content":"T"}}]},"type":"assistant","uuid":"a2"}"#,
        r#"{"parentUuid":"a2","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"T","is_error":true}]},"toolUseResult":{"stdout":"T","structuredPatch":[{"lines":["T"]}]},"uuid":"r1"}"#,
        r#"{"parentUuid":"a2","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":[{"type":"text","text":"T"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"T"}},{"type":"tool_reference","tool_name":"T"}]}]},"toolUseResult":"T","uuid":"r2"}"#,
        r#"{"parentUuid":"r2","isSidechain":false,"type":"user","isMeta":true,"message":{"role":"user","content":"T"},"uuid":"n1"}"#,
        r#"{"type":"attachment","parentUuid":"n1","attachment":{"type":"x","content":"T"},"content":"T","uuid":"x1"}"#,
        r#"{"type":"last-prompt","leafUuid":"x1","content":"T"}"#,
    ];
    let bytes = rows.map(|row| row.replace('T', &text)).join("\n");
    let entries = read(bytes.as_bytes());
    let seen: Vec<_> =
        entries.iter().map(|e| (e.row, e.role, e.continues, e.tool.as_deref(), e.error)).collect();
    let wrote = Some("Write");
    assert_eq!(
        seen,
        [
            (0, Role::User, false, None, false),
            (1, Role::Assistant, false, None, false),
            (2, Role::Assistant, true, None, false),
            (3, Role::Tool, false, wrote, true),
            (4, Role::Tool, false, wrote, false),
            (5, Role::None, false, None, false),
            (6, Role::None, false, None, false),
        ]
    );
    let values: Vec<_> = entries.iter().map(told).collect();
    let expected: [&[&str]; 7] = [
        &["message.content user 300"],
        &["message.content.0 thinking 300 whole"],
        &["message.content.0.input.content tool_call 300"],
        &[
            "message.content.0.content tool_result 300",
            "toolUseResult.stdout tool_result 300 copy",
            "toolUseResult.structuredPatch.0.lines.0 tool_result 300 copy",
        ],
        &["message.content.0.content.0.text tool_result 300", "toolUseResult tool_result 300 copy"],
        &["message.content user 300"],
        &[],
    ];
    assert_eq!(values, expected);
    assert_eq!(entries[3].values[0].tool.as_deref(), wrote);
}

/// A string that cannot get shorter is not a value, unless it looks like a placeholder: then the
/// ledger decides.
#[test]
fn short_values() {
    let flat = |text: &str| one(&format!(r#"{{"type":"tool_result","id":"a","output":"{text}"}}"#));
    assert_eq!(told(&flat(&long(97))), Vec::<String>::new());
    assert_eq!(told(&flat(&long(98))), ["output tool_result 98"]);
    assert_eq!(told(&flat("[[extracted-a]]")), ["output tool_result 15"]);
}
