//! The terms of a transition: what is asked, what is true around it, what follows.

use crate::boundary::Delivery;
use crate::job::refusal::Taken;
use crate::job::{Holder, Record};

/// What is asked. The job a verb names is in the [`Situation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Works on the named job from now on.
    Focus {
        /// The session is not to be cleared for it.
        no_clear: bool,
    },
    /// Puts the session's job aside.
    Pause,
    /// Takes the named job up again.
    Resume,
    /// Closes the session's job.
    Complete,
}

/// A job as a verb finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// Its record; `None` where the name was claimed at most, and there is no job.
    pub record: Option<Record>,
    /// It has a compaction file.
    pub file: bool,
    /// Named by the guard.
    pub auto: bool,
    /// Who works on it.
    pub held: Held,
}

/// Who works on a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// No session that lives.
    Nobody,
    /// The session that asks.
    Me,
    /// Another one.
    Other(Holder),
}

/// A boundary that the session ends in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderWay {
    /// The job that crosses.
    pub job: String,
    /// What of it.
    pub delivery: Delivery,
    /// The carrier was told to clear: it can't be taken back.
    pub clearing: bool,
}

/// What is true around a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    /// The session that asks.
    pub session: String,
    /// Its job; `None` right after it left one.
    pub own: Option<Seen>,
    /// The job the verb names; for a `resume` without a name, the one that is meant.
    pub named: Option<Seen>,
    /// Why the name can't become a new job's.
    pub taken: Option<Taken>,
    /// The jobs there are, for who named none of them.
    pub known: Vec<String>,
    /// A person's prompt began the turn, and no other named job is in the conversation.
    pub asked: bool,
    /// The boundary the session ends in.
    pub under_way: Option<UnderWay>,
    /// The version of the own job's file, if its seal is unbroken.
    pub sealed: Option<u64>,
    /// The own job's Prior Summary is this session's work.
    pub summed: bool,
}

/// One thing to do; each is done whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Makes the job, named, from the template, and holds it.
    Create(String),
    /// Gives a default job its name, with all that belongs to it, and holds it.
    Adopt {
        /// The default job.
        from: String,
        /// Its name from now on.
        to: String,
    },
    /// Holds the job, which is active from now on; its file is made where there is none.
    Take(String),
    /// Lets go of the job.
    Leave {
        /// The job.
        job: String,
        /// It is paused from now on.
        aside: bool,
    },
    /// Closes the job and lets go of it.
    Close(String),
    /// Leaves word for the hooks: the session's own job and the boundary are theirs.
    Ask(Ask),
}

/// What the hooks are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// The session works on this job.
    Focus {
        /// The job.
        job: String,
        /// The default job it was.
        adopted: Option<String>,
        /// It is new.
        created: bool,
        /// The session is to be cleared for it.
        clear: bool,
    },
    /// The job was put aside.
    Pause {
        /// The job.
        job: String,
    },
    /// The job is closed.
    Complete {
        /// The job.
        job: String,
        /// Version of its sealed file.
        version: u64,
    },
}

/// What a verb leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// In this order; a kill between two leaves every job whole.
    pub effects: Vec<Effect>,
    /// What the boundary delivers that is asked for; `None` where none is.
    pub crosses: Option<Delivery>,
    /// What was done.
    pub done: Done,
}

/// What a verb did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// It was the session's job already.
    Stays(String),
    /// The session's default job has a name now.
    Adopted {
        /// The default job.
        from: String,
        /// Its name.
        to: String,
    },
    /// The job is new.
    Created(String),
    /// The job is the session's now.
    Taken {
        /// The job.
        job: String,
        /// It was completed.
        reopened: bool,
        /// This session put it aside, so its thread is still here.
        here: bool,
    },
    /// The job was put aside.
    Paused(String),
    /// The job is closed.
    Completed {
        /// The job.
        job: String,
        /// Version of its sealed file.
        version: u64,
    },
}
