//! Tags on rounds, and searches by words and tags.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::at_least_one;

/// What to tag, and how.
#[derive(Debug, Clone, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    override_usage = "brain-guard tag [SESSION] ROUNDS ENGAGEMENT\n       brain-guard tag --remove [SESSION] ROUNDS\n       brain-guard tag matrix [ENGAGEMENT]\n       brain-guard tag --search QUERY ENGAGEMENT\n       brain-guard tag --from engagement.md",
    after_help = "Examples:\n  brain-guard tag 3f0a9d1e 1-15,18 console-work\n  brain-guard tag --search 'console design' console-work\n  brain-guard tag --search '\"block store\"' import-work --since 3d --yes\n  brain-guard tag --from engagement.md\n  brain-guard tag --remove this all\n\nSESSION is an id, the beginning of one, a file, or `this`; without it, the session this runs in, else the latest of the project. ROUNDS are their numbers, or `all`. An engagement's id is 1 to 60 letters, digits, `-`, `_` and `.`.\n\n--search lists rounds that nobody has tagged and asks before it tags them: y, or the numbers to take. --from reads the phases of the file as spans of time, and tags the rounds that began in them, of the project's sessions.\n\nExit codes: 0 tagged, 1 refused (nothing was tagged), 2 wrong usage."
)]
pub struct TagArgs {
    /// Another view of the tags
    #[command(subcommand)]
    pub what: Option<TagVerb>,
    /// Session, rounds and engagement
    #[arg(value_names = ["SESSION", "ROUNDS", "ENGAGEMENT"], num_args = 0..=3)]
    pub words: Vec<String>,
    /// Remove the tags of these rounds
    #[arg(long, conflicts_with_all = ["search", "from", "yes", "retag"])]
    pub remove: bool,
    /// Candidates are the rounds that contain these words
    #[arg(long, value_name = "QUERY", conflicts_with = "from")]
    pub search: Option<String>,
    /// Take the rounds from the phases of this engagement.md
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Which rounds to search
    #[command(flatten)]
    pub narrow: NarrowArgs,
    /// Maximum number of candidates
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50, requires = "search",
        allow_negative_numbers = true,
        value_parser = at_least_one
    )]
    pub limit: usize,
    /// Tag what was found without asking
    #[arg(long, short)]
    pub yes: bool,
    /// Replace other tags of these rounds; without it, tagged rounds keep theirs
    #[arg(long)]
    pub retag: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Which rounds to search; by default all that are imported.
#[derive(Debug, Clone, Default, Args)]
pub struct NarrowArgs {
    /// Of this session: an id, the beginning of one, a file, or `this`
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// Of this agent: `claude`, or a subagent's type
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Begun no earlier than: a time, with its zone if it is not local, or an age: 90m, 2h, 3d
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
}

/// What to search for.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard search 'console design'\n  brain-guard search '\"the block store\"' --since 3d\n  brain-guard search 'import*' --engagement import-work --json\n\nRounds whose user's and agent's words hold all words of the query, best first, each with its date; a phrase stands in quotes, a word's beginning ends in *. Thinking and tools are not looked through: `brain-guard show` reads a round in full. Only imported sessions are searched (`brain-guard import`)."
)]
pub struct SearchArgs {
    /// Words, "phrases", beginnings*
    #[arg(required = true, num_args = 1..)]
    pub query: Vec<String>,
    /// Which rounds to search
    #[command(flatten)]
    pub narrow: NarrowArgs,
    /// Only rounds tagged with this engagement
    #[arg(long, value_name = "ID")]
    pub engagement: Option<String>,
    /// Maximum number of rounds to show
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        allow_negative_numbers = true,
        value_parser = at_least_one
    )]
    pub limit: usize,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// The verbs of `tag`.
#[derive(Debug, Clone, Subcommand)]
pub enum TagVerb {
    /// Show which agent did which rounds in which phase of an engagement
    Matrix(MatrixArgs),
}

/// How to show the table of engagements and agents.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard tag matrix\n  brain-guard tag matrix console-work\n\nA line for each phase of an engagement, a column for each agent; in them, the rounds that the agent did in that phase. Phases are those that `brain-guard tag --from engagement.md` read."
)]
pub struct MatrixArgs {
    /// Only this engagement
    pub engagement: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
