//! Checks a session file: what every output of surgery must pass (SESSION integrity).

use serde::Serialize;

/// Something wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line, from 1.
    pub line: u64,
    /// The rule's short name.
    pub rule: &'static str,
    /// What is wrong, and with what.
    pub what: String,
}

/// Checks rows as they come.
#[derive(Debug, Default)]
pub struct Validator {}

impl Validator {
    /// Looks at the next line.
    pub fn line(&mut self, number: u64, bytes: &[u8]) {
        let _ = (number, bytes);
        todo!()
    }

    /// What was found, when all lines were seen.
    pub fn finish(self) -> Vec<Finding> {
        todo!()
    }
}
