//! What a dialect's rows look like in a new session.

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

use super::Birth;
use crate::ids::{Fresh, Source};
use crate::plan::{Lineage, Operation, Plan};
use base::clock::Time;
use sessions::dialect::{Block, Dialect, Row};
use sessions::round::Session;
use sessions::span::{Field, Span};

/// What a row gets in the new session.
pub(super) struct Link<'a> {
    /// Its id.
    pub id: &'a str,
    /// The row it hangs on.
    pub parent: Option<&'a str>,
    /// When it was written.
    pub time: &'a str,
    /// The new session.
    pub birth: &'a Birth,
    /// The session it comes from.
    pub source: &'a Session,
    /// Its id there.
    pub old: &'a str,
    /// JSON that tells what the session was made from; on its first row.
    pub lineage: Option<&'a str>,
    /// Whether something of the row was left out, by the plan's fidelity.
    pub less: bool,
    /// JSON that tells which rounds the row's table stands for.
    pub stands_for: Option<&'a str>,
    /// The id of its message, where that is given anew.
    pub message: Option<&'a str>,
    /// The fresh id of another row of its session, where that was written.
    pub known: &'a dyn Fn(&str) -> Option<Fresh>,
}

impl<'a> Link<'a> {
    /// A row that comes from no other.
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
            stands_for: None,
            message: None,
            known: &|_| None,
        }
    }
}

/// A tool call or what it gave, in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// The call's id.
    pub id: &'a str,
    /// Which item of the row's message.
    pub item: usize,
    /// Whether it is the result.
    pub result: bool,
}

/// A dialect's way to write rows.
pub(super) trait Form: Sync {
    /// The dialect that reads them.
    fn dialect(&self) -> &'static dyn Dialect;

    /// Writes what a file begins with; `false` where that is nothing.
    fn header(&self, plan: &Plan, birth: &Birth, out: &mut Vec<u8>) -> bool;

    /// Whether a row of this kind goes into the new session at all.
    fn kept(&self, row: &Row, source: &Session) -> bool;

    /// A fresh id of a row.
    fn fresh(&self, source: &Source, old: &str) -> Fresh;

    /// The tool calls and results of a row, in order.
    fn calls(&self, line: &[u8], row: &Row, blocks: &[Block], found: &mut dyn FnMut(Call));

    /// Writes a row, whose fields are given; gives back where its usage lies in `out`.
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

    /// Writes what the session is called.
    fn title(&self, title: &str, link: &Link, out: &mut Vec<u8>);

    /// What a row tells that the client needs to be told once a session, by its kind: told
    /// by two sources, it would stand in the context twice.
    fn once<'a>(&self, line: &'a [u8], row: &Row) -> Option<&'a str>;

    /// A usage of that many tokens.
    fn usage(&self, tokens: u64) -> String;

    /// The row without these items of its message; `None` where nothing is left of it.
    fn without(&self, line: &[u8], row: &Row, items: &[usize]) -> Option<Vec<u8>>;

    /// Whether a block of the agent's message, kept as it is, is one that the API takes.
    fn taken(&self, block: &[u8]) -> bool;

    /// Files of the companion folder that the row refers to.
    fn companions(&self, line: &[u8], found: &mut dyn FnMut(String));
}

/// What the first row tells: a session's metadata.
pub(super) fn lineage(plan: &Plan, birth: &Birth) -> String {
    #[derive(Serialize)]
    struct Told<'a> {
        made: String,
        #[serde(flatten)]
        operation: &'a Operation,
        #[serde(flatten)]
        lineage: &'a Lineage,
    }
    let told = Told { made: stamp(birth.now), operation: &plan.operation, lineage: &plan.lineage };
    // Texts and times are always JSON.
    serde_json::to_string(&told).unwrap_or_default()
}

/// The operation's name, as the verbs have it.
pub(super) fn operation(operation: &Operation) -> &'static str {
    match operation {
        Operation::CompressBefore { .. } => "compress-before",
        Operation::CompressEngagement { .. } => "compress-engagement",
        Operation::ExtractEngagement { .. } => "extract-engagement",
        Operation::Merge => "merge",
        Operation::Split { .. } => "split",
        Operation::Extract { .. } => "extract",
    }
}

/// What the new session is called: as its first source, and what was done to it.
pub(super) fn title(plan: &Plan, birth: &Birth) -> String {
    const CHARACTERS: usize = 40;
    let first = plan.sessions.first();
    let words = || Some(first?.rounds.iter().find(|r| r.user)?.user_preview.as_str());
    let name = birth.title.as_deref().or_else(words).unwrap_or("session");
    let name: String = name.chars().take(CHARACTERS).collect();
    let done = match &plan.operation {
        Operation::CompressBefore { before } => {
            format!("compressed before {}", before.format("%Y-%m-%d"))
        }
        Operation::CompressEngagement { engagement } => format!("{engagement} compressed"),
        Operation::ExtractEngagement { engagement } => format!("only {engagement}"),
        Operation::Merge => "merged".to_owned(),
        Operation::Split { engagement } => format!("split: {engagement}"),
        Operation::Extract { .. } => "extracted".to_owned(),
    };
    format!("{} ({done})", name.trim())
}

/// A time as the clients write it.
pub(super) fn stamp(at: Time) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Whether `a` is a time that is not before `b`; any is not before none.
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
