//! What the guard did in a session, or in all sessions of a job, over time. Pure: what
//! transcripts, journals, seals, tokens and the log told goes in as [`Source`]s, a
//! [`Report`] comes out; `text` and `page` show it to people, its JSON to programs.

mod build;
mod event;
mod html;
mod lanes;
mod page;
mod plot;
mod scale;
mod stances;
mod tables;
mod tally;
mod text;

use serde::Serialize;

pub use event::{Call, Event, What};
pub use page::page;
pub use stances::Band;
pub use tally::{Added, Denied, Totals};
pub use text::{clean, text};

use crate::policy::ramp::Ramp;
use base::clock::Time;

/// What is known of one session.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its id.
    pub id: String,
    /// The job it worked on last.
    pub job: String,
    /// The session it was carried over from.
    pub parent: Option<String>,
    /// When it was first seen.
    pub started: Option<Time>,
    /// When it ended.
    pub ended: Option<Time>,
    /// The tiers, by the settings as they are now.
    pub ramp: Ramp,
    /// What the context held, in the order of time.
    pub points: Vec<Point>,
    /// What the guard did, in any order.
    pub events: Vec<Event>,
    /// The versions that were sealed in it.
    pub seals: Vec<Seal>,
    /// Bytes that a token took in it.
    pub bytes_per_token: f64,
    /// What could not be read of it, in words.
    pub missing: Vec<String>,
}

/// What the context held at one time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// When.
    pub at: Time,
    /// Tokens.
    pub tokens: u64,
    /// Tokens that count as full.
    pub limit: u64,
    /// Tokens in percent of the limit.
    pub percent: f64,
    /// The model that answered; a compaction names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The client's own compaction left it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
}

impl Point {
    /// A point whose percent follows from the limit.
    pub fn new(at: Time, tokens: u64, limit: u64, model: Option<String>, compacted: bool) -> Self {
        let percent = tokens as f64 * 100.0 / limit.max(1) as f64;
        Self { at, tokens, limit, percent, model, compacted }
    }
}

/// A version of the compaction file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seal {
    /// When it was sealed.
    pub at: Time,
    /// The job's name.
    pub job: String,
    /// Its number.
    pub version: u64,
    /// Words of the file before; `None` where that file is gone.
    pub before: Option<u64>,
    /// Words of the sealed file.
    pub after: u64,
}

/// A way from one session to the next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Crossing {
    /// The token's id.
    pub token: String,
    /// The job that crossed.
    pub job: String,
    /// The session that ended.
    pub from: String,
    /// The session that began, once it has.
    pub to: Option<String>,
    /// What executed it.
    pub carrier: String,
    /// The step it reached.
    pub step: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The sealed version that crossed; 0 where none did.
    pub version: u64,
    /// When it was opened.
    pub opened: Time,
    /// When the turn before it ended.
    pub turn_ended: Option<Time>,
    /// When the new session's first request went out.
    pub first_request: Option<Time>,
    /// Seconds between these two.
    pub seconds: Option<f64>,
}

/// A tier of one session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tier {
    /// Its name.
    pub name: String,
    /// Percent of the context's limit at which it begins.
    pub context: f64,
    /// Percent of the file's limit at which it begins.
    pub file: f64,
    /// The bands it blocks.
    pub blocks: Vec<&'static str>,
}

/// The compaction file's words at one time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Words {
    /// When.
    pub at: Time,
    /// Words.
    pub words: u64,
    /// Words that count as full.
    pub limit: u64,
    /// Words in percent of the limit.
    pub percent: f64,
}

/// One session of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// The session's id.
    pub session: String,
    /// The job it worked on last.
    pub job: String,
    /// The session it was carried over from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The first moment of which anything is known.
    pub from: Option<Time>,
    /// The last one.
    pub to: Option<Time>,
    /// The tiers, mildest first.
    pub tiers: Vec<Tier>,
    /// What the context held.
    pub fill: Vec<Point>,
    /// What the compaction file held, where the guard measured it.
    pub words: Vec<Words>,
    /// The stances, free left out.
    pub stances: Vec<Band>,
    /// What the guard did, in order of time; calls that just passed are left out.
    pub events: Vec<Event>,
    /// The versions that were sealed.
    pub seals: Vec<Seal>,
    /// What could not be read, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What it comes to.
    pub totals: Totals,
}

/// What a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// One session, by its id.
    Session(String),
    /// All sessions of a job, by its name.
    Job(String),
}

impl Subject {
    /// The heading of a report.
    pub fn title(&self) -> String {
        match self {
            Self::Session(id) => format!("session {id}"),
            Self::Job(name) => format!("job {name}"),
        }
    }
}

/// A report. Its JSON is what `report --json` prints and what the page carries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The guard's version.
    pub guard: &'static str,
    /// When it was made.
    pub made: Time,
    /// The project's folder.
    pub project: String,
    /// What it is about.
    pub subject: Subject,
    /// The sessions, oldest first.
    pub sessions: Vec<Part>,
    /// The boundaries between them, and those that led nowhere.
    pub boundaries: Vec<Crossing>,
    /// What all of it comes to.
    pub totals: Totals,
}

impl Report {
    /// Puts the sessions in the order of time and counts.
    pub fn of(
        subject: Subject,
        project: String,
        sources: Vec<Source>,
        mut boundaries: Vec<Crossing>,
        made: Time,
    ) -> Self {
        let mut sessions: Vec<Part> = sources.into_iter().map(build::part).collect();
        sessions.sort_by_key(|part| part.from);
        boundaries.sort_by_key(|b| b.opened);
        let totals = Totals::sum(sessions.iter().map(|part| &part.totals));
        Self {
            guard: env!("CARGO_PKG_VERSION"),
            made,
            project,
            subject,
            sessions,
            boundaries,
            totals,
        }
    }

    /// What the guard added, in percent of what the sessions' contexts hold when full.
    fn share(&self) -> Option<f64> {
        let limits = self.sessions.iter().filter_map(|part| part.fill.last());
        let full: u64 = limits.map(|point| point.limit).sum();
        (full > 0).then(|| self.totals.added.tokens as f64 * 100.0 / full as f64)
    }

    /// Every moment of which anything is known, in order.
    fn times(&self) -> Vec<Time> {
        let mut times: Vec<Time> = self
            .sessions
            .iter()
            .flat_map(|part| {
                let fill = part.fill.iter().map(|p| p.at);
                let events = part.events.iter().map(|e| e.at);
                let words = part.words.iter().map(|w| w.at);
                let bands = part.stances.iter().flat_map(|b| [b.from, b.to]);
                fill.chain(events).chain(words).chain(bands)
            })
            .collect();
        times.sort();
        times.dedup();
        times
    }
}

#[cfg(test)]
mod tests;
