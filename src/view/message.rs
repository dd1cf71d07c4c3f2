//! What the parts of the viewer tell each other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crossterm::event::Event;

use crate::cmd::advise::Scale;
use base::atomic::Mark;
use base::clock::Time;
use sessions::cost::Cost;
use sessions::operation::{Operation, Order};
use sessions::round::Session;
use surgery::context::Context;

/// What happened.
#[derive(Debug)]
pub enum Message {
    /// A key, a paste, or another size.
    Input(Event),
    /// A job is done, with what it said beside its answer.
    Answer(Answer, String),
    /// A second has passed.
    Tick,
}

/// Work that reads or writes files. It runs on a worker.
#[derive(Debug, Clone)]
pub enum Job {
    /// The sessions of the project, or of all.
    List {
        /// Of every project.
        all: bool,
    },
    /// A session, with what is new in its file.
    Open {
        /// Its file or id; `None` for the one this runs in, else the latest.
        name: Option<String>,
    },
    /// The open session again.
    Reread {
        /// Its name.
        name: String,
        /// Its file as it was read: if it has not changed, nothing is read.
        known: Option<Mark>,
    },
    /// A round in full.
    Page {
        /// Its session.
        session: Arc<Session>,
        /// Its number.
        seq: u32,
    },
    /// The rounds of a session with these words.
    Search {
        /// The session.
        session: Arc<Session>,
        /// The words.
        words: String,
    },
    /// What would shorten the session best.
    Advise {
        /// Its name.
        name: String,
    },
    /// A successor of the session, with its early rounds as a table.
    Revive {
        /// Its name.
        name: String,
    },
    /// What is wrong with the file of a session; a sound one, unless it is a dry run.
    Mend {
        /// Its name.
        name: String,
        /// Whether nothing is written.
        is_dry: bool,
    },
    /// Tagged rounds by engagement and agent.
    Matrix,
    /// Figures of a plan: those of a dry run.
    Measure {
        /// The session's name.
        name: String,
        /// The plan.
        order: Order,
        /// The plan's number.
        number: u64,
    },
    /// Performs a plan.
    Make {
        /// The session's name.
        name: String,
        /// The plan.
        order: Order,
        /// Where to go on.
        how: How,
    },
    /// Tags rounds, or removes their tags.
    Tag {
        /// The session's name.
        name: String,
        /// The rounds.
        rounds: String,
        /// The engagement; `None` removes.
        engagement: Option<String>,
    },
    /// Undoes what was done.
    Undo(Done),
}

/// Where to go on after a plan is performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Here, in the viewer.
    Stay,
    /// The running client goes on in the new session.
    Running,
    /// In new tmux windows.
    Windows,
}

impl Job {
    /// Whether it may take so long that a key must not wait for it.
    pub fn is_slow(&self) -> bool {
        matches!(
            self,
            Self::List { .. }
                | Self::Matrix
                | Self::Mend { .. }
                | Self::Measure { .. }
                | Self::Make { .. }
                | Self::Tag { .. }
                | Self::Undo(_)
        )
    }

    /// Whether it changes something that stays.
    pub fn acts(&self) -> bool {
        match self {
            Self::Make { .. } | Self::Tag { .. } | Self::Undo(_) => true,
            Self::Mend { is_dry, .. } => !is_dry,
            _ => false,
        }
    }

    /// Whether a newer job of the same kind makes it needless.
    pub fn is_replaced_by(&self, newer: &Self) -> bool {
        if let (Self::Reread { .. }, Self::Reread { known, .. }) = (self, newer) {
            return known.is_none() || matches!(self, Self::Reread { known: Some(_), .. });
        }
        !self.acts()
            && !newer.acts()
            && std::mem::discriminant(self) == std::mem::discriminant(newer)
    }
}

/// What a job found or did.
#[derive(Debug)]
pub enum Answer {
    /// The sessions, the newest first.
    Listed(Vec<Entry>),
    /// A session.
    Opened(Box<Opened>),
    /// The open session as it is now; `None` if it has not changed.
    Reread(Option<Box<Opened>>),
    /// The text of a round.
    Page {
        /// Its session.
        session: String,
        /// Its number.
        seq: u32,
        /// Markdown.
        text: String,
    },
    /// The rounds with the words.
    Found(Filter),
    /// An operation to plan.
    Planned {
        /// The name of the session.
        name: String,
        /// The operation.
        operation: Operation,
        /// Why it is recommended.
        why: Option<String>,
    },
    /// The cells of the matrix.
    Cells(Vec<Cell>),
    /// What is wrong with a session.
    Survey {
        /// Its name.
        name: String,
        /// In words.
        lines: Vec<String>,
        /// Whether a sound one can be made.
        is_broken: bool,
    },
    /// Figures of the plan with this number, or why it can't be.
    Figures {
        /// The plan's number.
        number: u64,
        /// One for each new session.
        figures: Result<Vec<Figures>, String>,
    },
    /// Something was done.
    Did {
        /// One line that says what, and how to undo it.
        line: String,
        /// The rest of the answer, if there is more to read.
        details: String,
        /// What undo needs; `None` if the viewer can't undo it.
        done: Option<Done>,
    },
    /// Something was undone.
    Undid {
        /// One line that says what.
        line: String,
        /// What redo needs.
        done: Done,
    },
    /// The running client was asked to go on in the new session.
    Asked(String),
    /// A job failed.
    Failed {
        /// Why.
        why: String,
        /// The job.
        job: Box<Job>,
    },
}

/// A search.
#[derive(Debug, Clone)]
pub struct Filter {
    /// The id of the session.
    pub session: String,
    /// The words.
    pub words: String,
    /// The rounds with them, and the words around each match.
    pub hits: BTreeMap<u32, String>,
}

/// Rounds of one engagement, phase and agent, in one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its words on the screen.
    pub label: String,
    /// The session.
    pub session: String,
    /// The rounds.
    pub rounds: Vec<u32>,
}

/// Something that was done, which can be undone and done again.
#[derive(Debug, Clone)]
pub enum Done {
    /// Sessions were made.
    Made {
        /// Their ids.
        ids: Vec<String>,
        /// The session they were made of.
        name: String,
        /// The plan.
        order: Order,
        /// The rounds that a split tagged, by their tag before.
        tags: BTreeMap<Option<String>, Vec<u32>>,
    },
    /// Rounds were tagged.
    Tagged {
        /// Their session.
        name: String,
        /// The rounds.
        rounds: String,
        /// The engagement.
        engagement: Option<String>,
        /// Their tags before: rounds by tag.
        before: BTreeMap<String, String>,
    },
    /// A sound session was made, which `u` does not remove.
    Mended {
        /// Its file.
        file: String,
    },
}

/// A session of the list.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// Its file.
    pub file: Option<PathBuf>,
    /// The session it was made from.
    pub made_from: Option<String>,
    /// The operation that made it.
    pub made: Option<String>,
    /// The subagent that ran it.
    pub agent: Option<String>,
    /// When it began.
    pub started: Option<Time>,
    /// When it was last written.
    pub ended: Option<Time>,
    /// Rounds, and tokens of its context, if it is imported.
    pub figures: Option<(u32, u64)>,
    /// The bytes of its file.
    pub bytes: Option<u64>,
    /// The same tokens in percent of the limit.
    pub percent: Option<u64>,
    /// Its tags.
    pub engagements: Vec<String>,
    /// Whether a client has it open.
    pub is_open: bool,
}

/// A session that was opened.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The session.
    pub session: Arc<Session>,
    /// How to name it to a job: its file, else its id.
    pub name: String,
    /// What its context holds.
    pub context: Context,
    /// What that is measured by.
    pub scale: Option<Scale>,
    /// What the API refused at its end.
    pub refusal: Option<&'static str>,
    /// Known engagements.
    pub engagements: Vec<String>,
    /// Its file as it was read.
    pub mark: Option<Mark>,
}

/// Figures of a session that a plan makes.
#[derive(Debug, Clone)]
pub struct Figures {
    /// What it is: its engagement, or empty.
    pub name: String,
    /// Tokens before and after, and when it pays.
    pub cost: Cost,
    /// Thinking blocks that are left out.
    pub thinking_left: usize,
    /// What becomes of which rounds.
    pub rounds: String,
    /// What else it does.
    pub notes: Vec<String>,
}
