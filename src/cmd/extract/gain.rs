//! Which values get shorter by their placeholders.

use std::collections::HashSet;

use super::source::{Kind, Source};
use crate::extract::entry::Entry;
use crate::extract::placeholder::{self, About};
use crate::extract::rules::Triggers;
use crate::settings::{ExtractSettings, Placeholder};

/// Which values a placeholder would be shorter than.
pub struct Gain<'s> {
    source: &'s Source,
    triggers: Triggers,
    form: Placeholder,
}

impl<'s> Gain<'s> {
    /// By the settings, of a session.
    pub fn of(source: &'s Source, settings: &ExtractSettings) -> Self {
        Self { source, triggers: Triggers::new(settings), form: settings.placeholder }
    }

    /// Characters from which on values may go.
    pub fn shortest(&self) -> u32 {
        self.triggers.shortest()
    }

    /// Puts the values of an entry aside that no placeholder is shorter than.
    pub fn none(&self, entry: &Entry, line: &[u8], found: &mut HashSet<(u64, String)>) {
        let shortest = self.triggers.shortest();
        for value in &entry.values {
            // What the length alone keeps needs no other reason.
            if value.chars < shortest && entry.extractable.is_none() {
                continue;
            }
            let (json, keep) = (value.span.of(line), self.triggers.keep(entry, value));
            // In a new session of Claude Code's nothing is left in the place of what goes whole.
            if value.whole && self.source.kind == Kind::Claude {
                continue;
            }
            let tool = value.tool.as_deref().or(entry.tool.as_deref());
            let about = About { entry: &entry.id, session: &self.source.session, tool, json, keep };
            if json.len() < placeholder::long(&about, value.chars)
                && placeholder::json(&about, self.form, value.whole).is_none()
            {
                found.insert((entry.row, value.key.to_string()));
            }
        }
    }
}
