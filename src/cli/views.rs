//! The options of `status`, `doctor`, `explain` and `report`.

use std::path::PathBuf;

use clap::Args;

use super::{SessionArgument, at_least_one};

/// The options of `status`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard status\n  brain-guard status --all\n  brain-guard status 3f0a9d1e\n  brain-guard status --json | jq .context"
)]
pub struct StatusArgs {
    /// Which session
    #[command(flatten)]
    pub session: SessionArgument,
    /// Every session that runs on this machine, the one that needs you on top
    #[arg(long, conflicts_with = "named")]
    pub all: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// The options of `doctor`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard doctor\n  brain-guard doctor --fix\n\nExit codes: 0 no problem, 1 a problem is left (notes are none), 2 wrong usage."
)]
pub struct DoctorArgs {
    /// Repair what can be repaired safely, then check again; never deletes jobs or sealed files
    #[arg(long)]
    pub fix: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// The options of `explain`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard explain\n  brain-guard explain --why\n  brain-guard explain --last 5\n  brain-guard explain --call toolu_01AbCdEf\n\n--call ID asks about one tool call, by the client's id of it (tool_use_id in the transcript).\n\nExit codes: 0 explained, 1 no such call or session, 2 wrong usage."
)]
pub struct ExplainArgs {
    /// Which session
    #[command(flatten)]
    pub session: SessionArgument,
    /// The last N decisions, messages and actions, each explained
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub last: Option<usize>,
    /// How the last block was decided, and the session's whole status
    #[arg(long)]
    pub why: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// The options of `report`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard report\n  brain-guard report --job parser-rewrite --html report.html\n  brain-guard report 3f0a9d1e --json | jq .totals"
)]
pub struct ReportArgs {
    /// Which session
    #[command(flatten)]
    pub session: SessionArgument,
    /// All sessions of a job, in order; without a name, of the session's job
    #[arg(long, value_name = "NAME", conflicts_with_all = ["session", "named"])]
    pub job: Option<Option<String>>,
    /// Write a page with plots that needs no network; `-` prints it
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
