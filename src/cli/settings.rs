//! The verbs of `settings`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::SessionSelector;

/// The verbs of `settings`.
#[derive(Debug, Subcommand)]
pub enum SettingsVerb {
    /// Print the settings in force as JSON
    #[command(after_help = "Example:\n  brain-guard settings show")]
    Show(ShowArgs),
    /// Say what is wrong in the settings, what is in force, and what waits
    Check(CheckArgs),
    /// Change a value in your settings
    Set(SetArgs),
    /// Open your settings in your editor, and check them before they are saved
    #[command(after_help = "Example:\n  brain-guard settings edit")]
    Edit(EditArgs),
    /// Let milder settings take effect now, in the session or in every running one
    Apply(ApplyArgs),
}

/// Which project's settings to show.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// Which project
    #[command(flatten)]
    pub selector: SessionSelector,
}

/// Which value to change.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard settings set profile relaxed\n  brain-guard settings set tiers.narrow.context 65\n  brain-guard settings set file.words default\n\nThe file is plain JSON; its keys are written in alphabetical order. docs/settings.md lists all of them.\n\nExit codes: 0 written, or it was so already, 1 the file can't be used, 2 no such key or value (nothing was written)."
)]
pub struct SetArgs {
    /// The key, its parts joined by dots
    pub key: String,
    /// The value: JSON, or a text; `default` removes the key
    #[arg(allow_hyphen_values = true)]
    pub value: String,
}

/// `settings edit` has no arguments.
#[derive(Debug, Clone, Args)]
pub struct EditArgs {}

/// Where to apply the settings files.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "What is stricter takes effect at once. What is milder waits for your next prompt in a session, or for this.\n\nExamples:\n  brain-guard settings apply\n  brain-guard settings apply --all"
)]
pub struct ApplyArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// In every running session of every project
    #[arg(long, conflicts_with = "session")]
    pub all: bool,
}

/// Which settings to check, and for which window.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard settings check\n  brain-guard settings check --window 200000\n  brain-guard settings check new.json --json\n\nExit codes: 0 nothing is wrong, 1 something is, 2 wrong usage."
)]
pub struct CheckArgs {
    /// Which project's settings, and which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// Resolve the tiers for a window of N tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10_000..))]
    pub window: Option<u64>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Check only this file, as if it were your settings
    pub file: Option<PathBuf>,
}
