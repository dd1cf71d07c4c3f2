//! Counts the characters of a JSON string without decoding it.

use memchr::memchr;

/// Characters of a string, from its JSON with the quotes. An escape, a surrogate pair and half a
/// pair are one each. `None` if it is not a string or has an invalid escape.
pub fn count(json: &[u8]) -> Option<u32> {
    let mut rest = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut chars = 0;
    loop {
        let (plain, escaped) = rest.split_at(memchr(b'\\', rest).unwrap_or(rest.len()));
        chars += plain.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        if escaped.is_empty() {
            return u32::try_from(chars).ok();
        }
        chars += 1;
        rest = escaped.get(escape(escaped)?..)?;
    }
}

/// Bytes of the next escape.
fn escape(rest: &[u8]) -> Option<usize> {
    match rest.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => {
            let high = (0xd800..0xdc00).contains(&unit(rest)?);
            let low = rest.get(6..).and_then(unit).filter(|low| (0xdc00..0xe000).contains(low));
            Some(if high && low.is_some() { 12 } else { 6 })
        }
        _ => None,
    }
}

/// The UTF-16 unit of `\uXXXX`.
fn unit(escape: &[u8]) -> Option<u32> {
    let digits = escape.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_one_character() {
        for (json, chars) in [
            (r#""""#, 0),
            (r#""a\"b\\""#, 4),
            (r#""\u00e9\/\n""#, 3),
            (r#""\ud83e\udd80!""#, 2),
            (r#""\ud83e!\udd80""#, 3),
            (r#""日本語🦀""#, 4),
            (r#""\ud83e""#, 1),
        ] {
            assert_eq!(count(json.as_bytes()), Some(chars), "{json}");
        }
    }

    #[test]
    fn what_is_no_string_has_no_characters() {
        for json in ["", "\"", "3", "\"a", r#""\x""#, r#""\u12""#, r#""\u+123""#, r#""\""#] {
            assert_eq!(count(json.as_bytes()), None, "{json}");
        }
    }

    proptest! {
        /// What the parser accepts is counted.
        #[test]
        fn sound_strings_are_counted(ahead in 0..140usize, pieces in prop::collection::vec(prop_oneof![Just("\\"), Just("u"), Just("d83e"), Just("\\ud83e"), Just("\\udd80"), Just("n"), Just("+"), Just("\t"), Just("é"), Just("\\\\")], 0..8)) {
            let json = format!("\"{}{}\"", "x".repeat(ahead), pieces.concat());
            let sound = serde_json::from_str::<&serde_json::value::RawValue>(&json).is_ok();
            prop_assert!(!sound || count(json.as_bytes()).is_some(), "{}", json);
        }

        #[test]
        fn as_many_as_the_text_has(ahead in 0..140usize, text in "[\\PC\n\"\\\\\t]{0,90}", ascii in any::<bool>()) {
            let text = "x".repeat(ahead) + &text;
            let json = serde_json::to_string(&text).unwrap();
            let escaped: String = json.chars().flat_map(|c| {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units);
                if c.is_ascii() || !ascii {
                    vec![c]
                } else {
                    units.iter().flat_map(|u| format!("\\u{u:04x}").chars().collect::<Vec<_>>()).collect()
                }
            }).collect();
            prop_assert_eq!(count(escaped.as_bytes()), Some(text.chars().count() as u32));
        }
    }
}
