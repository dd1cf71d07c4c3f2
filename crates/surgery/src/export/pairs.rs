//! Tool calls and their results, in a round.

use super::form::Call;
use crate::ids::Key;

/// Calls and results of a round.
#[derive(Default)]
pub(super) struct Pairs {
    message: Option<Key>,
    /// Whether a result came since the last row of a message.
    answered: bool,
    /// Calls of the current message without a result yet: id, row, item.
    pub open: Vec<(Key, usize, usize)>,
    /// Calls without a result when the next message came.
    pub passed: Vec<(Key, usize, usize)>,
    /// Results without a call: row, item.
    pub gone: Vec<(usize, usize)>,
    /// Calls whose id is already in the new session.
    pub again: Vec<String>,
}

impl Pairs {
    /// Adds a row of an agent's message. Rows without an id are one message until a result comes.
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
