//! Placeholders in rows that another program read and wrote anew: with other escapes, blanks and
//! order of names it is the same text.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::json;

/// How one begins.
const BEGIN: &str = "[[extracted-";

/// How an escape of a character begins that needs none.
const ESCAPE: &[u8] = b"\\u00";

/// What stands in the place of a block that went whole. Names that stand twice are an error, and
/// so are others: then it is another block.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block<'j> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'j, str>,
    #[serde(borrow)]
    text: Cow<'j, str>,
}

/// The same as it is put there, for what may be a placeholder in another spelling.
pub fn ours(json: &[u8]) -> Option<Vec<u8>> {
    let has = |what: &[u8]| memmem::find(json, what).is_some();
    let ours = if json.strip_prefix(b"\"").is_some_and(begins) {
        serde_json::to_vec(&serde_json::from_slice::<String>(json).ok()?)
    } else if json.starts_with(b"{") && (has(BEGIN.as_bytes()) || has(ESCAPE)) {
        let Block { kind, text } = serde_json::from_slice(json).ok()?;
        if kind != "text" || !text.starts_with(BEGIN) {
            return None;
        }
        serde_json::to_vec(&json!({ "type": "text", "text": text }))
    } else {
        return None;
    };
    ours.ok().filter(|ours| ours != json)
}

/// Whether a string's JSON, behind its quote, begins as placeholders do.
fn begins(json: &[u8]) -> bool {
    let mut rest = json;
    BEGIN.bytes().all(|byte| {
        let (is, length) = match rest.strip_prefix(ESCAPE).and_then(|hex| hex.get(..2)) {
            Some(hex) => (hex.eq_ignore_ascii_case(format!("{byte:02x}").as_bytes()), 6),
            None => (rest.first() == Some(&byte), 1),
        };
        rest = rest.get(length..).unwrap_or_default();
        is
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_its_text() {
        let text = "[[extracted-é]] 2 KB. It begins: «a/b»";
        let string = serde_json::to_vec(text).unwrap();
        let block = serde_json::to_vec(&json!({ "type": "text", "text": text })).unwrap();
        let other = r#""[[extracted-\u00e9]] 2 KB. It begins: \u00aba\/b\u00bb""#;
        assert_eq!(ours(other.as_bytes()), Some(string.clone()));
        for odd in [r"\u005b\u005Bextracted-", r"[\u005bextr\u0061cted\u002d"] {
            let other = other.replace("[[extracted-", odd);
            assert_eq!(ours(other.as_bytes()), Some(string.clone()), "{odd}");
            let other = format!("{{\"type\":\"text\",\"text\":{other}}}");
            assert_eq!(ours(other.as_bytes()), Some(block.clone()), "{odd}");
        }
        for names in [["type", "text"], ["text", "type"]] {
            let value = |name: &str| if name == "type" { r#""text""# } else { other };
            let [one, two] = names.map(|name| format!("\"{name}\": {}", value(name)));
            let spaced = format!("{{{one}, {two}}}");
            assert_eq!(ours(spaced.as_bytes()), Some(block.clone()), "{spaced}");
        }
        assert_eq!((ours(&string), ours(&block)), (None, None), "they are that already");
    }

    #[test]
    fn nothing_else_is_one() {
        for json in [
            r#""see [[extracted-\u00e9]]""#,
            r#""\u00e9""#,
            r#""\u005b\u005bextracted_""#,
            r#""[[extracted\u00""#,
            r#"{"type":"text","text":"see [[extracted-\u00e9]]"}"#,
            r#"{"type":"thinking","text":"[[extracted-\u00e9]]"}"#,
            r#"{"type":"text","text":"[[extracted-\u00e9]]","more":1}"#,
            r#"{"type":"text","text":"[[extracted-\u00e9]]","text":"[[extracted-\u00e9]]"}"#,
            r#"["[[extracted-\u00e9]]"]"#,
            "",
        ] {
            assert_eq!(ours(json.as_bytes()), None, "{json}");
        }
    }
}
