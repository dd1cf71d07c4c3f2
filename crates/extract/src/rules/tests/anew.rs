//! What is different in a successor: it gets the same plan as its source.

use super::*;

fn claude(id: &str, parent: &str, kind: &str, more: &str, message: &str) -> String {
    let parent = if parent.is_empty() { "null".into() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"{kind}","uuid":"{id}","parentUuid":{parent},"isSidechain":false{more},"message":{message}}}"#
    )
}

fn asks(id: &str, parent: &str, more: &str, text: &str) -> String {
    claude(id, parent, "user", more, &format!(r#"{{"role":"user","content":"{text}"}}"#))
}

fn calls(id: &str, parent: &str, message: &str, call: &str, text: &str) -> String {
    let block = format!(
        r#"{{"type":"tool_use","id":"{call}","name":"exec","input":{{"command":"{text}"}}}}"#
    );
    claude(
        id,
        parent,
        "assistant",
        "",
        &format!(r#"{{"id":"{message}","role":"assistant","content":[{block}]}}"#),
    )
}

fn gives(id: &str, parent: &str, call: &str) -> String {
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"{call}","content":"short"}}"#);
    claude(id, parent, "user", "", &format!(r#"{{"role":"user","content":[{block}]}}"#))
}

fn at(rows: &[String]) -> Vec<(u32, bool)> {
    let entries = read(rows.join("\n").as_bytes());
    positions(&entries).iter().map(|at| (at.from_end, at.first)).collect()
}

/// Clients write results between the rows of a message; a successor has the rows together.
#[test]
fn a_message_is_as_old_as_its_first_row() {
    let (a, b) = (calls("a1", "u", "m", "t1", "one"), calls("a2", "r1", "m", "t2", "two"));
    let between =
        at(&[asks("u", "", "", "go"), a, gives("r1", "a1", "t1"), b, gives("r2", "a2", "t2")]);
    let (a, b) = (calls("a1", "u", "m", "t1", "one"), calls("a2", "a1", "m", "t2", "two"));
    let together =
        at(&[asks("u", "", "", "go"), a, b, gives("r1", "a2", "t1"), gives("r2", "r1", "t2")]);
    assert_eq!(between, [(3, true), (2, false), (1, false), (2, false), (0, false)]);
    assert_eq!(together, [(3, true), (2, false), (2, false), (1, false), (0, false)]);
}

/// In a successor the summary is a prompt.
#[test]
fn a_summary_is_the_first_message() {
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"u"}"#;
    let rows = |more: &str| {
        [
            asks("u", "", "", "go"),
            boundary.to_owned(),
            asks("s", "b", more, "This session is being continued"),
            asks("v", "s", "", "go on"),
        ]
    };
    let firsts = |rows: &[String]| -> Vec<String> {
        let entries = read(rows.join("\n").as_bytes());
        let at = positions(&entries);
        let firsts = entries.iter().zip(at).filter(|(_, at)| at.first);
        firsts.map(|(entry, _)| entry.id.clone()).collect()
    };
    assert_eq!(firsts(&rows(r#","isCompactSummary":true"#)), ["u", "s"]);
    // There, what was kept of the earlier conversation comes after it.
    let kept = r#""logicalParentUuid":"u","compactMetadata":{"preservedMessages":{"anchorUuid":"s","uuids":["u"]}}"#;
    let mut with = vec![asks("t", "", "", "begin")];
    with.extend(rows(r#","isCompactSummary":true"#));
    with[1] = asks("u", "t", "", "go");
    with[2] = with[2].replace(r#""logicalParentUuid":"u""#, kept);
    assert!(read(with.join("\n").as_bytes())[1].in_context, "it is kept");
    assert_eq!(firsts(&with), ["t", "s"]);
    assert_eq!(firsts(&rows("")[2..]), ["s"]);
}

/// A text that only its first words mark as the client's stays, because a placeholder begins with
/// other words.
#[test]
fn a_notice_by_its_words_is_no_value() {
    let text = "x".repeat(900);
    let values = |row: String| read(row.as_bytes())[0].values.len();
    assert_eq!(values(asks("u", "", "", &format!("<bash-stdout>{text}</bash-stdout>"))), 0);
    assert_eq!(values(asks("u", "", r#","isMeta":true"#, &text)), 1);
    assert_eq!(values(asks("u", "", "", &text)), 1);
}
