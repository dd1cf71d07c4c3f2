//! Whether a row may be changed at all, and which of its values can be found by their keys.

use std::collections::HashSet;

use super::Entry;
use crate::edit;

/// Marks an entry whose row is not valid JSON. Otherwise drops values whose key is ambiguous: a
/// name on the path occurs twice, and readers differ in which one they take.
pub fn settle(line: &[u8], entry: &mut Entry) {
    entry.broken = entry.broken || !edit::sound(line);
    if entry.broken || entry.values.is_empty() {
        return;
    }
    let twice: HashSet<String> = edit::twice(line).into_iter().collect();
    if twice.is_empty() {
        return;
    }
    let before = entry.values.len();
    entry.values.retain(|value| {
        let key = value.key.as_str();
        let mut ends = key.match_indices('.').map(|(at, _)| at).chain([key.len()]);
        !ends.any(|end| twice.contains(&key[..end]))
    });
    entry.doubled = (before - entry.values.len()) as u32;
}
