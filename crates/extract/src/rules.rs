//! Whether a value is extracted, and if not, why.

use chrono::Duration;
use globset::{Glob, GlobSet, GlobSetBuilder};

pub use self::triggers::Triggers;
use super::entry::{Entry, Extractable, Role, Value};
use super::placeholder::GAIN;
use base::clock::Time;
use sessions::settings::ExtractSettings;

/// Why a value is extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goes {
    /// It is older than the messages that stay.
    Old,
    /// It occurs again later in the conversation.
    Again,
    /// The file it was read from was read again later.
    Reread,
    /// The file it was read from was written anew later.
    Stale,
    /// The entry says `_extractable: true`.
    Said,
}

/// Why a value stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stays {
    /// It is among the recent messages.
    Recent,
    /// It is shorter than `min_value_length`.
    Short,
    /// Its type is not extracted.
    Type,
    /// `_extractable` is `false`, or a number of messages that has not passed.
    Said,
    /// `_extractable` has an unknown value.
    Unclear,
    /// Its row is not valid JSON.
    Broken,
    /// A name on its path occurs twice.
    Twice,
    /// Another row has the same id, so a placeholder would be ambiguous.
    Shared,
    /// It was restored recently.
    Restored,
    /// Its tool is protected.
    Tool,
    /// It is the user's first message.
    First,
    /// It is in the agent's last turns, or signed reasoning of the very last one.
    Turn,
    /// It is an error.
    Error,
    /// It is a placeholder already.
    Placeholder,
    /// The placeholder would not be shorter.
    NoGain,
    /// It is no longer in the context, so a successor does not have it.
    Away,
}

/// Where an entry is in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Messages after it.
    pub from_end: u32,
    /// Whether it is the user's first message.
    pub first: bool,
    /// The agent's turns after it; 0 in the last one. A turn is one message of the agent with the
    /// results of its calls; an unanswered prompt starts one.
    pub turns: u32,
    /// No message of the agent comes after it: it is in the agent's last one, or comes after that.
    pub latest: bool,
}

/// The rules of the settings, at a given time.
#[derive(Debug, Clone)]
pub struct Rules<'a> {
    settings: &'a ExtractSettings,
    triggers: Triggers,
    protect: GlobSet,
    now: Time,
}

impl<'a> Rules<'a> {
    /// The rules of the settings. An invalid glob protects nothing: it was reported when the
    /// settings were read.
    pub fn new(settings: &'a ExtractSettings, now: Time) -> Self {
        let mut protect = GlobSetBuilder::new();
        for glob in settings.protect.iter().filter_map(|glob| Glob::new(glob).ok()) {
            protect.add(glob);
        }
        let protect = protect.build().unwrap_or_default();
        Self { settings, triggers: Triggers::new(settings), protect, now }
    }

    /// Whether `value` of `entry` is extracted, and why; `early` is why it may go before it is old.
    /// An entry's own setting overrides everything except this: signed reasoning in the agent's
    /// last message stays, because models reject a conversation in which it was touched.
    ///
    /// # Errors
    /// Why the value stays.
    pub fn extracted(
        &self,
        entry: &Entry,
        value: &Value,
        at: Position,
        early: Option<Goes>,
    ) -> Result<Goes, Stays> {
        let stays = |holds: bool, why: Stays| if holds { Err(why) } else { Ok(()) };
        stays(entry.broken, Stays::Broken)?;
        stays(entry.extractable == Some(Extractable::Never), Stays::Said)?;
        stays(entry.unclear, Stays::Unclear)?;
        stays(value.whole && at.latest, Stays::Turn)?;
        stays(least(entry, value) > value.span.end - value.span.start, Stays::NoGain)?;
        if entry.extractable == Some(Extractable::Always) {
            return Ok(Goes::Said);
        }
        let settings = self.settings;
        self.triggers.check(value)?;
        let goes = match entry.extractable {
            Some(Extractable::After(messages)) => {
                stays(at.from_end < messages, Stays::Said)?;
                Goes::Old
            }
            _ if at.from_end < settings.keep_recent => early.ok_or(Stays::Recent)?,
            _ => Goes::Old,
        };
        stays(at.first, Stays::First)?;
        stays(at.turns < settings.protect_turns, Stays::Turn)?;
        stays(self.restored_lately(entry), Stays::Restored)?;
        // A row may hold results of several tools.
        let tool = value.tool.as_ref().or(entry.tool.as_ref());
        let protected = tool.is_some_and(|tool| self.protect.is_match(&**tool));
        stays(protected, Stays::Tool)?;
        stays(value.error && settings.fixed.keep_errors, Stays::Error)?;
        Ok(goes)
    }

    /// Whether the entry was restored less than `keep_after_restore_seconds` ago; at that second it
    /// is extracted again.
    fn restored_lately(&self, entry: &Entry) -> bool {
        let keep = self.settings.keep_after_restore_seconds;
        let keep = i64::try_from(keep).ok().and_then(Duration::try_seconds);
        entry.restored.is_some_and(|at| keep.is_none_or(|keep| self.now - at < keep))
    }
}

/// The least bytes of a value that can be extracted: the shortest placeholder plus the required
/// saving.
fn least(entry: &Entry, value: &Value) -> usize {
    let block = if value.whole { r#"{"type":"text","text":}"#.len() } else { 0 };
    r#""[[extracted-]]""#.len() + entry.id.len() + block + GAIN
}

/// The positions of entries, in their order. Messages of abandoned branches do not count; several
/// rows of one message count once.
pub fn positions(entries: &[Entry]) -> Vec<Position> {
    let begins = entries.iter().position(|entry| entry.in_context).unwrap_or(0);
    // The first of the session, and the first of the branch that the model receives.
    let first = entries.iter().position(|entry| entry.role == Role::User);
    // On that branch a summary is the user's first message, even if earlier messages were kept. In
    // a successor it comes before them and is an ordinary prompt.
    let sent = |holds: &dyn Fn(&Entry) -> bool| {
        entries.iter().position(|entry| entry.in_context && holds(entry))
    };
    let branch = sent(&|entry| entry.summary).or_else(|| sent(&|entry| entry.role == Role::User));
    let firsts = [first, branch];
    let (mut from_end, mut turns, mut begun, mut latest) = (0, 0, false, true);
    // A prompt was met that is not answered yet.
    let mut waits = false;
    let mut all = Vec::with_capacity(entries.len());
    for (n, entry) in entries.iter().enumerate().rev() {
        let counts = entry.in_context || n < begins;
        if counts && matches!(entry.role, Role::Assistant | Role::Tool) {
            turns += u32::from(waits);
            (begun, waits) = (true, false);
        }
        all.push(Position { from_end, first: firsts.contains(&Some(n)), turns, latest });
        if counts && !entry.continues {
            latest &= entry.role != Role::Assistant;
            from_end += u32::from(entry.role != Role::None);
            turns += u32::from(entry.role == Role::Assistant);
            waits |= entry.role == Role::User && !begun;
        }
    }
    all.reverse();
    // A message is as old as its first row, even with results between its rows: in a successor its
    // rows are together.
    let mut begun = None;
    for (n, entry) in entries.iter().enumerate().filter(|(_, e)| e.role == Role::Assistant) {
        match begun.filter(|_| entry.continues) {
            Some(first) => all[n] = Position { first: all[n].first, ..first },
            None => begun = Some(all[n]),
        }
    }
    all
}

#[cfg(test)]
mod tests;
mod triggers;
