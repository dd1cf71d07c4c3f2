//! How many characters a JSON string holds, without decoding it.

use memchr::memchr;

/// Characters of a string, from its JSON with the quotes: an escape is one, a surrogate pair
/// is one.
pub fn count(json: &[u8]) -> u32 {
    let mut rest = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
    let mut chars = 0;
    while let Some(at) = memchr(b'\\', rest) {
        chars += plain(&rest[..at]) + 1;
        let escape = &rest[at..];
        let length = match unit(escape) {
            Some(high)
                if (0xd800..0xdc00).contains(&high)
                    && escape
                        .get(6..)
                        .and_then(unit)
                        .is_some_and(|low| (0xdc00..0xe000).contains(&low)) =>
            {
                12
            }
            Some(_) => 6,
            None => 2,
        };
        rest = escape.get(length..).unwrap_or_default();
    }
    (chars + plain(rest)) as u32
}

/// Characters of UTF-8 without escapes.
fn plain(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count()
}

/// The UTF-16 unit that `\uXXXX` is.
fn unit(escape: &[u8]) -> Option<u32> {
    let digits = escape.strip_prefix(b"\\u")?.get(..4)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
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
            assert_eq!(count(json.as_bytes()), chars, "{json}");
        }
    }

    proptest! {
        #[test]
        fn as_many_as_the_text_has(text in any::<String>(), ascii in any::<bool>()) {
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
            prop_assert_eq!(count(escaped.as_bytes()) as usize, text.chars().count());
        }
    }
}
