//! The text of a raw JSON value as people read it, and its beginning without the rest. Nothing fails:
//! half a surrogate pair or invalid UTF-8 reads as U+FFFD.

use std::borrow::Cow;

use sessions::span;

/// The most bytes of JSON for one character: two escapes, `\ud83e\udd80`.
const WIDEST: usize = 12;

/// The text of a value: a string's content, a block's `thinking` or `text`, otherwise its JSON.
pub fn from_json(json: &[u8]) -> Cow<'_, str> {
    match inner(json) {
        Some(raw) => decode(raw),
        None => String::from_utf8_lossy(json),
    }
}

/// Whether there is text to show; a block without text has only its JSON.
pub fn has_text(json: &[u8]) -> bool {
    inner(json).is_some_and(|raw| !raw.is_empty()) || json.first() != Some(&b'{')
}

/// The first characters of the text, without reading the rest. `true` if they are the whole text.
pub fn beginning(json: &[u8], characters: usize) -> (String, bool) {
    let (raw, escaped) = inner(json).map_or((json, false), |raw| (raw, true));
    // Usually enough bytes, and always enough: only text after the characters is cut there.
    for bytes in [2 * (characters + WIDEST), (characters + 2) * WIDEST, raw.len()] {
        let is_all = bytes >= raw.len();
        let text = read(&raw[..bytes.min(raw.len())], escaped);
        if is_all || text.chars().nth(characters + WIDEST).is_some() {
            let end = at(&text, characters);
            return (text[..end].to_owned(), is_all && end == text.len());
        }
    }
    (String::new(), true)
}

/// Text, from the bytes between quotes or, if not `escaped`, from other JSON.
fn read(raw: &[u8], escaped: bool) -> Cow<'_, str> {
    if escaped { decode(raw) } else { String::from_utf8_lossy(raw) }
}

/// Where the character with that index begins; the text's end if it has fewer.
fn at(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

/// The bytes between the quotes of the text.
fn inner(json: &[u8]) -> Option<&[u8]> {
    let string = match json.first()? {
        b'"' => json,
        b'{' => span::find(json, "thinking").or_else(|| span::find(json, "text"))?,
        _ => return None,
    };
    string.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// A string's content, from the bytes between its quotes.
fn decode(raw: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', raw).is_none() {
        return String::from_utf8_lossy(raw);
    }
    let (mut text, mut rest) = (String::with_capacity(raw.len()), raw);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        text.push_str(&String::from_utf8_lossy(&rest[..at]));
        let (c, length) = escape(&rest[at + 1..]);
        text.push(c);
        rest = &rest[at + 1 + length..];
    }
    text.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(text)
}

/// The character of an escape and its length, from the bytes after the backslash.
fn escape(rest: &[u8]) -> (char, usize) {
    let simple = match rest.first() {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => {
            return unit(rest).map_or((char::REPLACEMENT_CHARACTER, 1), |first| pair(first, rest));
        }
        Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
        _ => return (char::REPLACEMENT_CHARACTER, 0),
    };
    (simple, 1)
}

/// The character that begins with the unit `first`, and the length of its escapes.
fn pair(first: u16, rest: &[u8]) -> (char, usize) {
    let second = rest.get(5).filter(|b| **b == b'\\').and_then(|_| unit(&rest[6..]));
    let read = |units: &[u16]| char::decode_utf16(units.iter().copied()).next()?.ok();
    if let Some(c) = read(&[first]) {
        return (c, 5);
    }
    match second.and_then(|second| read(&[first, second])) {
        Some(c) => (c, 11),
        None => (char::REPLACEMENT_CHARACTER, 5),
    }
}

/// The UTF-16 unit of `uXXXX`.
fn unit(rest: &[u8]) -> Option<u16> {
    let digits = rest.strip_prefix(b"u")?.get(..4)?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_blocks_and_everything_else_are_read() {
        let read = |json: &'static str| from_json(json.as_bytes()).into_owned();
        assert_eq!(read(r#""a\n\"b\" \u00e9 \/ \\ é""#), "a\n\"b\" é / \\ é");
        assert_eq!(read(r#""\ud83e\udd80""#), "🦀");
        assert_eq!(
            read(r#""\ud83e! \udd80 \ud83ex \u12""#),
            "\u{fffd}! \u{fffd} \u{fffd}x \u{fffd}12"
        );
        assert_eq!(read(r#"{"type":"thinking","thinking":"hm\n","signature":"s"}"#), "hm\n");
        assert_eq!(read(r#"{"type":"text","text":"t"}"#), "t");
        assert_eq!(read(r#"{"command":"ls \"a\""}"#), r#"{"command":"ls \"a\""}"#);
        assert_eq!(read("[1]"), "[1]");
        assert_eq!(from_json(b"\"a\xffb\\"), "\"a\u{fffd}b\\");
    }

    #[test]
    fn a_beginning_is_never_cut_through_a_character() {
        for (one, text) in [
            (r"\ud83e\udd80", "🦀"),
            (r"\\", "\\"),
            (r#"\""#, "\""),
            (r"\u00e9", "é"),
            ("日", "日"),
            (r"\n", "\n"),
            ("a", "a"),
        ] {
            for shift in 0..WIDEST {
                let json = format!(r#""{}{}z""#, "-".repeat(shift), one.repeat(5000));
                let begins = format!("{}{}", "-".repeat(shift), text.repeat(20 - shift));
                assert_eq!(beginning(json.as_bytes(), 20), (begins, false), "{one} {shift}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_text_reads_as_serde_reads_it(text in any::<String>(), more in "[\\\\\"a🦀\n]{0,80}", head in 0..12_usize) {
            let text = format!("{text}{more}");
            let json = serde_json::to_vec(&text).unwrap();
            // Another writer may escape every character.
            let units: Vec<String> =
                text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let escaped = format!("\"{}\"", units.concat());
            for json in [&json, escaped.as_bytes()] {
                prop_assert_eq!(from_json(json), text.as_str());
                let (first, whole) = beginning(json, head);
                prop_assert_eq!(first, text.chars().take(head).collect::<String>());
                prop_assert_eq!(whole, text.chars().count() <= head);
            }
        }

        #[test]
        fn no_bytes_are_too_broken(bytes in prop::collection::vec(any::<u8>(), 0..300), head in 0..9_usize) {
            let _ = beginning(&bytes, head);
            let quoted = [b"\"", &bytes[..], b"\""].concat();
            prop_assert!(beginning(&quoted, head).0.chars().count() <= head);
            let _ = from_json(&quoted);
        }
    }
}
