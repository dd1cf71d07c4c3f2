use serde::{Deserialize, Serialize};

use crate::policy::limit::AutoCompact;

/// The client as one of its own processes sees it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// The plugin module runs in this client and has our version.
    pub mod_alive: bool,
    /// The client has a prompt box, and somebody may be at it.
    pub interactive: bool,
    /// The session runs in the background (`claude --bg`), with a box that somebody may attach to.
    pub background: bool,
    /// `CLAUDE_CODE_DISABLE_1M_CONTEXT` is on.
    pub long_disabled: bool,
    /// The settings of the client's own compaction.
    pub auto_compact: AutoCompact,
}
