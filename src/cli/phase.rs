//! The verbs of `phase`.

use clap::Subcommand;

/// What can be done with the phases of a job.
#[derive(Debug, Subcommand)]
pub enum PhaseVerb {
    /// Enter a phase; its coaching, if it has one, is printed and told again after each clear
    #[command(
        after_help = "Examples:\n  brain-guard phase enter design\n  brain-guard phase enter 'code review' --coach 'read the tests first'\n\nExit codes: 0 entered, 1 refused (a phase is open), 2 wrong usage."
    )]
    Enter {
        /// Its name: one line, 1 to 60 letters
        name: String,
        /// What to keep in mind in it, instead of what the job or the settings say; `-` reads it from stdin
        #[arg(long, value_name = "TEXT")]
        coach: Option<String>,
    },
    /// Leave the phase: what it wrote and the slice given here must fill every section
    #[command(
        after_help = "Examples:\n  brain-guard phase exit <<'EOF'\n  ## Forward State\n  - write the migration\n  ## Open Threads\n  - none: nothing was left open\n  ## Assumptions & Risks\n  - the feed is sorted\n  ## Process Insight\n  - the first plan was too big; the tests showed it\n  EOF\n  brain-guard phase exit --kind risk 'the feed is sorted' --kind lesson 'plan smaller'\n\nExit codes: 0 left, 1 refused (what is missing is printed, nothing was written), 2 wrong usage."
    )]
    Exit {
        /// A note by its kind, beside or instead of Markdown on stdin; may be given more than once
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
