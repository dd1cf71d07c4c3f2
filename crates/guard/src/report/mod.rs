//! Reports what the guard did over time, in one session or in all sessions of a job. Pure: data
//! from transcripts, journals, seals and tokens goes in as [`Source`]s, a [`Report`] comes
//! out. `text` and `page` format it for people, its JSON is for programs.

mod build;
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

pub use page::page;
pub use stances::Band;
pub use tally::{Added, Denied, Totals};
pub use text::{clean, text};

use crate::journal::{Line, What};
use crate::policy::ramp::{Ramp, Tier};
use base::clock::Time;

/// The data about one session.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its id.
    pub id: String,
    /// The job it worked on last.
    pub job: String,
    /// The session whose notes it continues.
    pub parent: Option<String>,
    /// When it was first seen.
    pub started: Option<Time>,
    /// When it ended.
    pub ended: Option<Time>,
    /// The tiers, by the current settings.
    pub ramp: Ramp,
    /// The context usage, in order of time.
    pub points: Vec<Point>,
    /// What the guard did, in any order.
    pub events: Vec<Line>,
    /// The versions sealed in it.
    pub seals: Vec<Seal>,
    /// Bytes per token in this session.
    pub bytes_per_token: f64,
    /// Data that could not be read, in words.
    pub missing: Vec<String>,
}

/// The context usage at one time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// When.
    pub at: Time,
    /// Tokens.
    pub tokens: u64,
    /// The limit in tokens.
    pub limit: u64,
    /// Tokens in percent of the limit.
    pub percent: f64,
    /// The model that answered; `None` for a compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Measured after the client compacted by itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
}

impl Point {
    /// A point; computes the percentage.
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
    /// Words of the file before the seal; `None` if that file is gone.
    pub before: Option<u64>,
    /// Words of the sealed file.
    pub after: u64,
}

/// A boundary between two sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Crossing {
    /// The token's id.
    pub token: String,
    /// The job.
    pub job: String,
    /// The session that ended.
    pub from: String,
    /// The session that began, once it has.
    pub to: Option<String>,
    /// The carrier that performed it.
    pub carrier: String,
    /// The step it reached.
    pub step: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The sealed version that the new session continues; 0 if there is none.
    pub version: u64,
    /// When its token was created.
    pub opened: Time,
    /// When the turn before it ended.
    pub turn_ended: Option<Time>,
    /// When the new session sent its first request.
    pub first_request: Option<Time>,
    /// Seconds from `turn_ended` to `first_request`.
    pub seconds: Option<f64>,
}

/// The compaction file's words at one time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Words {
    /// When.
    pub at: Time,
    /// Words.
    pub words: u64,
    /// The limit in words.
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
    /// The session whose notes it continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The first time with data.
    pub from: Option<Time>,
    /// The last time with data.
    pub to: Option<Time>,
    /// The tiers, mildest first.
    pub tiers: Vec<Tier>,
    /// The context usage over time.
    pub fill: Vec<Point>,
    /// The size of the compaction file, where the guard measured it.
    pub words: Vec<Words>,
    /// The tiers over time, without the times below all tiers.
    pub stances: Vec<Band>,
    /// What the guard did, in order of time, without calls that just passed.
    pub events: Vec<Line>,
    /// The sealed versions.
    pub seals: Vec<Seal>,
    /// Data that could not be read, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The sums.
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

/// A report. `report --json` prints it as JSON, and the page embeds that JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The guard's version.
    pub guard: &'static str,
    /// When it was made.
    pub made: Time,
    /// The project's folder.
    pub project: String,
    /// What the report is about.
    pub subject: Subject,
    /// The sessions, oldest first.
    pub sessions: Vec<Part>,
    /// The boundaries between them, including failed ones.
    pub boundaries: Vec<Crossing>,
    /// The sums of all sessions.
    pub totals: Totals,
}

impl Report {
    /// Sorts the sessions by time and sums up.
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
        let totals = Totals::sum(&sessions);
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

    /// Tokens that the guard added, in percent of the sessions' limits.
    fn share(&self) -> Option<f64> {
        let limits = self.sessions.iter().filter_map(|part| part.fill.last());
        let full: u64 = limits.map(|point| point.limit).sum();
        (full > 0).then(|| self.totals.added.tokens as f64 * 100.0 / full as f64)
    }

    /// All times with data, in order.
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
