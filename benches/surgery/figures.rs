//! The figures of programs and sessions.

use serde::Serialize;

use crate::session::Session;

#[derive(Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    #[serde(skip)]
    pub about: &'static str,
    /// The session's nominal MB.
    pub size: u64,
    /// The session's bytes.
    pub bytes: u64,
    pub p50_ms: f64,
    pub least_ms: f64,
    pub most_ms: f64,
    /// Bytes per second at the median.
    pub speed: f64,
    pub peak_kib: u64,
    /// The allowed resident KiB, if there is a goal.
    pub most_kib: Option<u64>,
    /// The program's instructions without the kernel's, if they were counted.
    pub instructions: Option<u64>,
}

/// A session used for measuring.
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
    /// The size of a session, with each program started this many times on it.
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
