//! The result of an operation.

use super::target::cwd;
use base::new_file::Written;
use sessions::cost::Cost;
use std::path::PathBuf;
use store::extracted::Record;
use surgery::export::Report;
use surgery::plan::Plan;

/// A session that was made, or would be in a dry run.
#[derive(Debug)]
pub struct Made {
    /// The plan.
    pub plan: Plan,
    /// Its id.
    pub id: String,
    /// Its file; `None` in a dry run.
    pub path: Option<PathBuf>,
    /// Copies of files that its rounds refer to, in the folder beside it.
    pub companions: Vec<Written>,
    /// Whether the client finds it by its id, because it is in the project's client folder.
    pub by_id: bool,
    /// The number of rows.
    pub rows: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The cost, before and after.
    pub cost: Cost,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The exporter's report.
    pub report: Report,
    /// Values that were extracted.
    pub extracted: Vec<Record>,
}

impl Made {
    /// The working folder.
    pub fn cwd(&self) -> Option<&str> {
        cwd(&self.plan)
    }
}
