//! Settings under `surgery`: where sessions are imported, and when.

use serde::{Deserialize, Serialize};

/// When the guard imports a session by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ImportWhen {
    /// Never.
    #[default]
    Off,
    /// When it ends, in a process of its own.
    SessionEnd,
}

/// Whether the agent may do surgery on the session it runs in (`--here`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AgentMay {
    /// No.
    Off,
    /// If the user agrees.
    #[default]
    Ask,
    /// Yes.
    On,
}

/// The store of sessions. User settings only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SurgerySettings {
    /// When the guard imports a session by itself: `off`, or `session-end`.
    pub import: ImportWhen,
    /// At most this many GB of sessions are kept when sessions are imported as they end; 0: any
    /// number. A session that another one points to stays.
    pub keep_gb: u32,
    /// Days after its last import that a session is kept, likewise; 0: any number.
    pub keep_days: u32,
    /// Whether the agent may do surgery on the session it runs in: `off`, `ask` or `on`.
    pub agent: AgentMay,
}

impl Default for SurgerySettings {
    fn default() -> Self {
        Self {
            import: ImportWhen::default(),
            keep_gb: 5,
            keep_days: 180,
            agent: AgentMay::default(),
        }
    }
}
