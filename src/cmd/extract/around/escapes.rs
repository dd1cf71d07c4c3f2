//! JSON's escapes of characters that need none: no program that is known writes a letter or a
//! bracket so, but any may.

use memchr::memmem;

/// How one begins.
const ESCAPE: &[u8] = b"u00";

/// A text with the printable characters that are escaped in it in the place of their escapes,
/// however often these were escaped themselves; `None` where there is none.
pub fn plain(text: &[u8]) -> Option<Vec<u8>> {
    let mut plain: Option<Vec<u8>> = None;
    let mut from = 0;
    for at in memmem::find_iter(text, ESCAPE) {
        let Some(byte) = printable(text, at) else { continue };
        let before = text[from..at].iter().rposition(|byte| *byte != b'\\').map_or(0, |p| p + 1);
        let plain = plain.get_or_insert_with(|| Vec::with_capacity(text.len()));
        plain.extend_from_slice(&text[from..from + before]);
        plain.push(byte);
        from = at + ESCAPE.len() + 2;
    }
    if let Some(plain) = &mut plain {
        plain.extend_from_slice(&text[from..]);
    }
    plain
}

/// The printable ASCII character that an escape is of, whose `u` stands there.
fn printable(text: &[u8], at: usize) -> Option<u8> {
    let escaped = at > 0 && text[at - 1] == b'\\';
    let hex = text.get(at + ESCAPE.len()..at + ESCAPE.len() + 2).filter(|_| escaped)?;
    let byte = u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?;
    byte.is_ascii_graphic().then_some(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printable_is_put_in_its_place() {
        let plain =
            |text: &str| plain(text.as_bytes()).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(plain(r"a\u005b\u005Bb"), Some("a[[b".to_owned()));
        assert_eq!(plain(r"\\\\u0061\u0062"), Some("ab".to_owned()));
        assert_eq!(plain(r"\u003"), None);
        for other in [r"\u001b[0m", r"u005b", r"\u00e9", r"\u2028", r"\u00", "", r"\u00+1"] {
            assert_eq!(plain(other), None, "{other}");
        }
    }
}
