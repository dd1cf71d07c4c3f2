//! Writes a plan as rows of a new session, piece by piece. Rows stay byte for byte, except for the
//! fields that make them part of the new session.

mod claude;
mod form;
pub mod opening;
mod out;
mod pairs;
mod round;
mod splice;
#[cfg(test)]
pub(crate) mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};

pub use write::{Failed, Reading, all};

use super::ids::{self, Fresh, Keys};
use super::plan::{Performed, Place, Plan};
use super::{lines, table};
use base::clock::Time;
use base::shown::count_with_noun;
use form::Link;
use out::Out;
use sessions::dialect::{Block, Claude, Dialect as _, Scratch};
use sessions::origin::Named;
use sessions::round::Session;
use sessions::span::Field;

/// What the rows of the new session share.
#[derive(Debug, Clone)]
pub struct Birth {
    /// The new session's id, a UUID.
    pub id: String,
    /// The folder it will run in.
    pub cwd: String,
    /// When it is made.
    pub now: Time,
    /// What its context holds, in tokens: the usage of its last answer.
    pub tokens: u64,
    /// What of that is beside rounds, if it is known.
    pub base: Option<u64>,
    /// The title of its first source, if any; else that source's first words are used.
    pub title: Option<String>,
}

/// Renders a text of the new session from named values.
pub type Say<'s> = dyn Fn(Text, &[(&str, &str)]) -> String + 's;

/// A text of the new session that comes from no source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Around an index table (`templates/surgery-index.md`): `{{table}}`, `{{session}}`,
    /// `{{prefix}}`, `{{rounds}}`, `{{operation}}`.
    Index,
    /// Around the table of who speaks when (`templates/surgery-merge.md`): `{{table}}`,
    /// `{{sessions}}`, `{{reference}}`.
    Voices,
}

/// A file of a source's companion folder that a kept round refers to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Companion {
    /// The session, by its position in the plan.
    pub session: usize,
    /// The path in the session's companion folder: `subagents/agent-1.jsonl`.
    pub path: String,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Rows of the new session.
    pub rows: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Rows of kept rounds that were left out as bookkeeping of the client.
    pub bookkeeping: u64,
    /// Rows of kept rounds that were left out as invalid JSON: their round, and their position in
    /// it, from 0.
    pub broken: Vec<(Place, u32)>,
    /// Sessions, by position in the plan, whose kept rounds include index tables.
    pub told: BTreeSet<usize>,
    /// Thinking blocks behind the change, which the model would refuse.
    pub thinking_left: usize,
    /// What else was left out, with the reason.
    pub notes: Vec<String>,
    /// Companion files of kept rounds.
    pub companions: BTreeSet<Companion>,
}

/// Turns pieces into rows, in the plan's order. Remembers only what the chain needs, and the ids it
/// has given (eight bytes each).
struct Exporter<'p> {
    plan: &'p Plan,
    birth: &'p Birth,
    say: &'p Say<'p>,
    /// Whether each row is checked for invalid JSON.
    careful: bool,
    /// The sources of fresh ids, one per session.
    sources: Vec<ids::Source>,
    /// The parent of the next row.
    last: Option<Fresh>,
    /// The time of that row, as written.
    time: String,
    /// Ids of written rows, finished messages and tool calls.
    written: Keys,
    messages: Keys,
    calls: Keys,
    /// Digests of the thinking blocks in the sources.
    thinking: Vec<ids::Key>,
    /// Whether the current piece is only a compaction's summary.
    summary: bool,
    /// Whether what was written so far is not what the first session had.
    changed: bool,
    /// How many thinking blocks were left out because they are behind a change, and the first round
    /// that had one.
    left: (usize, Option<Place>),
    /// The number of index tables so far.
    tables: u64,
    /// The source of each kind of row that a session needs only once.
    once: BTreeMap<String, usize>,
    /// Metadata that the first row gets.
    lineage: Option<String>,
    report: Report,
    scratch: Scratch,
    /// Fields and blocks of the piece's rows.
    fields: Vec<Field>,
    blocks: Vec<Block>,
}

impl<'p> Exporter<'p> {
    /// Fails for a session that is not one of Claude Code.
    fn new(
        plan: &'p Plan,
        birth: &'p Birth,
        say: &'p Say<'p>,
        careful: bool,
    ) -> Result<Self, Failed> {
        if let Some(other) = plan.sessions.iter().find(|s| s.dialect != Claude.name()) {
            return Err(Failed::Dialect(other.id.clone(), other.dialect.clone()));
        }
        let mut written = Keys::default();
        written.reserve(plan.rows());
        Ok(Self {
            plan,
            birth,
            say,
            careful,
            sources: plan.sessions.iter().map(|s| ids::Source::new(&birth.id, &s.id)).collect(),
            last: None,
            time: String::new(),
            written,
            messages: Keys::default(),
            calls: Keys::default(),
            thinking: Vec::new(),
            summary: false,
            changed: false,
            left: (0, None),
            tables: 0,
            once: BTreeMap::new(),
            lineage: Some(form::lineage(plan, birth)),
            report: Report::default(),
            scratch: Scratch::default(),
            fields: Vec::new(),
            blocks: Vec::new(),
        })
    }

    /// Writes what comes before the first piece.
    fn open(&mut self, out: &mut Vec<u8>) {
        if self.plan.voices && self.plan.sessions.len() > 1 {
            self.voices(out);
        }
    }

    /// Appends the message that says who speaks when.
    fn voices(&mut self, out: &mut Vec<u8>) {
        let Some(first) = self.plan.whole().next() else { return };
        let Some((session, round)) = self.plan.at(first) else { return };
        let ids: Vec<&str> = self.plan.sessions.iter().map(|s| s.id.as_str()).collect();
        let text = (self.say)(
            Text::Voices,
            &[
                ("table", &voices(self.plan)),
                ("sessions", &ids.join(" and ")),
                ("reference", &table::reference(session, first.seq)),
            ],
        );
        let at = round.started.or(session.started).unwrap_or(self.birth.now);
        self.told(&text, "voices", first.session, at, None, out);
    }

    /// Appends the message that holds an index table.
    fn index(&mut self, places: &[Place], out: &mut Vec<u8>) {
        let Some((first, session)) = places.first().and_then(|p| Some((p, self.session(*p)?)))
        else {
            return;
        };
        let text = self.table(places);
        // A split's table comes first, whatever it stands for: later rounds keep their times, and
        // the table is the same in every child.
        let began = match self.plan.operation {
            Performed::Split { .. } => {
                session.rounds.iter().filter_map(|round| round.started).min()
            }
            _ => session.round(first.seq).and_then(|round| round.started),
        };
        let at = began.unwrap_or(self.birth.now);
        // A session of which only lines are there has no rows here.
        let source = if first.session < self.plan.sessions.len() { first.session } else { 0 };
        self.tables += 1;
        let name = format!("index {}", self.tables);
        self.told(&text, &name, source, at, Some(&stands_for(self.plan, places)), out);
    }

    /// Appends a message that comes from no source; `name` makes its id unique.
    fn told(
        &mut self,
        text: &str,
        name: &str,
        source: usize,
        at: Time,
        stands_for: Option<&str>,
        out: &mut Vec<u8>,
    ) {
        self.advance(Some(&form::stamp(at)));
        let id = claude::fresh(&self.sources[source], name);
        self.written.insert(ids::key(id.as_str()));
        let lineage = self.lineage.take();
        let link = Link {
            id: id.as_str(),
            parent: self.last.as_ref().map(Fresh::as_str),
            time: &self.time,
            lineage: lineage.as_deref(),
            stands_for,
            ..Link::of(self.birth, &self.plan.sessions[source])
        };
        claude::message(text, &link, out);
        self.report.rows += 1;
        self.last = Some(id);
    }

    fn session(&self, place: Place) -> Option<&'p Session> {
        self.plan.at(place).map(|(session, _)| session)
    }

    /// The text of an index message.
    fn table(&self, places: &[Place]) -> String {
        let plan = self.plan;
        let of: Vec<&str> = plan.sessions.iter().map(|session| session.id.as_str()).collect();
        let first = places.first().and_then(|place| self.session(*place));
        let session = first.map_or("", |session| session.id.as_str());
        let prefix =
            if lines::is_of_several(plan, places) { String::new() } else { format!("{session}:") };
        (self.say)(
            Text::Index,
            &[
                ("table", &lines::of(plan, places).join("\n")),
                ("session", &of.join(" and ")),
                ("prefix", &prefix),
                ("rounds", &places.len().to_string()),
                ("operation", plan.operation.name()),
            ],
        )
    }

    /// Sets the time of the next row: its own, or the previous row's if that is later.
    fn advance(&mut self, own: Option<&str>) {
        match own {
            Some(own) if form::later(own, &self.time) => {
                self.time.clear();
                self.time.push_str(own);
            }
            _ if self.time.is_empty() => self.time = form::stamp(self.birth.now),
            _ => {}
        }
    }

    /// Ends the export: the last answer's usage gets the new session's tokens, and the last row is
    /// the title.
    fn close(mut self, out: &mut Out) -> Report {
        if let ((count, Some(first)), Some(model)) = (self.left, self.plan.refuses_thinking()) {
            self.report.thinking_left = count;
            let first = self.session(first).map(|session| table::reference(session, first.seq));
            self.report.notes.push(format!(
                "{} behind the change left out, because {model} refuses {} there; `brain-guard \
                 show {} thinking` shows the first",
                count_with_noun(count, "thinking block", "thinking blocks"),
                if count == 1 { "it" } else { "them" },
                first.unwrap_or_default()
            ));
        }
        out.set_usage(&claude::usage(self.birth.tokens));
        let Some((session, source)) = self.plan.sessions.first().zip(self.sources.first()) else {
            return self.report;
        };
        let id = claude::fresh(source, "title");
        let link = Link {
            id: id.as_str(),
            parent: self.last.as_ref().map(Fresh::as_str),
            time: &self.time,
            ..Link::of(self.birth, session)
        };
        claude::title(&form::title(self.plan, self.birth), &link, &mut out.rows);
        self.report.rows += 1;
        self.report
    }
}

/// JSON about an index table, for programs: the origins of the rounds it names.
fn stands_for(plan: &Plan, places: &[Place]) -> String {
    let rounds = places.iter().filter_map(|place| plan.at(*place));
    let named = Named::group(rounds.map(|(session, round)| session.origin(round)));
    // Texts always become valid JSON.
    serde_json::to_string(&named).unwrap_or_default()
}

/// The table of who speaks when: a line for each run of rounds of one session.
pub fn voices(plan: &Plan) -> String {
    let lines: Vec<String> =
        plan.runs().iter().map(|(session, seqs)| table::voice(session, seqs)).collect();
    lines.join("\n")
}
