//! The verbs of `phase`.

use clap::Subcommand;

/// The verbs of `phase`.
#[derive(Debug, Subcommand)]
pub enum PhaseVerb {
    /// Enter a phase; its coaching is printed, now and after each clear
    #[command(
        after_help = "Examples:\n  brain-guard phase enter design\n  brain-guard phase enter 'code review' --coach 'read the tests first'\n\nExit codes: 0 entered, 1 refused (a phase is open), 2 wrong usage."
    )]
    Enter {
        /// Its name: one line, 1 to 60 letters
        name: String,
        /// Coaching for this phase, instead of the job's or the settings'; `-` reads it from stdin
        #[arg(long, value_name = "TEXT")]
        coach: Option<String>,
    },
    /// Leave the phase; every section needs a note, from the phase or given here
    #[command(
        after_help = "Examples:\n  brain-guard phase exit <<'EOF'\n  ## Forward State\n  - write the migration\n  ## Open Threads\n  - none: nothing was left open\n  ## Assumptions & Risks\n  - the feed is sorted\n  ## Process Insight\n  - the first plan was too big; the tests showed it\n  EOF\n  brain-guard phase exit --kind risk 'the feed is sorted' --kind lesson 'plan smaller'\n\nExit codes: 0 left, 1 refused (what is missing is printed, nothing was written), 2 wrong usage."
    )]
    Exit {
        /// A note of this kind, besides Markdown on stdin or instead of it; may be given more than once
        #[arg(long = "kind", value_names = ["KIND", "TEXT"], num_args = 2, allow_hyphen_values = true, action = clap::ArgAction::Append)]
        notes: Vec<String>,
    },
    /// Show the job's phases, and what an exit would lack now
    #[command(after_help = "Example:\n  brain-guard phase list")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}
