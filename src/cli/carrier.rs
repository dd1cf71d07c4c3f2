//! What can be asked of the carriers, and of the X11 selection.

use clap::Subcommand;

use super::Whose;

/// What can be asked of the carriers.
#[derive(Debug, Subcommand)]
pub enum CarrierVerb {
    /// Say which carrier would be used here, and why not the others
    #[command(after_help = "Example:\n  brain-guard carrier probe")]
    Probe {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Try the keys in a scratch pane or window of tmux or X11; no session sees them
    #[command(
        after_help = "Example:\n  brain-guard carrier test\n\nExit codes: 0 what is in reach here works (`ok`; `no`: not in reach), 1 it does not (`fail`)."
    )]
    Test {
        /// Which session's surroundings
        #[command(flatten)]
        whose: Whose,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// What is done with the X11 selection.
#[derive(Debug, Subcommand)]
pub enum ClipboardVerb {
    /// Serves the text on stdin until the deadline or the next selection
    Hold {
        /// `primary` or `clipboard`
        which: String,
        /// Until the deadline
        #[arg(long, value_name = "N")]
        seconds: u64,
    },
    /// Prints the selected text
    Take {
        /// `primary` or `clipboard`
        which: String,
    },
}
