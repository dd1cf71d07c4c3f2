//! Whether a value is extracted, and if not, why.

use chrono::Duration;
use globset::{Glob, GlobSet, GlobSetBuilder};

pub use self::triggers::Triggers;
use super::entry::{Entry, Extractable, Role, Value};
use super::placeholder::GAIN;
use base::clock::Time;
use sessions::settings::ExtractSettings;

/// Why a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goes {
    /// It is older than what stays.
    Old,
    /// It stands again later in the conversation.
    Again,
    /// The file that it was read of was read again later.
    Reread,
    /// The entry says `_extractable: true`.
    Said,
}

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
    /// What the entry says with `_extractable` means nothing.
    Unclear,
    /// Its row is no sound JSON.
    Broken,
    /// A name on the way to it stands twice.
    Twice,
    /// Another row has its entry's id: it could not be told which one a placeholder is of.
    Shared,
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
    /// No longer in the context: a session that is made of this one is without it.
    Away,
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
    /// No message of the agent's is behind it: it is of the agent's last one, or behind that.
    pub latest: bool,
}

/// The rules as the settings say, at a time.
#[derive(Debug, Clone)]
pub struct Rules<'a> {
    settings: &'a ExtractSettings,
    triggers: Triggers,
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
        Self { settings, triggers: Triggers::new(settings), protect, now }
    }

    /// Whether `value` of `entry` is extracted, and why. `early`: why it may go before it is old.
    /// What an entry says of itself goes before everything but this: the signed reasoning of the
    /// agent's last message stays, since a model takes no conversation in which that was touched.
    ///
    /// # Errors
    /// Why it stays.
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
        let rule = self.triggers.of(entry, value)?;
        let goes = match entry.extractable {
            Some(Extractable::After(messages)) => {
                stays(at.from_end < messages, Stays::Said)?;
                Goes::Old
            }
            _ if at.from_end < rule.keep_recent => early.ok_or(Stays::Recent)?,
            _ => Goes::Old,
        };
        stays(at.first, Stays::First)?;
        stays(at.turns < settings.protect_turns, Stays::Turn)?;
        stays(self.restored_lately(entry), Stays::Restored)?;
        // A row may hold results of several tools.
        let tool = value.tool.as_ref().or(entry.tool.as_ref());
        let protected = tool.is_some_and(|tool| self.protect.is_match(&**tool));
        stays(protected, Stays::Tool)?;
        stays(value.error && settings.keep_errors, Stays::Error)?;
        Ok(goes)
    }

    /// Characters of a value's beginning that its placeholder shows.
    pub fn keep(&self, entry: &Entry, value: &Value) -> u32 {
        self.triggers.keep(entry, value)
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
    // Of the session, and of the branch that the model is sent.
    let first = entries.iter().position(|entry| entry.role == Role::User);
    // There a summary is the user's first message, whatever was kept of what lies before it: in a
    // session made anew it stands ahead of that, and is no summary any more.
    let sent = |holds: &dyn Fn(&Entry) -> bool| {
        entries.iter().position(|entry| entry.in_context && holds(entry))
    };
    let branch = sent(&|entry| entry.summary).or_else(|| sent(&|entry| entry.role == Role::User));
    let firsts = [first, branch];
    let (mut from_end, mut turns, mut begun, mut latest) = (0, 0, false, true);
    // A prompt was met that nobody has answered.
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
    // Where results stand between its rows, a message is as old as its first: a session made anew
    // has its rows together.
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
