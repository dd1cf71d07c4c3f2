//! Whether a value is extracted, and if not, why (seed 001, "Trigger Conditions").

use chrono::Duration;
use globset::{Glob, GlobSet, GlobSetBuilder};

use super::entry::{Entry, Extractable, Role, Value};
use super::placeholder::GAIN;
use crate::clock::Time;
use crate::settings::{ExtractSettings, Trigger};

/// Why a value stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stays {
    /// Among the recent messages.
    Recent,
    /// Shorter than `min_value_length`.
    Short,
    /// Of a type that is not extracted.
    Type,
    /// The entry says `_extractable: false`, or how long it stays.
    Said,
    /// It was restored not long ago.
    Restored,
    /// Its tool is protected.
    Tool,
    /// The first message of the user.
    First,
    /// Of the last turns of the agent, or signed reasoning of the very last.
    Turn,
    /// An error.
    Error,
    /// It is a placeholder already.
    Placeholder,
    /// The placeholder would not be shorter.
    NoGain,
}

/// Where an entry stands in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Messages behind it.
    pub from_end: u32,
    /// The first message of the user.
    pub first: bool,
    /// Turns of the agent behind it: 0 in the last one. A turn is one message of the agent's with
    /// what its calls gave; a prompt that nobody has begun yet begins one.
    pub turns: u32,
}

/// The rules as the settings say, at a time.
#[derive(Debug, Clone)]
pub struct Rules<'a> {
    settings: &'a ExtractSettings,
    triggers: Vec<Trigger>,
    protect: GlobSet,
    now: Time,
}

impl<'a> Rules<'a> {
    /// Those of the settings. What is no glob in them protects nothing: the settings were looked
    /// at when they were read.
    pub fn new(settings: &'a ExtractSettings, now: Time) -> Self {
        let mut protect = GlobSetBuilder::new();
        for glob in settings.protect.iter().filter_map(|glob| Glob::new(glob).ok()) {
            protect.add(glob);
        }
        let protect = protect.build().unwrap_or_default();
        Self { settings, triggers: settings.triggers(), protect, now }
    }

    /// Whether `value` of `entry` is extracted. What an entry says of itself goes before
    /// everything but this: the signed reasoning of the agent's last turn stays, since a model
    /// takes no conversation in which that was touched.
    ///
    /// # Errors
    /// Why it stays.
    pub fn extracted(&self, entry: &Entry, value: &Value, at: Position) -> Result<(), Stays> {
        let stays = |holds: bool, why: Stays| if holds { Err(why) } else { Ok(()) };
        stays(entry.extractable == Some(Extractable::Never), Stays::Said)?;
        stays(value.whole && at.turns == 0, Stays::Turn)?;
        stays(least(entry, value) > value.span.end - value.span.start, Stays::NoGain)?;
        if entry.extractable == Some(Extractable::Always) {
            return Ok(());
        }
        let settings = self.settings;
        stays(!self.triggers.contains(&value.trigger), Stays::Type)?;
        stays(value.chars < settings.min_value_length, Stays::Short)?;
        match entry.extractable {
            Some(Extractable::After(messages)) => stays(at.from_end < messages, Stays::Said)?,
            _ => stays(at.from_end < settings.keep_recent, Stays::Recent)?,
        }
        stays(at.first, Stays::First)?;
        stays(at.turns < settings.protect_turns, Stays::Turn)?;
        stays(self.restored_lately(entry), Stays::Restored)?;
        let tools = [&value.tool, &entry.tool];
        let protected = tools.into_iter().flatten().any(|tool| self.protect.is_match(&**tool));
        stays(protected, Stays::Tool)?;
        let error = entry.error && value.trigger == Trigger::ToolResult;
        stays(error && settings.keep_errors, Stays::Error)
    }

    /// Whether the entry was restored less than `keep_after_restore_seconds` ago; at that second
    /// it is extracted again.
    fn restored_lately(&self, entry: &Entry) -> bool {
        let keep = self.settings.keep_after_restore_seconds;
        let keep = i64::try_from(keep).ok().and_then(Duration::try_seconds);
        entry.restored.is_some_and(|at| keep.is_none_or(|keep| self.now - at < keep))
    }
}

/// Bytes from which on a value can be extracted at all: those of the shortest placeholder, and
/// what it must be shorter by.
fn least(entry: &Entry, value: &Value) -> usize {
    let block = if value.whole { r#"{"type":"text","text":}"#.len() } else { 0 };
    r#""[[extracted-]]""#.len() + entry.id.len() + block + GAIN
}

/// The positions of entries, in their order. Messages of branches that were left don't count,
/// nor do several rows of one message but once.
pub fn positions(entries: &[Entry]) -> Vec<Position> {
    let begins = entries.iter().position(|entry| entry.in_context).unwrap_or(0);
    let first = entries.iter().position(|entry| entry.role == Role::User);
    let (mut from_end, mut turns, mut begun) = (0, 0, false);
    // A prompt was met that nobody has answered.
    let mut waits = false;
    let mut all = Vec::with_capacity(entries.len());
    for (n, entry) in entries.iter().enumerate().rev() {
        let counts = entry.in_context || n < begins;
        if counts && matches!(entry.role, Role::Assistant | Role::Tool) {
            turns += u32::from(waits);
            (begun, waits) = (true, false);
        }
        all.push(Position { from_end, first: first == Some(n), turns });
        if counts && !entry.continues {
            from_end += u32::from(entry.role != Role::None);
            turns += u32::from(entry.role == Role::Assistant);
            waits |= entry.role == Role::User && !begun;
        }
    }
    all.reverse();
    all
}

#[cfg(test)]
mod tests;
