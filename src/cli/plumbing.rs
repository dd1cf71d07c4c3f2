//! Verbs that the plugin and the program itself run, not people.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What the plugin's module asks.
#[derive(Debug, Clone, Args)]
pub struct ModArgs {
    /// What it asks
    pub ask: String,
}

/// Which boundary is watched.
#[derive(Debug, Clone, Args)]
pub struct WaiterArgs {
    /// The token's id
    pub token: String,
    /// Root of the project
    #[arg(long)]
    pub project: PathBuf,
}

/// Where the completions and man pages go.
#[derive(Debug, Clone, Args)]
pub struct GenerateArgs {
    /// The folder to write them into
    pub folder: PathBuf,
}

/// What is done with the X11 selection.
#[derive(Debug, Subcommand)]
pub enum ClipboardVerb {
    /// Serves the text on stdin until the deadline or the next selection
    Hold {
        /// `primary` or `clipboard`
        which: String,
        /// Seconds until the deadline
        #[arg(long, value_name = "N")]
        seconds: u64,
    },
    /// Prints the selected text
    Take {
        /// `primary` or `clipboard`
        which: String,
    },
}
