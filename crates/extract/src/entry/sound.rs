//! Whether a row may be changed at all, and which of its values can be found again by their keys.
//! Values are looked at where they are counted; here it is the rest of the row.

use std::collections::HashSet;

use super::{Entry, Value};
use crate::edit;
use sessions::span::{Cursor, Span, clean};

/// Values of a row that are looked for one by one; for more, all of the row is looked through.
const FEW: usize = 4;

/// A row without its values; room to work in, so that nothing is allocated a row.
#[derive(Debug, Default)]
pub struct Frame {
    bytes: Vec<u8>,
    /// Where the values would stand.
    places: Vec<Span>,
}

impl Frame {
    /// Marks an entry whose row is no sound JSON, and takes the values that a key does not lead
    /// to: a name on the way stands twice, and readers differ in which one they take.
    pub fn settle(&mut self, line: &[u8], entry: &mut Entry) {
        if entry.broken || plainly(line, &entry.values) {
            return;
        }
        self.of(line, entry);
        entry.broken = !edit::sound(&self.bytes);
        if entry.broken {
            return;
        }
        let before = entry.values.len();
        if before <= FEW {
            let mut places = self.places.iter();
            entry.values.retain(|value| {
                let place = places.next().copied();
                place.is_some() && edit::locate(&self.bytes, &value.key) == place
            });
        } else {
            let twice: HashSet<String> = edit::twice(&self.bytes).into_iter().collect();
            entry.values.retain(|value| {
                let key = value.key.as_str();
                let mut ends = key.match_indices('.').map(|(at, _)| at).chain([key.len()]);
                twice.is_empty() || !ends.any(|end| twice.contains(&key[..end]))
            });
        }
        entry.doubled = (before - entry.values.len()) as u32;
    }

    fn of(&mut self, line: &[u8], entry: &Entry) {
        self.bytes.clear();
        self.places.clear();
        let mut from = 0;
        for value in &entry.values {
            let before = line.get(from..value.span.start).unwrap_or_default();
            self.bytes.extend_from_slice(before);
            let start = self.bytes.len();
            // A block that goes whole is part of the frame: its text alone was looked at.
            let left = if value.whole { value.span.of(line) } else { b"\"\"" };
            self.bytes.extend_from_slice(left);
            self.places.push(Span { start, end: self.bytes.len() });
            from = value.span.end;
        }
        self.bytes.extend_from_slice(line.get(from..).unwrap_or_default());
    }
}

/// Names of an object that are compared with each other one by one.
const NAMES: usize = 64;

/// How deep objects and arrays are followed.
const DEEP: usize = 64;

/// Whether a row is sound JSON beside its values, with each name plainly standing once in its
/// object, which most rows are. `false` says nothing.
fn plainly(line: &[u8], values: &[Value]) -> bool {
    let end = line.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
    let row = &line[..end];
    let mut from = 0;
    for value in values.iter().filter(|value| !value.whole) {
        if value.span.start < from || !row.get(from..value.span.start).is_some_and(clean) {
            return false;
        }
        from = value.span.end;
    }
    let mut walk =
        Walk { row, values, names: Vec::with_capacity(16), cursor: Cursor::unchecked(row) };
    row.first() == Some(&b'{')
        && row.get(from..).is_some_and(clean)
        && walk.value(DEEP).is_some()
        && walk.cursor.at() == row.len()
}

/// A strict walk over a row that passes over its values.
struct Walk<'a> {
    row: &'a [u8],
    /// Those that come yet.
    values: &'a [Value],
    names: Vec<&'a [u8]>,
    cursor: Cursor<'a, true>,
}

impl Walk<'_> {
    /// Walks over the value that comes next.
    fn value(&mut self, deep: usize) -> Option<()> {
        let first = self.names.len();
        match self.cursor.peek()? {
            b'{' if deep > 0 => {
                let mut more = self.cursor.enter(b'{')?;
                while more {
                    let name = self.cursor.name()?.of(self.row);
                    let known = &self.names[first..];
                    let many = known.len() >= NAMES || memchr::memchr(b'\\', name).is_some();
                    if many || known.contains(&name) {
                        return None;
                    }
                    self.names.push(name);
                    self.value(deep - 1)?;
                    more = self.cursor.more(b'}')?;
                }
                self.names.truncate(first);
            }
            b'[' if deep > 0 => {
                let mut more = self.cursor.enter(b'[')?;
                while more {
                    self.value(deep - 1)?;
                    more = self.cursor.more(b']')?;
                }
            }
            b'"' => self.string()?,
            _ => {
                self.cursor.value()?;
            }
        }
        Some(())
    }

    /// Walks over a string; one that is a value was looked at already.
    fn string(&mut self) -> Option<()> {
        let at = self.cursor.at();
        while let Some((next, rest)) = self.values.split_first()
            && (next.whole || next.span.start < at)
        {
            self.values = rest;
        }
        match self.values.first() {
            Some(next) if next.span.start == at => self.cursor.skip(next.span.end),
            _ => self.cursor.value().map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Entries;
    use super::*;

    /// Rows with names that stand twice, escapes that are none, control characters and bytes
    /// that are no UTF-8, beside their values, in them and behind: the short way says no more
    /// than the long one.
    #[test]
    fn the_short_way_says_nothing_that_is_not_so() {
        let text = "x".repeat(300);
        let row = format!(
            r#"{{"type":"message","id":"a","message":{{"role":"toolResult","toolName":"exec","content":[{{"type":"text","text":"{text}"}},{{"type":"text","text":"{text}"}}],"details":{{"n":[1,-2.5e3,true,null,{{}}],"s":"short \\n"}},"isError":false}}}}"#
        );
        let read = |row: &[u8]| {
            let mut entries = Entries::default();
            entries.row(0, row);
            entries.finish().into_iter().next()
        };
        let sound = read(row.as_bytes()).unwrap();
        assert!(!sound.broken && sound.values.len() == 2);
        assert!(plainly(row.as_bytes(), &sound.values));
        assert!(plainly(format!("{row}\n").as_bytes(), &sound.values));
        let mut said = 0;
        for at in 0..row.len() {
            for byte in *b"\"\\,:}{]0 x\x01\xff" {
                let mut other = row.clone().into_bytes();
                other[at] = byte;
                let Some(entry) = read(&other) else { continue };
                said += 1;
                let is_json = edit::sound(&other);
                assert_eq!(entry.broken, !is_json, "{}", String::from_utf8_lossy(&other));
                if plainly(&other, &entry.values) {
                    assert!(edit::twice(&other).is_empty());
                }
            }
        }
        assert!(said > 1000);
    }
}
