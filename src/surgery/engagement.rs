//! `engagement.md`: the id of the work that goes on in a project, and its phases by time.

use crate::clock::Time;

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Engagement {
    /// Its id.
    pub id: String,
    /// Its phases, by when they began.
    pub phases: Vec<Phase>,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// When it began.
    pub from: Time,
    /// When it ended; open where it has not.
    pub to: Option<Time>,
}

/// Reads the file.
///
/// # Errors
/// What is wrong and in which line.
pub fn parse(text: &str) -> Result<Engagement, String> {
    let _ = text;
    todo!()
}
