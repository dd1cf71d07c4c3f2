//! The verbs on the compaction file.

use std::path::PathBuf;

use clap::Args;

use super::{PhaseVerb, SessionArgument, SessionSelector};

/// What to add.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard append --kind risk 'the cache is never invalidated'\n  brain-guard append --kind steering --about design 'its coaching led me into a rewrite'\n  brain-guard append --kind thread <<'EOF'\n  - the parser still fails on CRLF\n  - ask about the schema\n  EOF\n\nA list makes one entry an item. Without --kind, Markdown under section headings goes to these sections."
)]
pub struct AppendArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// Kind of note; decides the section (next, scope, directive, thread, gotcha, deviation, uncovered, risk, assumption, missed, why, lesson, loop, steering, summary) [default: thread]
    #[arg(long)]
    pub kind: Option<String>,
    /// With --kind steering: the phase or template it is about
    #[arg(long, value_name = "NAME")]
    pub about: Option<String>,
    /// The entry; read from stdin if absent or `-`
    pub text: Vec<String>,
}

/// Whose notes, and whether to edit them.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard notes\n  brain-guard notes --edit\n\n--edit opens them in $VISUAL or $EDITOR. What the agent writes meanwhile is kept; where both changed the same lines, you see both texts.\n\nExit codes: 0 printed or written, 1 refused (nothing was written), 2 wrong usage."
)]
pub struct NotesArgs {
    /// Which session
    #[command(flatten)]
    pub session: SessionArgument,
    /// Open them in the editor (for you, not for the agent)
    #[arg(long, conflicts_with = "json")]
    pub edit: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Which session's phases, and what to do with them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  brain-guard phase enter design\n  brain-guard phase list\n  brain-guard phase exit --help"
)]
pub struct PhaseArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// What to do with them
    #[command(subcommand)]
    pub what: PhaseVerb,
}

/// Which steering notes to show.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  brain-guard steering\n  brain-guard steering --json | jq '.groups[].about'"
)]
pub struct SteeringArgs {
    /// Which project
    #[command(flatten)]
    pub selector: SessionSelector,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Which entry to close.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  brain-guard close\n  brain-guard close 3fa9c1")]
pub struct CloseArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// The entry's id, or its first digits
    pub id: Option<String>,
}

/// What to seal, and what follows.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = "Examples:\n  brain-guard seal\n  brain-guard seal --summary 'the parser is done' --clear\n  brain-guard seal --dry-run --json\n\nBefore it drops open entries, where no next step is noted, or where the notes say little, it asks once; a second seal goes through.\n\nExit codes: 0 sealed, 1 refused or asked (what is printed says how to go on), 2 wrong usage."
)]
pub struct SealArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// Text for Prior Summary; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    /// Clear the session and continue from the notes, even below the first tier
    #[arg(long, conflicts_with = "no_clear")]
    pub clear: bool,
    /// Seal without clearing the session
    #[arg(long)]
    pub no_clear: bool,
    /// Report only, change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Report as JSON
    #[arg(long)]
    pub json: bool,
    /// Seal this file instead of a job's; the result goes to stdout
    #[arg(long, value_name = "PATH", conflicts_with_all = ["clear", "no_clear"])]
    pub file: Option<PathBuf>,
}

impl SealArgs {
    /// Whether a boundary is wanted; `None` leaves it to the tiers.
    pub fn boundary(&self) -> Option<bool> {
        self.clear.then_some(true).or(self.no_clear.then_some(false))
    }
}
