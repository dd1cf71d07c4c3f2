//! Which entries are in the model's context.

use super::*;
use testing::RECORDED;

fn in_context(entries: &[Entry]) -> Vec<&str> {
    entries.iter().filter(|entry| entry.in_context).map(|entry| entry.id.as_str()).collect()
}

/// Rows of pi: id, parent, and more fields.
fn chain(rows: &[(&str, &str, &str)]) -> Vec<Entry> {
    let lines = rows.iter().map(|(id, parent, more)| {
        let parent = if *parent == "-" { "null".into() } else { format!("{parent:?}") };
        let kind = if more.contains("\"type\"") { "" } else { r#""type":"message","# };
        format!(r#"{{{kind}"id":"{id}","parentId":{parent}{more}}}"#) + "\n"
    });
    read(lines.collect::<String>().as_bytes())
}

#[test]
fn a_branch_that_was_left_is_not_in_the_context() {
    let entries =
        chain(&[("a", "-", ""), ("b", "a", ""), ("c", "b", ""), ("d", "a", ""), ("e", "d", "")]);
    assert_eq!(in_context(&entries), ["a", "d", "e"]);
    let lost = chain(&[("a", "-", ""), ("b", "gone", ""), ("c", "b", "")]);
    assert_eq!(in_context(&lost), ["b", "c"], "a parent that isn't there ends the context");
    let round = chain(&[("a", "c", ""), ("b", "a", ""), ("c", "b", "")]);
    assert_eq!(in_context(&round), ["a", "b", "c"]);
}

/// Client fact: a row whose parent is missing begins the conversation.
#[test]
fn a_row_of_claude_code_whose_parent_is_not_there_begins_anew() {
    let row = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"message":{{"role":"user","content":"{id}"}}}}"#
        ) + "\n"
    };
    let rows = [
        row("a", "null"),
        row("b", r#""a""#),
        row("left", r#""a""#),
        row("back", r#""b""#),
        "{\"type\":\"user\",\"uu\n".to_owned(),
        row("c", r#""gone""#),
        row("d", r#""c""#),
    ];
    assert_eq!(in_context(&read(rows.concat().as_bytes())), ["c", "d"]);
    let back = rows[..4].concat();
    assert_eq!(in_context(&read(back.as_bytes())), ["a", "b", "back"]);
    let begun = [&rows[0], &rows[1], &row("new", "null")].map(String::as_str).concat();
    assert_eq!(in_context(&read(begun.as_bytes())), ["new"], "a root begins anew");
    let summary =
        row("sum", r#""torn""#).replacen(r#""uuid""#, r#""isCompactSummary":true,"uuid""#, 1);
    let compacted = rows[..2].concat() + &summary + &row("on", r#""sum""#);
    assert_eq!(in_context(&read(compacted.as_bytes())), ["sum", "on"], "its boundary is torn");
}

#[test]
fn a_compaction_says_what_is_in_the_context() {
    let rows = |kept: &'static str| {
        [("a", "-", ""), ("b", "a", ""), ("c", "b", ""), ("k", "c", kept), ("d", "k", "")]
    };
    let kept = chain(&rows(r#","type":"compaction","firstKeptEntryId":"b""#));
    assert_eq!(in_context(&kept), ["b", "c", "k", "d"]);
    for none in [
        r#","type":"compaction","firstKeptEntryId":"gone""#,
        r#","type":"compaction""#,
        r#","type":"reset""#,
    ] {
        assert_eq!(in_context(&chain(&rows(none))), ["k", "d"], "{none}");
    }
}

#[test]
fn an_id_that_two_rows_have_names_neither() {
    let text = long(200);
    let row =
        |id: &str| format!(r#"{{"type":"tool_result","id":"{id}","output":"{text}"}}"#) + "\n";
    let entries = read([row("a"), row("b"), row("a")].concat().as_bytes());
    let of = |what: fn(&Entry) -> usize| entries.iter().map(what).collect::<Vec<_>>();
    assert_eq!(of(|e| e.values.len()), [0, 1, 0]);
    assert_eq!(of(|e| e.shared as usize), [1, 0, 1]);
}

/// The entries of recorded sessions that are in the context.
#[test]
fn recorded_sessions() {
    let of = |name: &str| read(RECORDED.iter().find(|(known, _)| *known == name).unwrap().1);
    let pi = of("pi");
    let kept: Vec<_> = in_context(&pi).iter().map(|id| &id[6..]).collect();
    assert_eq!(kept, ["07", "11", "12", "13", "14", "15", "16", "17", "18", "19"]);
    assert_eq!(pi.iter().filter(|entry| entry.role != Role::None).count(), 11);
    // Of parallel calls, one result has no children.
    let parallel = of("parallel");
    assert!(parallel.iter().filter(|e| e.role == Role::Tool).all(|e| e.in_context));
    let rewound = of("rewound");
    assert!(rewound.iter().any(|e| e.role == Role::User && !e.in_context));
    let compacted = of("compaction");
    let first = compacted.iter().position(|e| e.in_context).unwrap();
    assert!(first > 0 && compacted[first..].iter().filter(|e| e.in_context).count() > 10);
}
