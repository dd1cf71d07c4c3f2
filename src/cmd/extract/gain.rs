//! Finds values that a placeholder would not make shorter.

use extract::entry::Entry;
use extract::placeholder::{self, About};
use extract::plan::NoGain;
use extract::rules::Triggers;
use sessions::settings::ExtractSettings;

/// Compares values with their placeholders.
pub struct Gain {
    in_place: bool,
    triggers: Triggers,
}

impl Gain {
    /// For a session that is edited in place or copied into a new one. A new one keeps no
    /// placeholder for a whole block.
    pub fn new(in_place: bool, settings: &ExtractSettings) -> Self {
        Self { in_place, triggers: Triggers::new(settings) }
    }

    /// The fewest characters that are extracted.
    pub fn shortest(&self) -> u32 {
        self.triggers.shortest
    }

    /// Adds the entry's values that a placeholder would not shorten to `found`.
    pub fn none(&self, entry: &Entry, line: &[u8], found: &mut NoGain) {
        let shortest = self.triggers.shortest;
        for value in &entry.values {
            // A value that is too short for the rules needs no second reason.
            if value.chars < shortest && entry.extractable.is_none() {
                continue;
            }
            let json = value.span.slice(line);
            if value.whole && !self.in_place {
                continue;
            }
            let tool = value.tool.as_deref().or(entry.tool.as_deref());
            let about = About { entry: &entry.id, tool, json };
            if json.len() < placeholder::long(&entry.id)
                && placeholder::json(&about, value.whole).is_none()
            {
                found.insert((entry.row, value.key.clone()));
            }
        }
    }
}
