//! What a row of a new session is given: its links, times and metadata.

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

use super::Birth;
use crate::ids::Fresh;
use crate::plan::{Lineage, Performed, Plan};
use base::clock::Time;
use sessions::round::Session;

/// The new values for a row.
pub(super) struct Link<'a> {
    pub id: &'a str,
    /// The id of its parent row.
    pub parent: Option<&'a str>,
    /// When it was written.
    pub time: &'a str,
    pub birth: &'a Birth,
    /// The session it comes from.
    pub source: &'a Session,
    /// Its id there.
    pub old: &'a str,
    /// JSON metadata of the new session, for its first row.
    pub lineage: Option<&'a str>,
    /// Whether the plan's fidelity removed part of the row.
    pub less: bool,
    /// The origin of the row's round.
    pub origin: &'a str,
    /// JSON about the rounds that the row's table stands for.
    pub stands_for: Option<&'a str>,
    /// A fresh id for its message, if it needs one.
    pub message: Option<&'a str>,
    /// The fresh id of another row of its session, if that was written.
    pub known: &'a dyn Fn(&str) -> Option<Fresh>,
}

impl<'a> Link<'a> {
    /// The link of a row without a source row.
    pub fn of(birth: &'a Birth, source: &'a Session) -> Self {
        Self {
            id: "",
            parent: None,
            time: "",
            birth,
            source,
            old: "",
            lineage: None,
            less: false,
            origin: "",
            stands_for: None,
            message: None,
            known: &|_| None,
        }
    }
}

/// A tool call or its result, in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub id: &'a str,
    /// The position of its block in the message.
    pub item: usize,
    pub result: bool,
}

/// The new session's metadata, for its first row.
pub(super) fn lineage(plan: &Plan, birth: &Birth) -> String {
    #[derive(Serialize)]
    struct Told<'a> {
        made: String,
        #[serde(flatten)]
        operation: &'a Performed,
        #[serde(flatten)]
        lineage: &'a Lineage,
        #[serde(skip_serializing_if = "Option::is_none")]
        base: Option<u64>,
        tokens: u64,
    }
    let (operation, lineage) = (&plan.operation, &plan.lineage);
    let Birth { base, tokens, .. } = *birth;
    let told = Told { made: stamp(birth.now), operation, lineage, base, tokens };
    // Texts and times always become valid JSON.
    serde_json::to_string(&told).unwrap_or_default()
}

/// The new session's title: that of its first source, and the operation.
pub(super) fn title(plan: &Plan, birth: &Birth) -> String {
    const CHARACTERS: usize = 40;
    let first = plan.sessions.first();
    let words = || Some(first?.rounds.iter().find(|r| r.user)?.user_preview.as_str());
    let name = birth.title.as_deref().or_else(words).unwrap_or("session");
    let name: String = name.chars().take(CHARACTERS).collect();
    format!("{} ({})", name.trim(), plan.operation.in_title())
}

/// Formats a time as the clients do.
pub(super) fn stamp(at: Time) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Whether `a` is a time not before `b`; an empty `b` is before all.
pub(super) fn later(a: &str, b: &str) -> bool {
    let plain = |t: &str| t.len() == 24 && t.ends_with('Z') && t.as_bytes()[10] == b'T';
    if b.is_empty() {
        return DateTime::parse_from_rfc3339(a).is_ok();
    }
    if plain(a) && plain(b) {
        return a >= b;
    }
    let read = |t: &str| DateTime::parse_from_rfc3339(t).ok();
    read(a).is_some_and(|a| read(b).is_none_or(|b| a >= b))
}
