//! Installing the plugin, and trying it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The options of `install`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  brain-guard install\n  brain-guard install --no-demo\n  brain-guard install --no-keybindings\n\nExit codes: 0 the program is installed (the last line says whether it is ready), 1 it is not, 2 wrong usage."
)]
pub struct InstallArgs {
    /// Skip the demo at the end
    #[arg(long)]
    pub no_demo: bool,
    /// Add no key bindings to the client's keybindings.json, and remove those of an earlier install
    #[arg(long)]
    pub no_keybindings: bool,
}

/// The options of `uninstall`.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = "Examples:\n  brain-guard uninstall\n  brain-guard uninstall --purge\n\nWithout --purge, notes, state, settings and store stay. The output lists them with their sizes.\n\n--purge lists the data of all projects, and asks before it removes anything. What belongs to an open session or a boundary under way stays. Placeholders in sessions can't be restored afterwards: run `brain-guard extract restore SESSION all` first."
)]
pub struct UninstallArgs {
    /// Also remove state, settings, imported sessions and extracted content
    #[arg(long)]
    pub purge: bool,
    /// Do not ask before --purge removes them
    #[arg(long, short)]
    pub yes: bool,
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

/// A shell that completions are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
}

/// The shell whose completions to print.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard completions bash > ~/.local/share/bash-completion/completions/brain-guard\n  brain-guard completions zsh > ~/.zfunc/_brain-guard\n  brain-guard completions fish > ~/.config/fish/completions/brain-guard.fish"
)]
pub struct CompletionsArgs {
    /// bash, zsh or fish
    #[arg(hide_possible_values = true)]
    pub shell: Shell,
}
