//! The verbs of `settings`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::SessionSelector;

/// The verbs of `settings`.
#[derive(Debug, Subcommand)]
pub enum SettingsVerb {
    /// Print the settings in force as JSON, all layers merged
    #[command(after_help = "Example:\n  brain-guard settings show")]
    Show(ShowArgs),
    /// Say what is wrong in the settings, what is in force, and where it was set
    Check(CheckArgs),
}

/// Which project's settings to show.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// Which project
    #[command(flatten)]
    pub selector: SessionSelector,
}

/// Which settings to check, and for which model.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard settings check\n  brain-guard settings check --window 200000 --model claude-haiku-4-5\n  brain-guard settings check new.json --json\n\nExit codes: 0 nothing is wrong, 1 something is, 2 wrong usage."
)]
pub struct CheckArgs {
    /// Which project's settings, and which session's model
    #[command(flatten)]
    pub selector: SessionSelector,
    /// Resolve the tiers for a window of N tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10_000..))]
    pub window: Option<u64>,
    /// Resolve the tiers for a model's id
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Check only this file, as if it were your settings
    pub file: Option<PathBuf>,
}
