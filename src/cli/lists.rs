//! Lists of sessions and of their rounds.

use clap::Args;

use super::at_least_one;

/// Whose rounds to list, and how many.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = "Examples:\n  brain-guard rounds 3f0a9d1e\n  brain-guard rounds this --last 20\n  brain-guard rounds --json | jq '.rounds[] | select(.engagement == \"console-work\").round'\n\nA line has the round's number, when it began, the tokens that it added, its tag, and how it begins. A round marked (compacted), (rewound) or (cut off) is no longer in the context; `brain-guard show` still prints it.\n\nExit codes: 0 listed, 1 no such session, 2 wrong usage."
)]
pub struct RoundsArgs {
    /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the latest of the project]
    pub session: Option<String>,
    /// Only the newest N rounds
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = at_least_one
    )]
    pub last: Option<usize>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Which sessions to list.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard sessions\n  brain-guard sessions --all --limit 100\n  brain-guard sessions --json | jq -r '.sessions[].session'\n\nTokens are those of the rounds in the context. Sessions that are not imported have no figures; of their files, only the beginning is read.\n\nExit codes: 0 listed, 1 the store cannot be read, 2 wrong usage."
)]
pub struct SessionsArgs {
    /// Those of every project [default: those of the current one]
    #[arg(long)]
    pub all: bool,
    /// Maximum number of sessions to list
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        allow_negative_numbers = true,
        value_parser = at_least_one
    )]
    pub limit: usize,
    /// Also the sessions of subagents
    #[arg(long)]
    pub agents: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Which session to open.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard view\n  brain-guard view 3f0a9d1e\n\n`?` shows the keys. Sessions are made after you confirm; tags, undo and redo take effect at once.\n\nExit codes: 0 left, 2 no terminal, or wrong usage."
)]
pub struct ViewArgs {
    /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the latest of the project]
    pub session: Option<String>,
    /// List the sessions of every project
    #[arg(long)]
    pub all: bool,
}
