//! For how long the guard is off.

use clap::Args;

/// For how long the guard is off.
#[derive(Debug, Clone, Default, Args)]
#[group(required = true, multiple = false)]
pub struct OverrideArgs {
    /// A time: 90s, 30m, 2h; a bare number is minutes
    #[arg(long = "for", value_name = "TIME")]
    pub time: Option<String>,
    /// A number of tool calls
    #[arg(long, value_name = "N")]
    pub calls: Option<u64>,
    /// Until the session is cleared
    #[arg(long)]
    pub until_clear: bool,
    /// End it now
    #[arg(long)]
    pub off: bool,
}
