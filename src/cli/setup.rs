//! Installing the plugin, and trying it.

use std::path::PathBuf;

use clap::Args;

/// The options of `install`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  brain-guard install\n  brain-guard install --no-demo\n  brain-guard install --no-keybindings"
)]
pub struct InstallArgs {
    /// Skip the demo at the end
    #[arg(long)]
    pub no_demo: bool,
    /// Add no key bindings to the client's keybindings.json, and remove those of an earlier install
    #[arg(long)]
    pub no_keybindings: bool,
}

/// Which plugin the demo uses.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  brain-guard demo\n  brain-guard demo --plugin ./some/plugin/folder"
)]
pub struct DemoArgs {
    /// The plugin's folder [default: the installed one]
    #[arg(long, value_name = "DIR")]
    pub plugin: Option<PathBuf>,
}
