//! Tool calls and what they gave, in a round.

use super::form::Call;
use crate::ids::Key;

/// Calls and results of a round.
#[derive(Default)]
pub(super) struct Pairs {
    message: Option<Key>,
    /// A result came since the last row of a message.
    answered: bool,
    /// Calls of the current message that wait for their result: id, row, item.
    pub open: Vec<(Key, usize, usize)>,
    /// Calls that another message followed first.
    pub passed: Vec<(Key, usize, usize)>,
    /// Results that can't stay: row, item.
    pub gone: Vec<(usize, usize)>,
    /// Calls whose id is taken.
    pub again: Vec<String>,
}

impl Pairs {
    /// A row of a message of the agent. Rows without an id are one message until a result.
    pub fn message(&mut self, key: Option<Key>) {
        if key != self.message || (key.is_none() && self.answered) {
            self.passed.append(&mut self.open);
        }
        (self.message, self.answered) = (key, false);
    }

    pub fn call(&mut self, key: Key, row: usize, call: &Call) {
        if !call.result {
            self.open.push((key, row, call.item));
            return;
        }
        self.answered = true;
        match self.open.iter().position(|open| open.0 == key) {
            Some(at) => {
                self.open.swap_remove(at);
            }
            None => self.gone.push((row, call.item)),
        }
    }
}
