//! Placeholders in rows that another program rewrote: the same text with other escapes, whitespace
//! or field order.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::json;

/// How a placeholder begins.
const BEGIN: &str = "[[extracted-";

/// How an unnecessary escape begins.
const ESCAPE: &[u8] = b"\\u00";

/// The longest spelling of that beginning in bytes, with its quote: an escape takes six bytes.
const SPELT: usize = 1 + 6 * BEGIN.len();

/// The block that replaces a block extracted whole. Duplicate or other fields are errors: then it
/// is another block.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block<'j> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'j, str>,
    #[serde(borrow)]
    text: Cow<'j, str>,
}

/// Our spelling of JSON that may be a placeholder; `None` if it is none, or is spelled so already.
pub fn our_spelling(json: &[u8]) -> Option<Vec<u8>> {
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
        assert_eq!(our_spelling(other.as_bytes()), Some(string.clone()));
        for odd in [r"\u005b\u005Bextracted-", r"[\u005bextr\u0061cted\u002d"] {
            let other = other.replace("[[extracted-", odd);
            assert_eq!(our_spelling(other.as_bytes()), Some(string.clone()), "{odd}");
            let other = format!("{{\"type\":\"text\",\"text\":{other}}}");
            assert_eq!(our_spelling(other.as_bytes()), Some(block.clone()), "{odd}");
        }
        for names in [["type", "text"], ["text", "type"]] {
            let value = |name: &str| if name == "type" { r#""text""# } else { other };
            let [one, two] = names.map(|name| format!("\"{name}\": {}", value(name)));
            let spaced = format!("{{{one}, {two}}}");
            assert_eq!(our_spelling(spaced.as_bytes()), Some(block.clone()), "{spaced}");
        }
        assert_eq!(
            (our_spelling(&string), our_spelling(&block)),
            (None, None),
            "they are that already"
        );
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
            assert_eq!(our_spelling(json.as_bytes()), None, "{json}");
        }
    }
}
