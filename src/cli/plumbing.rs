//! Verbs that the plugin and the program itself run, not people.

use std::path::PathBuf;

use clap::Args;

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
