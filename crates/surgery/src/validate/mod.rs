//! Checks a session file line by line: what surgery wrote must pass everything, any other file as
//! far as that can be said. Needs eight bytes of memory per id.

mod claude;
mod json;
mod ledger;
mod pairs;
mod rules;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;

use super::ids::Key;
pub(super) use json::valid as is_json;
use ledger::Ledger;
use pairs::Pairs;
pub use rules::{RULES, Rule};
use sessions::dialect::{Claude, Dialect as _, Scratch};

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Clients write such rows themselves, and read them.
    Warning,
    /// A client may refuse the session, or lose part of it.
    Error,
}

/// Something wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line, from 1; the last line if it concerns the whole file.
    pub line: u64,
    /// The rule's short name ([`RULES`]).
    pub rule: &'static str,
    /// How serious it is.
    pub level: Level,
    /// What is wrong, and with what.
    pub what: String,
}

impl Finding {
    /// Whether the line is invalid JSON.
    pub fn is_malformed(&self) -> bool {
        self.rule == rules::JSON.name
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.rule, self.what)
    }
}

/// What was checked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Seen {
    /// Lines of the file.
    pub lines: u64,
    /// Rows of the chain.
    pub chained: u64,
    /// Messages of the agent in the API, each of one row or more.
    pub messages: u64,
    /// Tool calls.
    pub calls: u64,
    /// Thinking blocks.
    pub thinking: u64,
    /// The number of all findings; only the first ones are listed.
    pub findings: u64,
}

/// Checks rows as they come.
#[derive(Debug)]
pub struct Validator {
    ledger: Ledger,
    pairs: Pairs,
    scratch: Scratch,
}

impl Validator {
    /// Checks any session; `name` is the file's name without its extension, if known. What clients
    /// write themselves is no error.
    pub fn new(name: Option<&str>) -> Self {
        Self::of(Ledger::new(false, name))
    }

    /// Checks what surgery wrote: one chain without branches, and every finding is an error.
    pub fn strict(id: &str) -> Self {
        Self::of(Ledger::new(true, Some(id)))
    }

    /// Makes room for the ids of this many rows; growing step by step would need twice the memory.
    pub fn expect(&mut self, rows: usize) {
        self.ledger.ids.reserve(rows);
    }

    fn of(ledger: Ledger) -> Self {
        Self { ledger, pairs: Pairs::default(), scratch: Scratch::default() }
    }

    /// Adds thinking blocks of the sources, by the digest of their bytes ([`super::ids::digest`]).
    /// From the first call on, other thinking is a finding.
    pub fn given(&mut self, thinking: impl Iterator<Item = Key>) {
        self.ledger.given.get_or_insert_default().extend(thinking);
    }

    /// Checks the next line.
    pub fn line(&mut self, number: u64, bytes: &[u8]) {
        self.ledger.at(number);
        let row = json::row(bytes, &mut self.ledger);
        let Some(row) = json::object(row, &mut self.ledger) else { return };
        let head = Claude.row(row, &mut self.scratch);
        claude::row(row, &head, &mut self.ledger, &mut self.pairs, &mut self.scratch);
    }

    /// Whether a line was invalid JSON.
    pub fn malformed(&self) -> bool {
        self.ledger.found.iter().any(Finding::is_malformed)
    }

    /// All findings, after the last line.
    pub fn finish(self) -> Vec<Finding> {
        self.report().0
    }

    /// [`Validator::finish`], with what was checked.
    pub fn report(mut self) -> (Vec<Finding>, Seen) {
        self.pairs.finish(&mut self.ledger);
        self.ledger.finish();
        let mut found = self.ledger.found;
        found.sort_by_key(|f| f.line);
        (found, self.ledger.seen)
    }
}
