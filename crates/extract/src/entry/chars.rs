//! How many characters a JSON string holds, without decoding it, and whether it is one.

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Characters of a string, from its JSON with the quotes: an escape is one, a surrogate pair
/// is one, half of one, too. `None` where it is no sound JSON: a control character, an escape
/// that there isn't, bytes that are no UTF-8.
pub fn count(json: &[u8]) -> Option<u32> {
    let inner = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut seen = Seen { inner, chars: inner.len(), ascii: true, behind: 0 };
    let (mut rest, mut begin) = (inner, 0);
    while let Some(block) = rest.first_chunk() {
        seen.block(begin, block)?;
        (rest, begin) = (&rest[BLOCK..], begin + BLOCK);
    }
    let mut last = [b' '; BLOCK + 1];
    last[..rest.len()].copy_from_slice(rest);
    seen.block(begin, &last)?;
    let sound = seen.ascii || std::str::from_utf8(inner).is_ok();
    sound.then(|| u32::try_from(seen.chars).ok())?
}

/// What was seen of a string, up to some block.
struct Seen<'a> {
    inner: &'a [u8],
    /// Its characters, as far as is known.
    chars: usize,
    ascii: bool,
    /// Behind the last escape.
    behind: usize,
}

impl Seen<'_> {
    /// Looks at the block that begins at `begin`; behind it stands the byte that comes next.
    #[inline]
    fn block(&mut self, begin: usize, bytes: &[u8; BLOCK + 1]) -> Option<()> {
        // Without a way out between them, the bytes are looked at sixteen at a time.
        let is = |byte: u8, wanted: u8| u8::from(byte == wanted);
        let (mut low, mut all, mut escapes, mut odd) = (0, 0, 0, 0);
        for (byte, next) in bytes.iter().zip(&bytes[1..]) {
            let slash = is(*byte, b'\\');
            let usual = is(*next, b'n') | is(*next, b'"') | is(*next, b't') | is(*next, b'r');
            low |= u8::from(*byte < b' ');
            all |= *byte;
            escapes += slash;
            odd |= slash & !usual;
        }
        if low != 0 {
            return None;
        }
        let block = &bytes[..BLOCK];
        if all >= 0x80 {
            self.ascii = false;
            self.chars -=
                block.iter().map(|byte| u8::from(byte & 0xc0 == 0x80)).sum::<u8>() as usize;
        }
        if odd == 0 && self.behind <= begin {
            // Each is of two bytes, none of them the second half of another.
            self.chars -= usize::from(escapes);
        } else {
            let words = block.as_chunks::<8>().0.iter().enumerate();
            let mut found = words
                .fold(0, |all, (n, eight)| all | slashes(u64::from_le_bytes(*eight)) << (8 * n));
            while found != 0 {
                self.escape(begin + found.trailing_zeros() as usize)?;
                found &= found - 1;
            }
        }
        Some(())
    }

    /// Looks at the backslash at `at`, which may be the second half of an escape.
    #[inline]
    fn escape(&mut self, at: usize) -> Option<()> {
        if at < self.behind {
            return Some(());
        }
        let length = match self.inner.get(at + 1) {
            Some(b'n' | b'"' | b'\\' | b't') => 2,
            _ => escape(&self.inner[at..])?,
        };
        // Everything written of an escape is a byte a character.
        self.chars -= length - 1;
        self.behind = at + length;
        Some(())
    }
}

/// Which of eight bytes are backslashes, a bit for each.
#[inline]
fn slashes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let others = word ^ 0x5c5c_5c5c_5c5c_5c5c;
    let highest = !(((others & LOW) + LOW) | others | LOW);
    // Each bit is brought to its place in the highest byte.
    (highest >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Bytes of the escape that comes next.
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

/// The UTF-16 unit that `\uXXXX` is.
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
        for json in
            ["", "\"", "3", "\"a", "\"a\tb\"", r#""\x""#, r#""\u12""#, r#""\u+123""#, r#""\""#]
        {
            assert_eq!(count(json.as_bytes()), None, "{json}");
        }
        assert_eq!(count(b"\"a\xffb\""), None);
    }

    proptest! {
        /// What is counted is what the parser takes.
        #[test]
        fn as_sound_as_for_the_parser(ahead in 0..140usize, pieces in prop::collection::vec(prop_oneof![Just("\\"), Just("u"), Just("d83e"), Just("\\ud83e"), Just("\\udd80"), Just("n"), Just("+"), Just("\t"), Just("é"), Just("\\\\")], 0..8)) {
            // Escapes come to lie across blocks.
            let json = format!("\"{}{}\"", "x".repeat(ahead), pieces.concat());
            let sound = serde_json::from_str::<&serde_json::value::RawValue>(&json).is_ok();
            prop_assert_eq!(count(json.as_bytes()).is_some(), sound, "{}", json);
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
