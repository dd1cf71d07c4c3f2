//! What a row must keep when it is replaced: what other rows refer to, and the shape that clients
//! read it by. A row without them silently breaks a session.

use crate::span::Cursor;

/// Fields that tie a row to others, compared byte for byte.
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

/// The same for its message.
const OF_MESSAGE: [&str; 5] = ["role", "toolCallId", "toolName", "isError", "id"];

/// What a row would lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its {0}")]
pub struct LostPart(&'static str);

/// Whether `new` may replace `old`: one line with the same line break, the same ties, and a message
/// of the same shape that is not empty.
pub fn kept(old: &[u8], new: &[u8]) -> Result<(), LostPart> {
    let (old_row, new_row) = (without_break(old), without_break(new));
    if old[old_row.len()..] != new[new_row.len()..] || memchr::memchr(b'\n', new_row).is_some() {
        return Err(LostPart("line break"));
    }
    let old = Shape::of(old_row).ok_or(LostPart("place: the row there is no JSON"))?;
    let new = Shape::of(new_row).ok_or(LostPart("shape: it is no JSON"))?;
    let differs = |n: &usize| old.ties[*n] != new.ties[*n];
    if let Some(n) = (0..TIES.len()).find(differs) {
        return Err(LostPart(TIES[n]));
    }
    if old.message.is_some() && old.message != new.message {
        return Err(LostPart("message"));
    }
    if old.message != Some(b'{') {
        return Ok(());
    }
    let differs = |n: &usize| old.of_message[*n] != new.of_message[*n];
    if let Some(n) = (0..OF_MESSAGE.len()).find(differs) {
        return Err(LostPart(OF_MESSAGE[n]));
    }
    if old.content.is_some() && old.content != new.content {
        return Err(LostPart("message's content"));
    }
    if old.filled && !new.filled {
        return Err(LostPart("message's last block"));
    }
    Ok(())
}

fn without_break(row: &[u8]) -> &[u8] {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row)
}

/// The parts of a row that must stay, found in one pass. Of a name that occurs twice, the first
/// counts.
#[derive(Default)]
struct Shape<'a> {
    ties: [Option<&'a [u8]>; TIES.len()],
    of_message: [Option<&'a [u8]>; OF_MESSAGE.len()],
    /// The first byte of the message, and of its content.
    message: Option<u8>,
    content: Option<u8>,
    /// The content is an array that is not empty.
    filled: bool,
}

impl<'a> Shape<'a> {
    /// `None` if the row is not an object.
    fn of(row: &'a [u8]) -> Option<Self> {
        let (mut shape, mut cursor) = (Self::default(), Cursor::new(row));
        let mut more = cursor.enter(b'{')?;
        while more {
            let name = cursor.name()?.slice(row);
            if name == b"message" && shape.message.is_none() {
                shape.message = cursor.peek();
                if shape.message == Some(b'{') {
                    shape.message(&mut cursor, row)?;
                } else {
                    cursor.value()?;
                }
            } else {
                let value = cursor.value()?.slice(row);
                keep(&TIES, &mut shape.ties, name, value);
            }
            more = cursor.more(b'}')?;
        }
        cursor.ended().then_some(shape)
    }

    fn message(&mut self, cursor: &mut Cursor, row: &'a [u8]) -> Option<()> {
        let mut more = cursor.enter(b'{')?;
        while more {
            let name = cursor.name()?.slice(row);
            let begins = cursor.peek();
            let value = cursor.value()?.slice(row);
            if name == b"content" && self.content.is_none() {
                self.content = begins;
                self.filled = begins == Some(b'[') && Cursor::new(value).enter(b'[')?;
            } else {
                keep(&OF_MESSAGE, &mut self.of_message, name, value);
            }
            more = cursor.more(b'}')?;
        }
        Some(())
    }
}

/// Stores a value under its name, if it is one of `names` and has none yet.
fn keep<'a>(names: &[&str], values: &mut [Option<&'a [u8]>], name: &[u8], value: &'a [u8]) {
    if let Some(n) = names.iter().position(|known| known.as_bytes() == name) {
        values[n].get_or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"type":"message","id":"a5","parentId":"a4","timestamp":"t","message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"long"}],"isError":false}}"#;

    fn with(from: &str, to: &str) -> Result<(), LostPart> {
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
            assert_eq!(with(from, to).unwrap_err().to_string(), lost, "{from} → {to}");
        }
        let message = &ROW[ROW.find(r#"{"role""#).unwrap()..ROW.len() - 1];
        assert_eq!(with(message, r#""[[extracted-a5]]""#), Err(LostPart("message")));
        for (old, new) in [("\r\n", "\n"), ("\n", ""), ("", "\n")] {
            let row = |end: &str| format!("{ROW}{end}").into_bytes();
            assert_eq!(kept(&row(old), &row(new)), Err(LostPart("line break")));
            assert_eq!(kept(&row(old), &row(old)), Ok(()));
        }
    }
}
