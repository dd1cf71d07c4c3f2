use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use base::clock::Time;

/// The copy of the plugin that acts in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActingCopy {
    /// Its folder, as the client names it.
    pub root: PathBuf,
    /// The client's process.
    #[serde(default)]
    pub client: Option<u32>,
    /// When it took the session or last handled a prompt.
    pub answered: Time,
    /// When another copy last stayed silent at a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Time>,
}
