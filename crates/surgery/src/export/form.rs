//! How a dialect writes the rows of a new session.

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

use super::Birth;
use crate::ids::{Fresh, Source};
use crate::plan::{Lineage, Performed, Plan};
use base::clock::Time;
use sessions::dialect::{Block, Dialect, Row};
use sessions::round::Session;
use sessions::span::{Field, Span};

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

/// Writes rows of a dialect.
pub(super) trait Form: Sync {
    /// The dialect that reads them.
    fn dialect(&self) -> &'static dyn Dialect;

    /// Writes the header of a file; returns `false` if the dialect has none.
    fn header(&self, plan: &Plan, birth: &Birth, out: &mut Vec<u8>) -> bool;

    /// Whether such a row goes into the new session.
    fn kept(&self, row: &Row, source: &Session) -> bool;

    /// Derives a fresh id for a row.
    fn fresh(&self, source: &Source, old: &str) -> Fresh;

    /// The tool calls and results of a row, in order.
    fn calls(&self, line: &[u8], row: &Row, blocks: &[Block], found: &mut dyn FnMut(Call));

    /// Writes a row with these fields. Returns where its usage is in `out`.
    fn row(
        &self,
        line: &[u8],
        fields: &[Field],
        row: &Row,
        link: &Link,
        out: &mut Vec<u8>,
    ) -> Option<Span>;

    /// Writes a user's message.
    fn message(&self, text: &str, link: &Link, out: &mut Vec<u8>);

    /// Writes the session's title.
    fn title(&self, title: &str, link: &Link, out: &mut Vec<u8>);

    /// The kind of a row that a session needs only once: from two sources, it would be in the
    /// context twice.
    fn once<'a>(&self, line: &'a [u8], row: &Row) -> Option<&'a str>;

    /// JSON for a usage of that many tokens.
    fn usage(&self, tokens: u64) -> String;

    /// The row without these items of its message; `None` if nothing remains.
    fn without(&self, line: &[u8], row: &Row, items: &[usize]) -> Option<Vec<u8>>;

    /// Whether the API accepts a block of the agent's message as it is.
    fn taken(&self, block: &[u8]) -> bool;

    /// Finds the files of the companion folder that the row refers to.
    fn companions(&self, line: &[u8], found: &mut dyn FnMut(String));
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
