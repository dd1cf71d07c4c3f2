//! Times of the last runs: `<root>/extracted/state.json`.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{make, place};
use crate::blocks::Root;
use base::atomic;
use base::clock::Time;

/// When extraction last ran. Settings of other programs hold this, but it is not a setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// When watching last looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run_at: Option<Time>,
    /// When content was last swept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_retention_run_at: Option<Time>,
}

impl State {
    /// Reads the state. An unreadable file counts as empty; the next run rewrites it.
    pub fn read(root: &Root) -> Self {
        let bytes = atomic::read_record(&file(root)).ok().flatten().unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Writes the state.
    pub fn write(&self, root: &Root) -> io::Result<()> {
        make(&place(root))?;
        atomic::write(&file(root), &serde_json::to_vec(self)?)
    }
}

fn file(root: &Root) -> PathBuf {
    place(root).join("state.json")
}
