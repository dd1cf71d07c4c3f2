//! Writes a plan as the rows of a new session, one piece at a time: what is kept is kept byte
//! for byte, and only what makes it part of the new session is put in its place.

mod claude;
mod form;
mod out;
mod pairs;
mod pi;
#[cfg(test)]
mod properties;
mod round;
mod splice;
#[cfg(test)]
pub(crate) mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};

pub use write::{Failed, all};

use super::ids::{self, Fresh, Keys};
use super::plan::{Operation, Place, Plan};
use super::{ranges, table};
use base::clock::Time;
use form::{Form, Link};
use out::Out;
use sessions::dialect::{Block, Dialect, Scratch};
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
    /// Tokens it will hold, where somebody counted them; else they are estimated.
    pub tokens: Option<u64>,
    /// What its first source is called, where it has a name; else its first words are taken.
    pub title: Option<String>,
}

/// Fills a text of the new session with what stands in its place.
pub type Say<'s> = dyn Fn(Text, &[(&str, &str)]) -> String + 's;

/// A text of the new session that no source has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Around an index table (`templates/surgery-index.md`): `{{table}}`, `{{session}}`,
    /// `{{rounds}}`, `{{operation}}`.
    Index,
    /// Around the table of who speaks when (`templates/surgery-merge.md`): `{{table}}`,
    /// `{{sessions}}`, `{{reference}}`.
    Voices,
}

/// A file of a source's companion folder that a kept round refers to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Companion {
    /// Which of the plan's sessions.
    pub session: usize,
    /// Below the session's companion folder: `subagents/agent-1.jsonl`.
    pub path: String,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Rows of the new session.
    pub rows: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Tokens it is estimated to hold.
    pub tokens: u64,
    /// Rows of kept rounds that were left out because they are the client's own bookkeeping.
    pub bookkeeping: u64,
    /// Rows of kept rounds that are no JSON and were left out: their round, and which row of it
    /// they are, from 0.
    pub broken: Vec<(Place, u32)>,
    /// Sessions, by their place in the plan, that index tables came along from in kept rounds.
    pub told: BTreeSet<usize>,
    /// What else was left out, and why.
    pub notes: Vec<String>,
    /// Files that belong to kept rounds.
    pub companions: BTreeSet<Companion>,
}

/// Turns pieces into rows. Fed in the plan's order; keeps what the chain needs, the ids that
/// were given (eight bytes each), and nothing else.
struct Exporter<'p> {
    plan: &'p Plan,
    birth: &'p Birth,
    say: &'p Say<'p>,
    form: &'static dyn Form,
    /// Rows are looked through for what is no JSON.
    careful: bool,
    /// Fresh ids, for each session.
    sources: Vec<ids::Source>,
    /// The row that the next one hangs on.
    last: Option<Fresh>,
    /// The time of that row, as written.
    time: String,
    /// Ids of written rows, of finished messages, of tool calls.
    written: Keys,
    messages: Keys,
    calls: Keys,
    /// Thinking blocks as they are in the sources.
    thinking: Vec<ids::Key>,
    /// Of index tables.
    tables: u64,
    /// Which source told something that is told once a session, by its kind.
    once: BTreeMap<String, usize>,
    /// Told on the first row.
    lineage: Option<String>,
    report: Report,
    scratch: Scratch,
    /// Fields and blocks of the rows of the piece.
    fields: Vec<Field>,
    blocks: Vec<Block>,
}

impl<'p> Exporter<'p> {
    /// An exporter of this plan.
    ///
    /// # Errors
    /// Sessions of a dialect that is not known, or of two.
    fn new(
        plan: &'p Plan,
        birth: &'p Birth,
        say: &'p Say<'p>,
        careful: bool,
    ) -> Result<Self, Failed> {
        let name = plan.sessions.first().map_or("claude", |s| s.dialect.as_str());
        if let Some(other) = plan.sessions.iter().find(|s| s.dialect != name) {
            let (a, b) = (name.to_owned(), other.dialect.clone());
            return Err(Failed::Dialects(a, b));
        }
        let form = named(name).ok_or_else(|| Failed::Dialect(name.to_owned()))?;
        let mut written = Keys::default();
        written.reserve(plan.rows());
        Ok(Self {
            plan,
            birth,
            say,
            form,
            careful,
            sources: plan.sessions.iter().map(|s| ids::Source::new(&birth.id, &s.id)).collect(),
            last: None,
            time: String::new(),
            written,
            messages: Keys::default(),
            calls: Keys::default(),
            thinking: Vec::new(),
            tables: 0,
            once: BTreeMap::new(),
            lineage: Some(form::lineage(plan, birth)),
            report: Report::default(),
            scratch: Scratch::default(),
            fields: Vec::new(),
            blocks: Vec::new(),
        })
    }

    /// Appends what stands before the first piece.
    fn open(&mut self, out: &mut Vec<u8>) {
        if self.form.header(self.plan, self.birth, out) {
            self.report.rows += 1;
        }
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
        let text = self.table(places, session);
        // A split's table stands at the top whatever it stands for: the rounds behind it keep
        // their times, and it is the same in every child.
        let began = match self.plan.operation {
            Operation::Split { .. } => {
                session.rounds.iter().filter_map(|round| round.started).min()
            }
            _ => session.round(first.seq).and_then(|round| round.started),
        };
        let at = began.unwrap_or(self.birth.now);
        self.tables += 1;
        let name = format!("index {}", self.tables);
        self.told(&text, &name, first.session, at, Some(&stands_for(session, places)), out);
    }

    /// Appends a message that no source has; `name` tells it from others.
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
        let id = self.form.fresh(&self.sources[source], name);
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
        self.form.message(text, &link, out);
        self.report.tokens += text.len() as u64 / 4;
        self.report.rows += 1;
        self.last = Some(id);
    }

    fn session(&self, place: Place) -> Option<&'p Session> {
        self.plan.sessions.get(place.session)
    }

    /// The text of an index message.
    fn table(&self, places: &[Place], session: &Session) -> String {
        // A number alone is enough where all are of one session.
        let several = self.plan.sessions.len() > 1;
        let mut lines = String::new();
        for place in places {
            let Some((of, round)) = self.plan.at(*place) else { continue };
            lines.push_str(&if several { table::long_line(of, round) } else { table::line(round) });
            lines.push('\n');
        }
        (self.say)(
            Text::Index,
            &[
                ("table", lines.trim_end()),
                ("session", &session.id),
                ("rounds", &places.len().to_string()),
                ("operation", form::operation(&self.plan.operation)),
            ],
        )
    }

    /// Sets the time of the next row: its own, or that of the row before where that is later.
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

    /// Ends the export: the last answer says how many tokens the new session holds; the last
    /// row says what it is called.
    fn close(mut self, out: &mut Out) -> Report {
        self.report.tokens = self.birth.tokens.unwrap_or(self.report.tokens);
        out.set_usage(&self.form.usage(self.report.tokens));
        let Some((session, source)) = self.plan.sessions.first().zip(self.sources.first()) else {
            return self.report;
        };
        let id = self.form.fresh(source, "title");
        let link = Link {
            id: id.as_str(),
            parent: self.last.as_ref().map(Fresh::as_str),
            time: &self.time,
            ..Link::of(self.birth, session)
        };
        self.form.title(&form::title(self.plan, self.birth), &link, &mut out.rows);
        self.report.rows += 1;
        self.report
    }
}

/// What an index table tells a program of itself: the session, the rounds it stands for, and the
/// row that each of these begins with.
fn stands_for(session: &Session, places: &[Place]) -> String {
    let seqs: Vec<u32> = places.iter().map(|place| place.seq).collect();
    let first: Vec<Option<&str>> =
        seqs.iter().map(|seq| session.round(*seq)?.first_id.as_deref()).collect();
    let rounds = ranges::show(&seqs);
    serde_json::json!({ "session": session.id, "rounds": rounds, "first": first }).to_string()
}

/// The id that a row of a session gets in a new one, where ids come from `source`.
pub fn fresh(dialect: &dyn Dialect, source: &ids::Source, old: &str) -> String {
    let form = named(dialect.name()).unwrap_or(&claude::Claude);
    form.fresh(source, old).as_str().to_owned()
}

/// The table of who speaks when: a line for each run of rounds of one session.
pub fn voices(plan: &Plan) -> String {
    let lines: Vec<String> =
        plan.runs().iter().map(|(session, seqs)| table::voice(session, seqs)).collect();
    lines.join("\n")
}

/// The form of a dialect.
fn named(name: &str) -> Option<&'static dyn Form> {
    match name {
        "claude" => Some(&claude::Claude),
        "pi" => Some(&pi::Pi),
        _ => None,
    }
}
