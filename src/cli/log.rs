//! The options of `log`.

use clap::Args;

use super::SessionSelector;

/// Which lines of the log to print.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard log\n  brain-guard log --kind deny --kind fault --since 2h\n  brain-guard log --follow\n  brain-guard log --json --last 100 | jq -c 'select(.kind == \"fault\")'"
)]
pub struct LogArgs {
    /// Which project, and which session of it
    #[command(flatten)]
    pub selector: SessionSelector,
    /// The last N lines [default: 20, or all since --since]
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
    /// Lines of this kind (deny, boundary, fault, …); may be given more than once
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub kind: Vec<String>,
    /// Lines no older than this: 90s, 30m, 2h; a bare number is minutes
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Of all projects
    #[arg(long, conflicts_with = "session")]
    pub all: bool,
    /// Keep printing new lines, until interrupted
    #[arg(long, short)]
    pub follow: bool,
    /// Print the lines as they are stored, in JSON
    #[arg(long)]
    pub json: bool,
}
