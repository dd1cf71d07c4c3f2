//! Which values get shorter by their placeholders.

use extract::entry::Entry;
use extract::placeholder::{self, About};
use extract::plan::NoGain;
use extract::rules::Triggers;
use sessions::settings::{ExtractSettings, Placeholder};

/// Which values a placeholder would be shorter than.
pub struct Gain<'s> {
    session: &'s str,
    in_place: bool,
    triggers: Triggers,
    form: Placeholder,
}

impl<'s> Gain<'s> {
    /// By the settings, of a session that is edited in place, or made anew: then nothing is left
    /// in the place of what goes whole.
    pub fn of(session: &'s str, in_place: bool, settings: &ExtractSettings) -> Self {
        let triggers = Triggers::new(settings);
        Self { session, in_place, triggers, form: settings.placeholder }
    }

    /// Characters from which on values may go.
    pub fn shortest(&self) -> u32 {
        self.triggers.shortest()
    }

    /// Puts the values of an entry aside that no placeholder is shorter than.
    pub fn none(&self, entry: &Entry, line: &[u8], found: &mut NoGain) {
        let shortest = self.triggers.shortest();
        for value in &entry.values {
            // What the length alone keeps needs no other reason.
            if value.chars < shortest && entry.extractable.is_none() {
                continue;
            }
            let (json, keep) = (value.span.of(line), self.triggers.keep(entry, value));
            if value.whole && !self.in_place {
                continue;
            }
            let tool = value.tool.as_deref().or(entry.tool.as_deref());
            let about = About { entry: &entry.id, session: self.session, tool, json, keep };
            if json.len() < placeholder::long(&about, value.chars)
                && placeholder::json(&about, self.form, value.whole).is_none()
            {
                found.insert((entry.row, value.key.clone()));
            }
        }
    }
}
