//! What was measured, of a program and of a session.

use serde::Serialize;

use crate::session::Session;

/// One line of the table.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    #[serde(skip)]
    pub about: &'static str,
    /// MB of session that it was asked for.
    pub size: u64,
    /// Bytes of session that it works on.
    pub bytes: u64,
    pub p50_ms: f64,
    pub least_ms: f64,
    pub most_ms: f64,
    /// Bytes a second at the median.
    pub speed: f64,
    pub peak_kib: u64,
    /// KiB that it may have resident, where there is a goal.
    pub most_kib: Option<u64>,
    /// Of the program, none of the kernel's, where they were counted.
    pub instructions: Option<u64>,
}

/// A session that was measured on.
#[derive(Debug, Serialize)]
pub struct Size {
    pub megabytes: u64,
    pub rows: u64,
    pub rounds: u64,
    /// Bytes of the largest round, and of the largest row.
    pub largest_round: u64,
    pub largest_row: u64,
    pub times: usize,
}

impl Size {
    /// That of a session, each program on it started so many times.
    pub fn of(megabytes: u64, session: &Session, times: usize) -> Self {
        Self {
            megabytes,
            rows: session.rows,
            rounds: session.rounds,
            largest_round: session.largest,
            largest_row: session.largest_row,
            times,
        }
    }
}
