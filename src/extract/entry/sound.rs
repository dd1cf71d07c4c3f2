//! Whether a row may be changed at all, and which of its values can be found again by their keys.
//! Values are looked at where they are counted; here it is the rest of the row.

use std::collections::HashSet;

use super::Entry;
use crate::extract::edit;
use crate::transcript::span::Span;

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
        if entry.values.is_empty() || entry.broken {
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
