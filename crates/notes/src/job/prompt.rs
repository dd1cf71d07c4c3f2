//! The user's prompts in a job.

use serde::{Deserialize, Serialize};

use base::clock::Time;

/// One prompt from a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// When.
    pub at: Time,
    /// The session.
    pub session: String,
    /// Its text.
    pub text: String,
}
