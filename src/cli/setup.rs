//! Installing the plugin, and trying it.

use std::path::PathBuf;

use clap::Args;

/// How `install` goes about it.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  brain-guard install\n  brain-guard install --no-demo\n  brain-guard install --no-keybindings"
)]
pub struct InstallArgs {
    /// Skip the demo at the end
    #[arg(long)]
    pub no_demo: bool,
    /// Bind no chords in the client's keybindings.json; takes out those of an earlier install
    #[arg(long)]
    pub no_keybindings: bool,
}

/// Which plugin the demo plays.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  brain-guard demo\n  brain-guard demo --plugin ./some/plugin/folder"
)]
pub struct DemoArgs {
    /// The plugin's folder [default: the installed one]
    #[arg(long, value_name = "DIR")]
    pub plugin: Option<PathBuf>,
}
