//! The verbs for the operator only: lift the guard, start or delay a boundary.

use clap::Args;

use super::SessionSelector;

/// For how long the guard is off.
#[derive(Debug, Clone, Default, Args)]
#[group(required = true, multiple = false)]
pub struct OverrideSpan {
    /// A time: 90s, 30m, 2h; a bare number is minutes
    #[arg(value_name = "TIME")]
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

/// In which session the guard is off, and for how long.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard override 30m\n  brain-guard override --calls 20\n  brain-guard override --until-clear\n  brain-guard override --off\nAt the client's prompt: /brain-guard:override 30m"
)]
pub struct OverrideArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// For how long
    #[command(flatten)]
    pub span: OverrideSpan,
}

/// Which session's boundary to start.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  brain-guard now\nAt the client's prompt: /brain-guard:now")]
pub struct NowArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
}

/// Which session to keep, and for how long.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  brain-guard later 1h\nAt the client's prompt: /brain-guard:later 1h"
)]
pub struct LaterArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// For how long: 90s, 30m, 2h; a bare number is minutes [default: 30m]
    pub time: Option<String>,
}
