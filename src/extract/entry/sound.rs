//! Whether a row may be changed at all, and which of its values can be found again by their keys.
//! Values are looked at where they are counted; here it is the rest of the row.

use std::collections::HashSet;

use super::Entry;
use crate::extract::edit;

/// Marks an entry whose row is no sound JSON, and takes the values that a key does not lead to:
/// a name on the way stands twice, and readers differ in which one they take. `frame` is room to
/// work in.
pub fn settle(line: &[u8], entry: &mut Entry, frame: &mut Vec<u8>) {
    if entry.values.is_empty() || entry.broken {
        return;
    }
    frame.clear();
    let mut from = 0;
    // A block that goes whole is part of the frame: its text alone was looked at.
    for value in entry.values.iter().filter(|value| !value.whole) {
        let Some(before) = line.get(from..value.span.start) else { continue };
        frame.extend_from_slice(before);
        frame.extend_from_slice(b"\"\"");
        from = value.span.end;
    }
    frame.extend_from_slice(&line[from..]);
    entry.broken = !edit::sound(frame);
    if entry.broken {
        return;
    }
    let twice: HashSet<String> = edit::twice(frame).into_iter().collect();
    if twice.is_empty() {
        return;
    }
    let before = entry.values.len();
    entry.values.retain(|value| {
        let key = value.key.as_str();
        let ends = key.match_indices('.').map(|(at, _)| at).chain([key.len()]);
        !ends.into_iter().any(|end| twice.contains(&key[..end]))
    });
    entry.doubled = (before - entry.values.len()) as u32;
}
