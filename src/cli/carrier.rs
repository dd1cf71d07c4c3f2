//! The verbs of `carrier`.

use clap::{Args, Subcommand};

use super::SessionSelector;

/// The verbs of `carrier`.
#[derive(Debug, Subcommand)]
pub enum CarrierVerb {
    /// Say which carrier would be used here, and why not the others
    #[command(after_help = "Example:\n  brain-guard carrier probe")]
    Probe(CarrierArgs),
    /// Try the keys in a scratch pane or window of tmux or X11; no session sees them
    #[command(
        after_help = "Example:\n  brain-guard carrier test\n\nExit codes: 0 what is in reach here works (`ok`; `no`: not in reach), 1 it does not (`fail`)."
    )]
    Test(CarrierArgs),
}

/// Which session's surroundings to check.
#[derive(Debug, Clone, Args)]
pub struct CarrierArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
