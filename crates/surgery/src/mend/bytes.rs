//! Takes a line apart into rows and repairs its bytes: what a crash, or half a character, leaves.

use std::borrow::Cow;
use std::str;

use base::shown::{count_with_noun, size};
use memchr::{memchr, memchr_iter, memmem};
use serde::de::IgnoredAny;
use sessions::span::{self, Span};

/// A line with repaired bytes.
#[derive(Debug, Default)]
pub(super) struct Cleaned<'l> {
    pub text: Cow<'l, [u8]>,
    /// Its rows. A line has one, unless a write was cut off and the next row stands behind it.
    pub rows: Vec<Span>,
    /// Whether no client reads these rows as the line is.
    pub is_rescued: bool,
    pub faults: Vec<String>,
}

/// Repairs a line. A blank one has no rows and no faults.
pub(super) fn clean(line: &[u8]) -> Cleaned<'_> {
    let mut cleaned = Cleaned { text: Cow::Borrowed(line.trim_ascii()), ..Cleaned::default() };
    let nuls = memchr_iter(0, &cleaned.text).count();
    if nuls > 0 {
        let kept: Vec<u8> = cleaned.text.iter().copied().filter(|byte| *byte != 0).collect();
        cleaned.text = Cow::Owned(kept.trim_ascii().to_vec());
        let count = count_with_noun(nuls, "NUL byte", "NUL bytes");
        cleaned.faults.push(format!("{count}, taken out"));
    }
    if str::from_utf8(&cleaned.text).is_err() {
        let text = String::from_utf8_lossy(&cleaned.text).into_owned();
        cleaned.text = Cow::Owned(text.into_bytes());
        cleaned.faults.push("bytes that are not UTF-8, now U+FFFD".to_owned());
    }
    let halves = halves(&cleaned.text);
    if !halves.is_empty() {
        for at in &halves {
            cleaned.text.to_mut()[*at..at + ESCAPE].copy_from_slice(b"\\ufffd");
        }
        let count = count_with_noun(halves.len(), "half of a character", "halves of characters");
        cleaned.faults.push(format!("{count} (a surrogate without its other half), now U+FFFD"));
    }
    let (rows, lost) = rows(&cleaned.text);
    if rows.len() > 1 {
        cleaned.faults.push(format!("{} rows in one line, now each in its own", rows.len()));
    }
    if lost > 0 {
        cleaned.faults.push(format!("a row that was cut off ({}), left out", size(lost as u64)));
    }
    cleaned.is_rescued = !rows.is_empty() && (nuls > 0 || lost > 0 || rows.len() > 1);
    cleaned.rows = rows;
    cleaned
}

/// Bytes of `\ud83d`.
const ESCAPE: usize = 6;

/// Where escapes of half a character are: a high surrogate without a low one, or the reverse.
fn halves(text: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    if memmem::find(text, b"\\ud").is_none() && memmem::find(text, b"\\uD").is_none() {
        return found;
    }
    let mut at = 0;
    while let Some(next) = memchr(b'\\', &text[at..]) {
        let here = at + next;
        let unit = unit(text, here);
        let is_low = |unit: Option<u32>| unit.is_some_and(|unit| (0xDC00..0xE000).contains(&unit));
        let is_pair = unit.is_some_and(|unit| (0xD800..0xDC00).contains(&unit))
            && is_low(self::unit(text, here + ESCAPE));
        let is_half = unit.is_some_and(|unit| (0xD800..0xE000).contains(&unit)) && !is_pair;
        if is_half {
            found.push(here);
        }
        at = here
            + match unit {
                _ if is_pair => 2 * ESCAPE,
                Some(_) => ESCAPE,
                // The character behind a backslash is no backslash of its own.
                None => 2,
            };
        at = at.min(text.len());
    }
    found
}

/// The code unit of the escape `\uXXXX` at this place.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

/// The most bytes that are read in search of a line's rows, in lengths of the line. A cut-off row
/// may have many nested objects, and each is read to the end of the line.
const READINGS: usize = 64;

/// The rows of a line, and how many bytes belong to none.
fn rows(text: &[u8]) -> (Vec<Span>, usize) {
    let (mut found, mut lost, mut at) = (Vec::new(), 0, 0);
    let mut left = text.len().saturating_mul(READINGS);
    while at < text.len() {
        let rest = &text[at..];
        let end = object(rest);
        let read = end.unwrap_or_else(|| failed_at(rest));
        if read > left {
            lost += rest.len();
            break;
        }
        left -= read;
        let end = end.filter(|end| lost == 0 || is_row(&rest[..*end], &rest[*end..]));
        if let Some(end) = end {
            found.push(Span { start: at, end: at + end });
            at += end + rest[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            continue;
        }
        let next = memmem::find(&rest[1..], b"{\"").map_or(rest.len(), |next| next + 1);
        lost += next;
        at += next;
    }
    (found, lost)
}

/// Where the JSON object at the start ends. Unlike serde, clients read any depth.
fn object(text: &[u8]) -> Option<usize> {
    let end = span::fields(text, &mut Vec::new())?;
    match serde_json::from_slice::<IgnoredAny>(&text[..end]) {
        Err(e) if !e.to_string().starts_with("recursion limit") => None,
        _ => Some(end),
    }
}

/// How many bytes serde reads of a broken object before it fails.
fn failed_at(text: &[u8]) -> usize {
    match serde_json::from_slice::<IgnoredAny>(text) {
        Err(e) if e.is_syntax() && !e.to_string().starts_with("recursion limit") => e.column(),
        _ => text.len(),
    }
}

/// Whether it is a row, and not a part of one that was cut off: it is the last in its line, or a row
/// is behind it.
fn is_row(json: &[u8], behind: &[u8]) -> bool {
    let has = |name| span::find(json, name).is_some();
    let is_linked = has("parentUuid") || !has("uuid");
    let ends = behind.trim_ascii_start().first().is_none_or(|byte| *byte == b'{');
    let is_known = ["uuid", "sessionId", "messageId", "leafUuid"].into_iter().any(has);
    ends && is_linked && is_known && has("type")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &[u8]) -> (Vec<String>, bool) {
        let cleaned = clean(line);
        let text = |row: &Span| String::from_utf8(row.slice(&cleaned.text).to_vec()).unwrap();
        (cleaned.rows.iter().map(text).collect(), !cleaned.faults.is_empty())
    }

    const ROW: &str = r#"{"type":"user","parentUuid":null,"uuid":"u","message":{"content":"a \\ud83d \ud83d\ude00"}}"#;

    #[test]
    fn a_sound_line_stays_as_it_is() {
        for line in [ROW, "", "  \n", r#"{"a":1}"#] {
            let cleaned = clean(line.as_bytes());
            assert_eq!(cleaned.faults, [""; 0], "{line}");
            assert!(matches!(cleaned.text, Cow::Borrowed(_)) && !cleaned.is_rescued);
        }
        let deep = format!(r#"{{"type":"user","x":{}{}}}"#, "[".repeat(500), "]".repeat(500));
        assert_eq!(parts(deep.as_bytes()), (vec![deep], false));
    }

    #[test]
    fn a_row_behind_a_torn_one_is_found() {
        for cut in 1..ROW.len() {
            let torn = format!("{}{ROW}\n", &ROW[..cut]);
            assert_eq!(parts(torn.as_bytes()), (vec![ROW.to_owned()], true), "cut at {cut}");
            let end = &ROW.as_bytes()[..cut];
            assert_eq!(parts(end), (vec![], true), "cut at {cut}");
        }
        let nuls = [&[0; 4096][..], ROW.as_bytes(), b"\n"].concat();
        assert_eq!(parts(&nuls), (vec![ROW.to_owned()], true));
        assert_eq!(parts(&[0; 10]), (vec![], true));
        let glued = format!("{ROW}{ROW}");
        assert_eq!(parts(glued.as_bytes()), (vec![ROW.to_owned(), ROW.to_owned()], true));
        let inner = r#"{"type":"progress","data":{"message":{"type":"user","uuid":"x","parentUuid":null},"n":"#;
        assert_eq!(parts(inner.as_bytes()), (vec![], true), "a part of a row is no row");
    }

    #[test]
    fn a_deep_row_that_was_cut_off_is_read_a_bounded_number_of_times() {
        // Read to its end from each of its objects, it would take an hour.
        let deep = format!("{ROW}{}", r#"{"a":"#.repeat(1_000_000));
        assert_eq!(parts(deep.as_bytes()), (vec![ROW.to_owned()], true));
    }

    #[test]
    fn a_row_behind_a_torn_patch_is_found() {
        let patch = r#""  if (a) {","#.repeat(300);
        let torn = format!(r#"{{"type":"user","toolUseResult":{{"structuredPatch":[{patch}{ROW}"#);
        assert_eq!(parts(torn.as_bytes()), (vec![ROW.to_owned()], true));
    }

    #[test]
    fn half_a_character_is_replaced() {
        for (half, whole) in [
            (r"\ud83d", r"\ufffd"),
            (r"\uDE00 x", r"\ufffd x"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\\\ud83d\\ud83d", r"\\\ufffd\\ud83d"),
            (r"\ud83d\n", r"\ufffd\n"),
        ] {
            let line = |text: &str| format!(r#"{{"type":"user","x":"{text}"}}"#);
            assert_eq!(parts(line(half).as_bytes()), (vec![line(whole)], true), "{half}");
        }
    }
}
