//! Input and output types of a transition.

use crate::job::Delivery;
use crate::job::refusal::Taken;
use crate::job::{Holder, Record};

/// A job verb. The job it names is in the [`Situation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Switches to the named job.
    Focus {
        /// Whether to keep the conversation.
        no_clear: bool,
    },
    /// Pauses the session's job.
    Pause,
    /// Continues the named job.
    Resume,
    /// Closes the session's job.
    Complete,
}

/// The state of a job when a verb runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// Its record. `None` if the job does not exist, although its name may be claimed.
    pub record: Option<Record>,
    /// Whether it has a compaction file.
    pub file: bool,
    /// Whether the guard named it.
    pub auto: bool,
    /// Who works on it.
    pub held: Held,
}

/// Who works on a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// No live session.
    Nobody,
    /// The session that runs the verb.
    Me,
    /// Another session.
    Other(Holder),
}

/// An open boundary of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderWay {
    /// Its job.
    pub job: String,
    /// Which of its texts is delivered.
    pub delivery: Delivery,
    /// Whether the carrier was told to clear, so that it cannot be undone.
    pub clearing: bool,
}

/// Everything that the decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    /// The session that runs the verb.
    pub session: String,
    /// Its job.
    pub own: Seen,
    /// The job that the verb names, or the one that a `resume` without a name means.
    pub named: Option<Seen>,
    /// Why a new job cannot have the name.
    pub taken: Option<Taken>,
    /// All existing jobs, for the message if the name is unknown.
    pub known: Vec<String>,
    /// Whether a person's prompt started the turn and the conversation has no other named job.
    pub asked: bool,
    /// The open boundary, if there is one.
    pub under_way: Option<UnderWay>,
    /// The version of the session's sealed file, if its seal is unbroken.
    pub sealed: Option<u64>,
    /// Whether this session wrote the Prior Summary of its job.
    pub summed: bool,
}

/// One atomic step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Creates the job from the template and takes it.
    Create(String),
    /// Renames a default job, with everything that belongs to it, and takes it.
    Adopt {
        /// The default job.
        from: String,
        /// Its new name.
        to: String,
    },
    /// Takes the job and makes it active. Creates its file if it is missing.
    Take(String),
    /// Releases the job.
    Leave {
        /// The job.
        job: String,
        /// Whether it becomes paused.
        aside: bool,
    },
    /// Closes and releases the job.
    Close(String),
}

/// What a verb means for the session that runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextWork {
    /// It goes on with its job.
    Stays,
    /// It switches to this job.
    Focus {
        /// The job.
        job: String,
        /// The default job that was renamed to it.
        adopted: Option<String>,
        /// Whether it is new.
        created: bool,
        /// Whether to clear the session for it.
        clear: bool,
    },
    /// It paused its job.
    Pause {
        /// The job.
        job: String,
    },
    /// It closed its job.
    Complete {
        /// The job.
        job: String,
        /// The version of its sealed file.
        version: u64,
    },
}

/// The result of a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The steps in order. A kill between two of them leaves every job intact.
    pub effects: Vec<Effect>,
    /// What comes after them.
    pub next_work: NextWork,
    /// What the requested boundary delivers. `None` without one.
    pub crosses: Option<Delivery>,
    /// What was done.
    pub done: Done,
}

/// What a verb did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// The session already works on this job.
    Stays(String),
    /// The session's default job was renamed.
    Adopted {
        /// The default job.
        from: String,
        /// Its new name.
        to: String,
    },
    /// The job is new.
    Created(String),
    /// The session took the job.
    Taken {
        /// The job.
        job: String,
        /// Whether it was completed before.
        reopened: bool,
        /// Whether this session paused it, so that its work is still in the conversation.
        here: bool,
    },
    /// The job was paused.
    Paused(String),
    /// The job is closed.
    Completed {
        /// The job.
        job: String,
        /// The version of its sealed file.
        version: u64,
    },
}
