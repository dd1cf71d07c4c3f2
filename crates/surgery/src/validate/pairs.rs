//! Checks the conversation: messages over several rows, tool calls and their results, thinking at
//! the end of a message.

use super::ledger::Ledger;
use super::rules;
use crate::ids::{self, Key, Keys};

#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Whether there was a message.
    begun: bool,
    /// The current message of the agent; `None` for rows without an id.
    message: Option<Key>,
    open: bool,
    answered: bool,
    /// Finished messages.
    over: Keys,
    /// The line of a thinking block, if it is the last block of the message so far.
    thinking: Option<u64>,
    calls: Keys,
    /// Calls of the current message without a result.
    asked: Vec<(Key, u64, String)>,
    /// Calls without a result when the next message came.
    passed: Vec<(Key, u64, String)>,
}

impl Pairs {
    /// Checks a row of the agent.
    pub fn agent(&mut self, message: Option<&str>, ledger: &mut Ledger) {
        if !self.begun {
            ledger.add(&rules::FIRST, "the first message is the agent's");
        }
        self.begun = true;
        let key = message.map(ids::key);
        // Rows without an id are one message until a result comes.
        if self.open && key == self.message && (key.is_some() || !self.answered) {
            return;
        }
        self.answered = false;
        self.close(ledger);
        if let Some(id) = message.filter(|_| key.is_some_and(|key| self.over.contains(&key))) {
            ledger.add(&rules::SPLIT, &format!("the message {id} was over, and goes on here"));
        }
        (self.message, self.open) = (key, true);
        ledger.seen.messages += 1;
    }

    /// Checks a message of the user.
    pub fn user(&mut self, ledger: &mut Ledger) {
        self.begun = true;
        self.close(ledger);
    }

    /// Takes a message of the client in the user's role.
    pub fn noticed(&mut self) {
        self.begun = true;
    }

    /// Adds a block of the current message that is neither thinking nor a call.
    pub fn said(&mut self) {
        self.thinking = None;
    }

    pub fn thought(&mut self, ledger: &Ledger) {
        self.thinking = Some(ledger.line());
    }

    pub fn called(&mut self, id: &str, ledger: &mut Ledger) {
        self.thinking = None;
        ledger.seen.calls += 1;
        let key = ids::key(id);
        if !self.calls.insert(key) {
            ledger.add(&rules::CALL_TWICE, &format!("an earlier call has the same id, {id}"));
        }
        self.asked.push((key, ledger.line(), id.to_owned()));
    }

    pub fn answered(&mut self, id: &str, ledger: &mut Ledger) {
        let key = ids::key(id);
        self.answered = true;
        if let Some(at) = self.asked.iter().position(|asked| asked.0 == key) {
            self.asked.swap_remove(at);
        } else if let Some(at) = self.passed.iter().position(|passed| passed.0 == key) {
            self.passed.swap_remove(at);
            ledger.add(
                &rules::RESULT_LATE,
                &format!("the result of {id} comes behind another message"),
            );
        } else if self.calls.contains(&key) {
            ledger.add(&rules::RESULT_TWICE, &format!("{id} has a result already"));
        } else {
            ledger.add(&rules::RESULT_ALONE, &format!("there is no call {id} ahead of it"));
        }
    }

    /// Ends the current message.
    fn close(&mut self, ledger: &mut Ledger) {
        self.over.extend(self.message.take());
        self.open = false;
        if let Some(line) = self.thinking.take() {
            ledger.add_at(line, &rules::THINKING_LAST, "its message ends with thinking");
        }
        self.passed.append(&mut self.asked);
    }

    pub fn finish(&mut self, ledger: &mut Ledger) {
        self.close(ledger);
        for (_, line, id) in self.passed.drain(..) {
            ledger.add_at(line, &rules::CALL_OPEN, &format!("the call {id} has no result"));
        }
    }
}
