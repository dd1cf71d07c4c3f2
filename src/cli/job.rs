//! The verbs of `job`.

use clap::{Args, Subcommand};

use super::SessionSelector;

/// Which session's job, and what to do with it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brain-guard job focus parser-rewrite\n  brain-guard job pause\n  brain-guard job resume\n  brain-guard seal --no-clear --summary 'what the next work must know' && brain-guard job complete\n  brain-guard job list\n\nExit codes: 0 done, 1 refused (with the way out), 2 wrong usage."
)]
pub struct JobArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// What to do with it
    #[command(subcommand)]
    pub what: JobVerb,
}

/// The verbs of `job`.
#[derive(Debug, Subcommand)]
pub enum JobVerb {
    /// Work on this job from now on; a new name begins a new job
    ///
    /// An existing job continues in a fresh session that gets its file. So does a new job, unless
    /// the user's prompt began this turn and the session had no named job: then the notes so far
    /// become the new job's, and nothing is cleared.
    #[command(
        after_help = "Examples:\n  brain-guard job focus parser-rewrite\n  brain-guard job focus parser-rewrite --no-clear"
    )]
    Focus {
        /// The job's name: letters, digits, `-`, `_`, `.`
        name: String,
        /// Stay in this session
        #[arg(long)]
        no_clear: bool,
    },
    /// Pause this session's job; its file stays as it is
    #[command(after_help = "Example:\n  brain-guard job pause")]
    Pause,
    /// Resume a paused job
    #[command(
        after_help = "Examples:\n  brain-guard job resume\n  brain-guard job resume parser-rewrite"
    )]
    Resume {
        /// The job [default: the one this session paused, or the only paused one]
        name: Option<String>,
    },
    /// Complete this session's job; it must be sealed, with a summary from this session
    #[command(
        after_help = "Example:\n  brain-guard seal --no-clear --summary 'what the next work must know' && brain-guard job complete\n\nA fresh session follows that starts from the Prior Summary alone."
    )]
    Complete,
    /// List the project's jobs, last written first
    #[command(
        after_help = "Examples:\n  brain-guard job list\n  brain-guard job list --json | jq -r '.jobs[].name'"
    )]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a job: its state, phases, sessions and sealed versions
    #[command(
        after_help = "Examples:\n  brain-guard job show\n  brain-guard job show parser-rewrite --json\n  brain-guard job show parser-rewrite --version 3"
    )]
    Show {
        /// The job [default: this session's]
        name: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
        /// Print this sealed version instead
        #[arg(long, value_name = "N", conflicts_with = "json")]
        version: Option<u64>,
    },
    /// Accept a job of another folder that was at this path before (for you, not for the agent)
    ///
    /// A folder that is cloned anew, or another container's, does not get the jobs of the folder
    /// before it by itself.
    #[command(after_help = "Example:\n  brain-guard job accept parser-rewrite")]
    Accept {
        /// The job
        name: String,
    },
    /// Restore a sealed version as the job's file; the current file is kept beside it
    #[command(after_help = "Example:\n  brain-guard job restore parser-rewrite --version 3")]
    Restore {
        /// The job [default: this session's]
        name: Option<String>,
        /// The sealed version
        #[arg(long, value_name = "N")]
        version: u64,
    },
}
