//! What the user asked for in a job.

use serde::{Deserialize, Serialize};

use base::clock::Time;

/// One prompt by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// When.
    pub at: Time,
    /// In which session.
    pub session: String,
    /// The words.
    pub text: String,
}
