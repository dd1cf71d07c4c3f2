//! The options of `purge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

/// Kinds of data that brain-guard keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PurgeKind {
    /// The user's prompts
    Prompts,
    /// Full copies of long outputs that were cut
    Outputs,
    /// Sealed versions of the notes; only if named
    Sealed,
    /// Notes of jobs; only if named
    Notes,
    /// The project's log
    Log,
    /// What the guard decided in each session
    Journals,
    /// What the guard remembers of each session
    Sessions,
    /// Boundaries that ended
    Boundaries,
    /// Files that are recreated when needed
    Temporary,
    /// What imported sessions were before their files were rewritten
    Editions,
    /// Imported sessions (`import`), with their tags and search index
    Store,
    /// Extracted content; needs --forget
    Extracted,
}

/// What to purge, and how.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = "Examples:\n  brain-guard purge --dry-run\n  brain-guard purge --only prompts,outputs --older-than 30d\n  brain-guard purge --job parser-rewrite --yes\n  brain-guard purge --all-projects --only store,extracted --forget --dry-run\n\nWithout --dry-run the same list is shown first, and nothing is removed without --yes or a `y` at the terminal. Sessions that are open and boundaries that are under way stay. So do notes, unless --only or --job names them.\n\n--forget removes notes, too, and what a placeholder or an index table may still name: it can't be restored then.\n\nExit codes: 0 done, 1 not all could be removed or nothing was agreed to, 2 wrong usage."
)]
pub struct PurgeArgs {
    /// Only of this session: an id, the beginning of one, a file, or `this`
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// Only of this job and its sessions
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// Root of the project [default: found from the current folder]
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// Of all projects
    #[arg(long)]
    pub all_projects: bool,
    /// Only data last written before this: 30d, 12h, or a date
    #[arg(long, value_name = "AGE")]
    pub older_than: Option<String>,
    /// Only these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub only: Vec<PurgeKind>,
    /// Also remove content that a placeholder may still name
    #[arg(long)]
    pub forget: bool,
    /// Do not ask
    #[arg(long, short, conflicts_with = "dry_run")]
    pub yes: bool,
    /// List only, remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
