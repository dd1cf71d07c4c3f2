//! On or off, as settings spell it.

use serde::{Deserialize, Serialize};

/// A plain switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Yes.
    #[default]
    On,
    /// No.
    Off,
}
