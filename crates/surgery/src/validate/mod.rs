//! Checks a session file, line by line: what every output of surgery must pass, and what can
//! be said of any other. Memory is eight bytes an id.

mod claude;
mod json;
mod ledger;
mod pairs;
mod pi;
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
use sessions::dialect::{self, Dialect as _, Scratch};

/// How much a finding counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The clients write such rows themselves, and read them.
    Warning,
    /// A client may refuse the session, or lose a part of it.
    Error,
}

/// Something wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line, from 1; of what is wrong with the whole file, the last.
    pub line: u64,
    /// The rule's short name ([`RULES`]).
    pub rule: &'static str,
    /// How much it counts.
    pub level: Level,
    /// What is wrong, and with what.
    pub what: String,
}

impl Finding {
    /// Whether it is that the line is no JSON.
    pub fn is_malformed(&self) -> bool {
        self.rule == rules::JSON.name
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.rule, self.what)
    }
}

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Seen {
    /// `claude` or `pi`.
    pub dialect: &'static str,
    /// Lines of the file.
    pub lines: u64,
    /// Rows of the chain.
    pub chained: u64,
    /// API messages of the agent, each of one row or more.
    pub messages: u64,
    /// Tool calls.
    pub calls: u64,
    /// Thinking blocks.
    pub thinking: u64,
    /// Findings there were; only the first of them are listed.
    pub findings: u64,
}

/// Checks rows as they come.
#[derive(Debug)]
pub struct Validator {
    /// By the first row.
    dialect: Option<&'static str>,
    ledger: Ledger,
    pairs: Pairs,
    scratch: Scratch,
}

impl Validator {
    /// Checks any session; `name` is the file's name without its ending, where it is known.
    /// What the clients write themselves is no error.
    pub fn new(name: Option<&str>) -> Self {
        Self::of(Ledger::new(false, name))
    }

    /// Checks what surgery made: one chain without branches, and everything is an error.
    pub fn strict(id: &str) -> Self {
        Self::of(Ledger::new(true, Some(id)))
    }

    /// Makes room for the ids of so many rows at once: grown step by step, it is there twice.
    pub fn expect(&mut self, rows: usize) {
        self.ledger.ids.reserve(rows);
    }

    fn of(ledger: Ledger) -> Self {
        Self { dialect: None, ledger, pairs: Pairs::default(), scratch: Scratch::default() }
    }

    /// Thinking blocks of the sources, by the digest of their bytes ([`super::ids::digest`]).
    /// From the first call on, others are findings.
    pub fn given(&mut self, thinking: impl Iterator<Item = Key>) {
        self.ledger.given.get_or_insert_default().extend(thinking);
    }

    /// Looks at the next line.
    pub fn line(&mut self, number: u64, bytes: &[u8]) {
        self.ledger.at(number);
        let row = json::row(bytes, &mut self.ledger);
        let Some(row) = json::object(row, &mut self.ledger) else { return };
        let first = self.dialect.is_none();
        let dialect = self.dialect.get_or_insert_with(|| dialect::of_first_line(row).name());
        if *dialect == "pi" {
            pi::row(row, first, &mut self.ledger, &mut self.pairs, &mut self.scratch);
        } else {
            let head = dialect::Claude.row(row, &mut self.scratch);
            claude::row(row, &head, &mut self.ledger, &mut self.pairs, &mut self.scratch);
        }
    }

    /// Whether a line was no JSON.
    pub fn malformed(&self) -> bool {
        self.ledger.found.iter().any(Finding::is_malformed)
    }

    /// What was found, when all lines were seen.
    pub fn finish(self) -> Vec<Finding> {
        self.report().0
    }

    /// [`Validator::finish`], and what was looked at.
    pub fn report(mut self) -> (Vec<Finding>, Seen) {
        self.pairs.finish(&mut self.ledger);
        self.ledger.finish();
        self.ledger.seen.dialect = self.dialect.unwrap_or_default();
        let mut found = self.ledger.found;
        found.sort_by_key(|f| f.line);
        (found, self.ledger.seen)
    }
}
