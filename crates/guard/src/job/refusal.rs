//! Why a job verb was refused: each reason names the way out.

use std::fmt;

use super::Holder;

/// Why a job verb did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The session is being cleared.
    Clearing,
    /// Another session that lives works on the job.
    Held {
        /// The job.
        job: String,
        /// That session.
        by: Holder,
        /// The job the session keeps, where it has another one.
        own: Option<String>,
    },
    /// The name can't be given to a new job.
    NameTaken {
        /// The name.
        job: String,
        /// Why.
        taken: Taken,
    },
    /// There is no such job, and the verb makes none.
    NoSuchJob {
        /// The name.
        job: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// No job is paused that nobody works on.
    NothingPaused,
    /// Several are.
    SeveralPaused(Vec<String>),
    /// The session has no job yet.
    NoJob,
    /// The session ends in a boundary that has nothing to do with this.
    OtherBoundary {
        /// The job that crosses.
        job: String,
    },
    /// The job can't be completed yet.
    Unfinished {
        /// The job.
        job: String,
        /// What is missing.
        missing: Vec<Missing>,
    },
    /// The job came with the checkout, and the user has not accepted it.
    Found {
        /// The job.
        job: String,
    },
    /// The job is closed, and nothing is written into it any more.
    Completed {
        /// The job.
        job: String,
    },
}

/// What a job lacks to be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// A phase is open.
    PhaseExit(String),
    /// Its Prior Summary was not written by the session that completes it.
    Summary,
    /// Its file is not sealed as it stands.
    Seal,
}

/// A session as people find it again.
pub fn named(holder: &Holder) -> String {
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
                write!(f, "{} works on the job {job}, and one session at a time does", named(by))?;
                if let Some(own) = own {
                    write!(f, "; this one stays on {own}")?;
                }
                write!(f, ". `brain-guard job pause` there, or its end, sets the job free")
            }
            Self::NameTaken { job, taken: Taken::Twin(twin) } => write!(
                f,
                "there is a job {twin}, and names that differ only in case are one on some disks; say `brain-guard job focus {twin}`, or choose another name than {job}"
            ),
            Self::NameTaken { job, taken: Taken::Default } => write!(
                f,
                "the guard gave the name {job} to another session's default job; choose another one"
            ),
            Self::Found { job } => write!(
                f,
                "the job {job} came with the repository, so only your user can accept it: `/brain-guard:job accept {job}` at the prompt, or `brain-guard job accept {job}` in a terminal"
            ),
            Self::NoSuchJob { job, known } => {
                write!(f, "there is no job {job} to take up; ")?;
                if known.is_empty() {
                    write!(f, "there is none at all yet; ")?;
                } else {
                    write!(f, "there are: {}; ", known.join(", "))?;
                }
                write!(f, "`brain-guard job focus {job}` would begin it")
            }
            Self::NothingPaused => write!(
                f,
                "no job is paused that nobody works on; `brain-guard job list` shows them all"
            ),
            Self::SeveralPaused(names) => {
                write!(f, "several jobs are paused; name one: {}", names.join(", "))
            }
            Self::NoJob => write!(
                f,
                "this session has no job yet; its first note makes one (`brain-guard append`), or `brain-guard job focus NAME`"
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
                "\n  its Prior Summary is not this session's, and it is all that crosses: say what the next work must know"
            )?,
            Missing::Seal => write!(f, "\n  its file is not sealed as it stands")?,
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

/// Why a name can't become a new job's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// A job of this name is there, in other case.
    Twin(String),
    /// The guard gave it to another session as its default job's.
    Default,
}
