//! The options of `log`.

use clap::Args;

use super::{SessionArgument, at_least_one};
use guard::journal::What;

/// Which lines of the journals to print.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard log\n  brain-guard log 3f0a9d1e --last 50\n  brain-guard log --kind deny --kind fault --since 2h\n  brain-guard log --follow\n  brain-guard log --json --last 100 | jq -c 'select(.kind == \"fault\")'"
)]
pub struct LogArgs {
    /// Which project, and which session of it
    #[command(flatten)]
    pub session: SessionArgument,
    /// The last N lines [default: 20, or all since --since]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub last: Option<usize>,
    /// Only these kinds. Calls that were let through (pass) are shown only if asked for
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = What::KINDS)]
    pub kind: Vec<String>,
    /// Lines no older than this: a time, or how long ago (2h, 3d)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Of all projects
    #[arg(long, conflicts_with_all = ["session", "named"])]
    pub all: bool,
    /// Keep printing new lines, until interrupted
    #[arg(long, short)]
    pub follow: bool,
    /// Print the lines as JSON, with all fields
    #[arg(long)]
    pub json: bool,
}
