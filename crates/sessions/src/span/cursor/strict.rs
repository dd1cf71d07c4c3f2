//! What a strict walk takes: JSON (RFC 8259) and nothing else. It may give up on JSON, too:
//! whoever asks has another way then.

use memchr::memchr2;

use super::{Cursor, closes};

/// Brackets within brackets that are followed.
const DEEPEST: u32 = 64;

/// Bytes that are looked at eight by eight before a search is worth its beginning: there is an
/// escape in each line of code.
const NEAR: usize = 32;

impl<'a> Cursor<'a, true> {
    /// Before the first value of text that may be JSON: `None` where it is no UTF-8, or holds
    /// a control character, which JSON has only as a blank.
    pub fn strict(bytes: &'a [u8]) -> Option<Self> {
        clean(bytes).then_some(Self::unchecked(bytes))
    }

    /// The same of text that is known to be [`clean`] wherever it is not skipped.
    pub fn unchecked(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Goes on behind a value that is known.
    pub fn skip(&mut self, to: usize) -> Option<()> {
        self.at = Some(to).filter(|to| (self.at..=self.bytes.len()).contains(to))?;
        Some(())
    }
}

/// Whether it is UTF-8 without control characters.
pub fn clean(bytes: &[u8]) -> bool {
    let mut ascii = true;
    for part in bytes.chunks(64) {
        // Without a way out between them, the bytes are looked at sixteen at a time.
        let (low, all) =
            part.iter().fold((0, 0), |(low, all), byte| (low | u8::from(*byte < b' '), all | byte));
        if low != 0 {
            return false;
        }
        ascii &= all < 0x80;
    }
    ascii || std::str::from_utf8(bytes).is_ok()
}

impl<const STRICT: bool> Cursor<'_, STRICT> {
    /// Walks over an object or array and all that is in it.
    pub(super) fn whole(&mut self) -> Option<()> {
        let (mut depth, mut objects) = (0, 0u64);
        loop {
            let mut more = match self.peek()? {
                open @ (b'{' | b'[') => {
                    if depth == DEEPEST {
                        return None;
                    }
                    depth += 1;
                    objects = objects << 1 | u64::from(open == b'{');
                    self.enter(open)?
                }
                b'"' => {
                    self.text()?;
                    self.more(close(objects))?
                }
                _ => {
                    self.scalar()?;
                    self.more(close(objects))?
                }
            };
            while !more {
                depth -= 1;
                objects >>= 1;
                if depth == 0 {
                    return Some(());
                }
                more = self.more(close(objects))?;
            }
            if objects & 1 == 1 {
                self.name()?;
            }
        }
    }

    /// Walks over a string that begins here.
    pub(super) fn text(&mut self) -> Option<()> {
        let mut at = self.at + 1;
        loop {
            at = self.special(at)?;
            if self.bytes[at] == b'"' {
                self.at = at + 1;
                return Some(());
            }
            at += match self.bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                b'u' if self.bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => 6,
                _ => return None,
            };
        }
    }

    /// Where the next quote or backslash is.
    #[inline]
    fn special(&self, from: usize) -> Option<usize> {
        let mut at = from;
        while at < from + NEAR
            && let Some(eight) = self.bytes.get(at..at + 8)
        {
            let word = u64::from_le_bytes(eight.try_into().ok()?);
            let found = is_in(word, b'"') | is_in(word, b'\\');
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize / 8);
            }
            at += 8;
        }
        Some(at + memchr2(b'"', b'\\', self.bytes.get(at..)?)?)
    }

    /// Walks over a number, a truth value or null.
    pub(super) fn scalar(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let word =
            [&b"true"[..], b"false", b"null"].into_iter().find(|word| rest.starts_with(word));
        self.at += match word {
            Some(word) => word.len(),
            None => number(rest)?,
        };
        Some(())
    }
}

/// Marks the highest bit of bytes that are `byte`; the lowest mark is right, as all below it
/// were others.
fn is_in(word: u64, byte: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let others = word ^ (ONES * u64::from(byte));
    others.wrapping_sub(ONES) & !others & (ONES << 7)
}

/// What closes the innermost bracket.
fn close(objects: u64) -> u8 {
    closes(if objects & 1 == 1 { b'{' } else { b'[' })
}

/// The length of the number that begins a text.
fn number(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let begin = usize::from(text.first() == Some(&b'-'));
    let whole = digits(begin);
    if whole == 0 || (whole > 1 && text[begin] == b'0') {
        return None;
    }
    let mut end = begin + whole;
    if text.get(end) == Some(&b'.') {
        let part = digits(end + 1);
        if part == 0 {
            return None;
        }
        end += 1 + part;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let from = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let power = digits(from);
        if power == 0 {
            return None;
        }
        end = from + power;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn taken(text: &[u8]) -> bool {
        Cursor::strict(text).is_some_and(|mut cursor| cursor.value().is_some() && cursor.ended())
    }

    fn is_json(text: &[u8]) -> bool {
        serde_json::from_slice::<IgnoredAny>(text).is_ok() && std::str::from_utf8(text).is_ok()
    }

    #[test]
    fn json_is_taken_and_what_is_nearly_json_is_not() {
        for text in [
            r#"{"a":[1,-2.5e+3,0,0.1,1E9,true,false,null,"",{}],"b":{"c":[[],[{}]]}}"#,
            r#"{"a" : [ 1 , "x" ] , "b" : {} } "#,
            r#""\"\\\/\b\f\n\r\t\u00e9\uD83D é 😀""#,
            "-0",
            r#"["0123456789abcdef0123456789abcdef0123456789abcdef\n0123456","\"","\\"]"#,
        ] {
            assert!(is_json(text.as_bytes()) && taken(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            " {}",
            "{",
            "[1,]",
            "[1 2]",
            "[,1]",
            r#"{"a":1,}"#,
            r#"{"a"}"#,
            r#"{"a":}"#,
            r"{a:1}",
            r#"{"a":1]"#,
            r#"["a"}"#,
            "[[]",
            "[]]",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "tru",
            "truex",
            "nul",
            "[nulll]",
            "[1x]",
            r#""\x""#,
            r#""\u12g4""#,
            r#""\u12"#,
            r#""a"#,
            r#""\"#,
            "\"a\tb\"",
            "[1,\n2]",
            "{} {}",
            "'a'",
            "NaN",
            "[1}",
            r#"{"a":1:2}"#,
        ] {
            assert!(!taken(text.as_bytes()), "{text}");
        }
        assert!(!taken(b"\"\xff\""));
        assert!(!taken(b"\"0123456789012345678901234567890123456789\xc3\""));
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(taken(deep(64).as_bytes()) && !taken(deep(65).as_bytes()), "given up on");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// One byte changed, left out or put in: what is taken is JSON, and what is on one line
        /// of few brackets, without a blank ahead of it, is taken where it is.
        #[test]
        fn it_says_what_a_parser_says(at in 0usize..200, byte in any::<u8>(), how in 0u8..3) {
            let mut text = br#"{"a":["x\n\"y\u00e9",-1.5e3,[true,null,{}]],"long":"0123456789abcdef0123456789abcdef0123456789\\","n":[0,10,{"m":"\t"}],"e":{},"z":false}"#.to_vec();
            let at = at % text.len();
            match how {
                0 => text[at] = byte,
                1 => { text.remove(at); }
                _ => text.insert(at, byte),
            }
            let blank = text.iter().any(|byte| *byte < b' ') || text[0] == b' ';
            prop_assert_eq!(taken(&text), is_json(&text) && !blank, "{}", String::from_utf8_lossy(&text));
        }

        #[test]
        fn of_any_bytes_it_takes_nothing_but_json(text in "[\\[\\]{}:,\"\\\\ 0-9a-zé.+-]{0,24}") {
            prop_assert!(!taken(text.as_bytes()) || is_json(text.as_bytes()), "{}", text);
        }
    }
}
