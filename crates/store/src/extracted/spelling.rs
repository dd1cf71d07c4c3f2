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

/// Bytes that it takes at most with its quote: an escape writes a character in six.
const SPELT: usize = 1 + 6 * BEGIN.len();

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
    let has = |json: &[u8], what| memmem::find(json, what).is_some();
    let may = |json: &[u8]| has(json, BEGIN.as_bytes()) || has(json, ESCAPE);
    let ours = match json.first()? {
        b'"' if may(&json[..json.len().min(SPELT)]) => {
            let text: String = serde_json::from_slice(json).ok()?;
            text.starts_with(BEGIN).then(|| json!(text))?
        }
        b'{' if may(json) => {
            let Block { kind, text } = serde_json::from_slice(json).ok()?;
            let is = kind == "text" && text.starts_with(BEGIN);
            is.then(|| json!({ "type": "text", "text": text }))?
        }
        _ => return None,
    };
    serde_json::to_vec(&ours).ok().filter(|ours| ours != json)
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
