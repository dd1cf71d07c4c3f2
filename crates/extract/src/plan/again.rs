//! What stands again later: the same value, or a later read of the same file. It is asked from the
//! end of a session to its beginning.

use std::collections::{HashMap, HashSet};

use crate::entry::{Entry, FileRead, Trigger, Value};
use crate::rules::Goes;

/// Values that stay in the conversation behind the entry that is looked at.
#[derive(Debug, Default)]
pub struct Standing {
    values: HashSet<u64>,
    reads: HashSet<FileRead>,
    /// Of reads that were cut, the most characters that one gave.
    begun: HashMap<FileRead, u32>,
    /// Those of the entry itself: nothing in one entry stands behind another part of it.
    here: Vec<(u64, Option<FileRead>, Option<u32>)>,
}

impl Standing {
    /// Why a value may go before it is old: it is not the last of its kind. What is too short to
    /// be compared may not.
    pub fn later(&self, value: &Value) -> Option<Goes> {
        if value.same == 0 {
            return None;
        }
        if self.values.contains(&value.same) {
            return Some(Goes::Again);
        }
        let read = value.read?;
        // A later read of the whole file has every part of it, unless it was cut: then it has as
        // much of the beginning as it gave.
        let whole = FileRead { part: 0, ..read };
        let begun = || value.cut && self.begun.get(&read).is_some_and(|most| *most >= value.chars);
        let again = self.reads.contains(&read) || self.reads.contains(&whole) || begun();
        again.then_some(Goes::Reread)
    }

    /// A value of the entry that is looked at stays. Where the model is not sent it, or it is too
    /// short to be what a file holds (a word that nothing changed), it stands for no other.
    pub fn stays(&mut self, entry: &Entry, value: &Value) {
        if value.same == 0 || value.copy || !entry.in_context {
            return;
        }
        let result = value.trigger == Trigger::ToolResult && !value.error;
        let cut = value.cut.then_some(value.chars);
        self.here.push((value.same, value.read.filter(|_| result), cut));
    }

    /// Goes on to the entry before.
    pub fn next(&mut self) {
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
