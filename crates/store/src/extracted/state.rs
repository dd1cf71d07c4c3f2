//! What ran when: `<root>/extracted/state.json`.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{make, place};
use crate::blocks::Root;
use base::atomic;
use base::clock::Time;

/// When extraction ran last. Settings written for other programs hold this; it is no setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// When watching looked last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run_at: Option<Time>,
    /// When content was swept last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_retention_run_at: Option<Time>,
}

impl State {
    /// As it is kept; one that can't be read is none: the next run writes it anew.
    pub fn read(root: &Root) -> Self {
        let bytes = atomic::read_record(&file(root)).ok().flatten().unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Keeps it.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, root: &Root) -> io::Result<()> {
        make(&place(root))?;
        atomic::write(&file(root), &serde_json::to_vec(self)?)
    }
}

fn file(root: &Root) -> PathBuf {
    place(root).join("state.json")
}
