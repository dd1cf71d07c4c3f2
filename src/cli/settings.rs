//! The verbs of `settings`.

use std::path::PathBuf;

use clap::Subcommand;

use super::Whose;

/// What can be asked of the settings.
#[derive(Debug, Subcommand)]
pub enum SettingsVerb {
    /// Print what holds here as JSON, all layers merged
    #[command(after_help = "Example:\n  brain-guard settings show")]
    Show {
        /// Which project
        #[command(flatten)]
        whose: Whose,
    },
    /// Say what is wrong in the settings, what is in force, and where it was set
    #[command(
        after_help = "Examples:\n  brain-guard settings check\n  brain-guard settings check --window 200000 --model claude-haiku-4-5\n  brain-guard settings check new.json --json\n\nExit codes: 0 nothing is wrong, 1 something is, 2 wrong usage."
    )]
    Check {
        /// Whose settings, and whose model
        #[command(flatten)]
        whose: Whose,
        /// Resolve the tiers for a window of N tokens
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10_000..))]
        window: Option<u64>,
        /// Resolve the tiers for a model's id
        #[arg(long, value_name = "ID")]
        model: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
        /// This file alone, as if it were your settings
        file: Option<PathBuf>,
    },
}
