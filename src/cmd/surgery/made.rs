//! What an operation made, or would make.

use super::target::{cwd, dialect};
use base::new_file::Written;
use sessions::cost::Cost;
use std::path::PathBuf;
use store::extracted::Record;
use surgery::export::Report;
use surgery::plan::Plan;

/// What was made, or would be.
#[derive(Debug)]
pub struct Made {
    /// The plan it follows.
    pub plan: Plan,
    /// Its id.
    pub id: String,
    /// Its file; none in a dry run.
    pub path: Option<PathBuf>,
    /// Files that its rounds refer to, in the folder beside it.
    pub companions: Vec<Written>,
    /// Whether the client finds it by its id: it lies in the client's folder of the project.
    pub by_id: bool,
    /// Rows it has.
    pub rows: u64,
    /// Bytes it has.
    pub bytes: u64,
    /// What it costs and frees.
    pub cost: Cost,
    /// What else is to be said of it.
    pub notes: Vec<String>,
    /// What the exporter says of it.
    pub report: Report,
    /// Values that were extracted on the way.
    pub extracted: Vec<Record>,
}

impl Made {
    /// The folder it goes on in.
    pub fn cwd(&self) -> Option<&str> {
        cwd(&self.plan)
    }

    /// How its rows are written.
    pub fn dialect(&self) -> &str {
        dialect(&self.plan)
    }
}
