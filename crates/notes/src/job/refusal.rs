//! Reasons why a job verb is refused. Each one names the way out.

use std::fmt;

use super::Holder;

/// Why a job verb did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The session is being cleared.
    Clearing,
    /// Another live session works on the job.
    Held {
        /// The job.
        job: String,
        /// That session.
        by: Holder,
        /// The job that the session keeps, if it has another one.
        own: Option<String>,
    },
    /// A new job cannot have this name.
    NameTaken {
        /// The name.
        job: String,
        /// Why.
        taken: Taken,
    },
    /// The job does not exist, and the verb creates none.
    NoSuchJob {
        /// The name.
        job: String,
        /// The existing jobs.
        known: Vec<String>,
    },
    /// No paused job is free.
    NothingPaused,
    /// Several paused jobs are free.
    SeveralPaused(Vec<String>),
    /// The session has no job yet.
    NoJob,
    /// The session ends in another boundary.
    OtherBoundary {
        /// The job of that boundary.
        job: String,
    },
    /// The job cannot be completed yet.
    Unfinished {
        /// The job.
        job: String,
        /// What is missing.
        missing: Vec<Missing>,
    },
    /// The job is closed and accepts no more notes.
    Completed {
        /// The job.
        job: String,
    },
}

/// What prevents the completion of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// A phase is open.
    PhaseExit(String),
    /// The session that completes it did not write its Prior Summary.
    Summary,
    /// Its file is not sealed, or changed since.
    Seal,
}

/// Describes a session so that people can find it.
pub fn describe_holder(holder: &Holder) -> String {
    match holder.client {
        Some(client) => format!("session {} (process {})", holder.session, client.pid),
        None => format!("session {}", holder.session),
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clearing => {
                write!(f, "this session is being cleared; end your turn, and ask again after it")
            }
            Self::Held { job, by, own } => {
                write!(
                    f,
                    "{} already works on the job {job}; only one session can",
                    describe_holder(by)
                )?;
                if let Some(own) = own {
                    write!(f, "; this session keeps the job {own}")?;
                }
                write!(
                    f,
                    ". To free the job, run `brain-guard job pause` there or end that session"
                )
            }
            Self::NameTaken { job, taken: Taken::Twin(twin) } => write!(
                f,
                "the job {twin} exists, and some disks ignore case; run `brain-guard job focus {twin}`, or choose a name other than {job}"
            ),
            Self::NameTaken { job, taken: Taken::Default } => write!(
                f,
                "the guard gave the name {job} to another session's default job; choose another one"
            ),
            Self::NoSuchJob { job, known } => {
                write!(f, "there is no job {job} to resume; ")?;
                if known.is_empty() {
                    write!(f, "this project has no jobs yet; ")?;
                } else {
                    write!(f, "jobs: {}; ", known.join(", "))?;
                }
                write!(f, "`brain-guard job focus {job}` starts it")
            }
            Self::NothingPaused => {
                write!(f, "no paused job is free; `brain-guard job list` shows all jobs")
            }
            Self::SeveralPaused(names) => {
                write!(f, "several jobs are paused; name one: {}", names.join(", "))
            }
            Self::NoJob => write!(
                f,
                "this session has no job yet. Its first note (`brain-guard append`) begins one; `brain-guard job focus NAME` begins one now"
            ),
            Self::OtherBoundary { job } => write!(
                f,
                "this session is about to be cleared for the job {job}; end your turn, and ask again after it"
            ),
            Self::Unfinished { job, missing } => unfinished(f, job, missing),
            Self::Completed { job } => write!(
                f,
                "the job {job} is completed; `brain-guard job focus {job}` opens it again, `brain-guard job focus NAME` begins another one"
            ),
        }
    }
}

impl std::error::Error for Refusal {}

fn unfinished(f: &mut fmt::Formatter<'_>, job: &str, missing: &[Missing]) -> fmt::Result {
    write!(f, "the job {job} can't be completed yet:")?;
    for one in missing {
        match one {
            Missing::PhaseExit(name) => {
                write!(f, "\n  the phase {name} is open: `brain-guard phase exit` leaves it")?;
            }
            Missing::Summary => write!(
                f,
                "\n  this session did not write the job's Prior Summary, and only that summary is handed over: write what the next work must know"
            )?,
            Missing::Seal => write!(f, "\n  its file is not sealed, or changed after the seal")?,
        }
    }
    let seals = missing.iter().any(|one| !matches!(one, Missing::PhaseExit(_)));
    let (then, summary) = if missing.contains(&Missing::Summary) {
        (seals, " --summary 'what was done, what holds, what the next work must know'")
    } else {
        (seals, "")
    };
    if then {
        write!(f, "\nThen: brain-guard seal --no-clear{summary} && brain-guard job complete")?;
    } else {
        write!(f, "\nThen: brain-guard job complete")?;
    }
    Ok(())
}

/// Why a new job cannot have a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// A job has this name in other case.
    Twin(String),
    /// It is the default job of another session.
    Default,
}
