//! Settings under `surgery`: where sessions are imported, and when.

use serde::{Deserialize, Serialize};

/// When the guard imports a session by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ImportWhen {
    /// Never.
    #[default]
    Off,
    /// When it ends, in a process of its own.
    SessionEnd,
}

/// The store of sessions. User settings only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SurgerySettings {
    /// When the guard imports a session by itself: `off`, or `session-end`.
    #[serde(alias = "inscribe")]
    pub import: ImportWhen,
    /// The store's folder, if it is not the user's data folder: an absolute path or one below `~/`.
    /// The variable `BRAIN_GUARD_STORE` overrides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
}
