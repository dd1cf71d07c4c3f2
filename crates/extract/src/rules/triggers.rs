//! Which types of values are extracted, and from which length on.

use super::Stays;
use crate::entry::{Trigger, Value};
use sessions::settings::ExtractSettings;

/// How much longer a value of a call must be than another one.
const CALL: u32 = 4;

/// The types of the settings, and the least length.
#[derive(Debug, Clone)]
pub struct Triggers {
    kinds: Vec<Trigger>,
    /// Characters of the shortest value that is extracted.
    pub shortest: u32,
}

impl Triggers {
    /// Those of the settings.
    pub fn new(settings: &ExtractSettings) -> Self {
        Self { kinds: settings.triggers(), shortest: settings.min_value_length }
    }

    /// Checks the type and the length of a value.
    ///
    /// # Errors
    /// Its type is not extracted, or it is too short.
    pub fn check(&self, value: &Value) -> Result<(), Stays> {
        if !self.kinds.contains(&value.trigger) {
            return Err(Stays::Type);
        }
        // A call says what the agent did, so only long ones go.
        let shortest = match value.trigger {
            Trigger::ToolCall => self.shortest.saturating_mul(CALL),
            _ => self.shortest,
        };
        if value.chars >= shortest { Ok(()) } else { Err(Stays::Short) }
    }
}
