//! What a later row makes needless: the same value, a read of the same file, or a call that wrote it
//! anew. Entries are checked from the end of a session to its start.

use std::collections::{HashMap, HashSet};

use crate::entry::{Entry, FileRead, Trigger, Value};
use crate::rules::Goes;

/// Values that stay in the conversation after the current entry.
#[derive(Debug, Default)]
pub struct Standing {
    values: HashSet<u64>,
    reads: HashSet<FileRead>,
    /// For reads that were cut, the most characters that one returned.
    begun: HashMap<FileRead, u32>,
    /// The files that were written anew.
    written: HashSet<u64>,
    /// Those of the current entry: within one entry nothing counts as a later occurrence.
    here: Vec<(u64, Option<FileRead>, Option<u32>)>,
}

impl Standing {
    /// Why a value may go before it is old: it occurs again, or its file was read again. A value
    /// too short to be compared may not.
    pub fn later(&self, value: &Value) -> Option<Goes> {
        if value.same == 0 {
            return None;
        }
        if self.values.contains(&value.same) {
            return Some(Goes::Again);
        }
        let read = value.read?;
        // A later read of the whole file has every part of it. If it was cut, it has only as much
        // of the start as it returned.
        let whole = FileRead { part: 0, ..read };
        let begun = || value.cut && self.begun.get(&read).is_some_and(|most| *most >= value.chars);
        let again = self.reads.contains(&read) || self.reads.contains(&whole) || begun();
        let is_stale = self.written.contains(&read.file).then_some(Goes::Stale);
        again.then_some(Goes::Reread).or(is_stale)
    }

    /// Records that a value of the current entry stays. It counts as a later occurrence only if the
    /// model receives it and it is long enough to be a file's content (not a note that nothing
    /// changed).
    pub fn stays(&mut self, entry: &Entry, value: &Value) {
        if value.same == 0 || value.copy || !entry.in_context {
            return;
        }
        let result = value.trigger == Trigger::ToolResult && !value.error;
        let cut = value.cut.then_some(value.chars);
        self.here.push((value.same, value.read.filter(|_| result), cut));
    }

    /// Moves on from an entry to the one before.
    pub fn next(&mut self, entry: &Entry) {
        self.written.extend(entry.written.iter().filter(|_| entry.in_context));
        for (same, read, cut) in self.here.drain(..) {
            self.values.insert(same);
            match (read, cut) {
                (Some(read), Some(chars)) => {
                    let most = self.begun.entry(read).or_default();
                    *most = chars.max(*most);
                }
                (read, _) => self.reads.extend(read),
            }
        }
    }
}
