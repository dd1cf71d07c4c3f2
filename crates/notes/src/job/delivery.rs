//! What a boundary delivers of a job.

use serde::{Deserialize, Serialize};

/// What a boundary delivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// The sealed file; a seal opened the boundary.
    #[default]
    Sealed,
    /// The live file of a job that was focused.
    Reload,
    /// The new file of a focused job that had none.
    Template,
    /// The sealed Prior Summary of a completed job.
    Transition,
}

impl Delivery {
    /// Whether a focus opened the boundary. It delivers the live file as it is when the session
    /// clears.
    pub fn focuses(self) -> bool {
        matches!(self, Self::Reload | Self::Template)
    }
}
