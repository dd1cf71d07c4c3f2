//! What a row must keep when another is put in its place: what other rows refer to, and the
//! shape that a client reads it by. A row that loses it breaks a session without a word.

use crate::transcript::span;

/// What ties a row to others, byte for byte.
const TIES: [&str; 12] = [
    "type",
    "id",
    "__id",
    "uuid",
    "parentId",
    "parentUuid",
    "timestamp",
    "firstKeptEntryId",
    "targetId",
    "fromId",
    "customType",
    "sessionId",
];

/// The same of its message.
const OF_MESSAGE: [&str; 5] = ["role", "toolCallId", "toolName", "isError", "id"];

/// Whether `new` may stand in the place of `old`: one line with the same line break, the same
/// ties, a message of the same shape that is not empty.
///
/// # Errors
/// What it loses.
pub fn kept(old: &[u8], new: &[u8]) -> Result<(), String> {
    let (old_row, new_row) = (without_break(old), without_break(new));
    if old[old_row.len()..] != new[new_row.len()..] || new_row.contains(&b'\n') {
        return Err("its line break".to_owned());
    }
    same(old_row, new_row, &TIES)?;
    let (Some(old), new) = (span::find(old_row, "message"), span::find(new_row, "message")) else {
        return Ok(());
    };
    let new = new.filter(|new| new.first() == old.first()).ok_or("its message")?;
    if !old.starts_with(b"{") {
        return Ok(());
    }
    same(old, new, &OF_MESSAGE)?;
    let Some(old) = span::find(old, "content") else { return Ok(()) };
    let new = span::find(new, "content").filter(|new| new.first() == old.first());
    let new = new.ok_or("its message's content")?;
    let mut items = Vec::new();
    if span::items(old, &mut items).is_some_and(|_| !items.is_empty()) {
        span::items(new, &mut items).ok_or("its message's content")?;
        if items.is_empty() {
            return Err("its message's last block".to_owned());
        }
    }
    Ok(())
}

fn without_break(row: &[u8]) -> &[u8] {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row)
}

fn same(old: &[u8], new: &[u8], names: &[&str]) -> Result<(), String> {
    let (mut of_old, mut of_new) = (Vec::new(), Vec::new());
    span::fields(old, &mut of_old).ok_or("its place: the row there is no JSON")?;
    span::fields(new, &mut of_new).ok_or("its shape: it is no JSON")?;
    let differs = |name: &&&str| span::get(old, &of_old, name) != span::get(new, &of_new, name);
    match names.iter().find(differs) {
        Some(name) => Err(format!("its {name}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"type":"message","id":"a5","parentId":"a4","timestamp":"t","message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"long"}],"isError":false}}"#;

    fn with(from: &str, to: &str) -> Result<(), String> {
        assert!(ROW.contains(from));
        kept(format!("{ROW}\n").as_bytes(), format!("{}\n", ROW.replace(from, to)).as_bytes())
    }

    #[test]
    fn a_text_may_change_and_marks_may_come() {
        assert_eq!(with("long", "[[extracted-a5]]"), Ok(()));
        assert_eq!(with("}}", r#"},"_restored":"2026-02-20T17:30:00Z"}"#), Ok(()));
        let flat = br#"{"type":"tool_result","__id":"m","message":"long"}"#;
        assert_eq!(kept(flat, br#"{"type":"tool_result","__id":"m","message":"[[e]]"}"#), Ok(()));
    }

    #[test]
    fn what_breaks_a_session_is_told() {
        for (from, to, lost) in [
            (r#""a5""#, r#""a6""#, "its id"),
            (r#""parentId":"a4","#, "", "its parentId"),
            (r#""toolCallId":"c","#, "", "its toolCallId"),
            (
                r#"[{"type":"text","text":"long"}]"#,
                r#""[[extracted-a5]]""#,
                "its message's content",
            ),
            (r#"[{"type":"text","text":"long"}]"#, "[]", "its message's last block"),
            ("}}", "}", "its shape: it is no JSON"),
            ("long", "lo\nng", "its line break"),
        ] {
            assert_eq!(with(from, to).unwrap_err(), lost, "{from} → {to}");
        }
        let message = &ROW[ROW.find(r#"{"role""#).unwrap()..ROW.len() - 1];
        assert_eq!(with(message, r#""[[extracted-a5]]""#).unwrap_err(), "its message");
        for (old, new) in [("\r\n", "\n"), ("\n", ""), ("", "\n")] {
            let row = |end: &str| format!("{ROW}{end}").into_bytes();
            assert_eq!(kept(&row(old), &row(new)).unwrap_err(), "its line break");
            assert_eq!(kept(&row(old), &row(old)), Ok(()));
        }
    }
}
