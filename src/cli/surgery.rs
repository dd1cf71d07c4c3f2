//! The options of `surgery`, and of the verbs that read or check a session's history.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use sessions::operation::{Fidelity, Level, Operation, Order};

/// How much of each full round is kept. The user's and the agent's words are always kept.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct FidelityArgs {
    /// Thinking blocks: auto (behind a change only if the model takes them), full, ref (a note
    /// says how to read them), omit
    #[arg(
        long,
        value_name = "auto|full|ref|omit",
        default_value = "auto",
        value_parser = thinking_parser(),
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub thinking: Thinking,
    /// Tool calls: full, summary (long values shortened), omit
    #[arg(
        long,
        value_name = "full|summary|omit",
        default_value = "full",
        value_parser = level_parser(),
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub tool_use: Level,
    /// Tool results: full, summary (size and first line), omit
    #[arg(
        long,
        value_name = "full|summary|omit",
        default_value = "full",
        value_parser = level_parser(),
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub tool_result: Level,
}

/// How much thinking is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// All that the session's model takes.
    #[default]
    Auto,
    /// So much, whatever the model takes.
    Kept(Level),
}

/// The values of `--tool-use` and `--tool-result`.
fn level_parser() -> impl TypedValueParser<Value = Level> {
    let summary = PossibleValue::new("summary").alias("ref");
    let values = [PossibleValue::new("full"), summary, PossibleValue::new("omit")];
    PossibleValuesParser::new(values).map(|value| parse_level(&value))
}

/// The values of `--thinking`. It has `ref` where the others have `summary`.
fn thinking_parser() -> impl TypedValueParser<Value = Thinking> {
    let values = ["auto", "full", "omit"].map(PossibleValue::new);
    let summary = PossibleValue::new("ref").alias("summary");
    PossibleValuesParser::new(values.into_iter().chain([summary])).map(|value| {
        if value == "auto" { Thinking::Auto } else { Thinking::Kept(parse_level(&value)) }
    })
}

fn parse_level(value: &str) -> Level {
    match value {
        "full" => Level::Full,
        "omit" => Level::Omit,
        _ => Level::Summary,
    }
}

impl From<FidelityArgs> for Fidelity {
    fn from(args: FidelityArgs) -> Self {
        let FidelityArgs { thinking, tool_use, tool_result } = args;
        let keeps_refused = thinking == Thinking::Kept(Level::Full);
        let thinking = match thinking {
            Thinking::Auto => Level::Full,
            Thinking::Kept(level) => level,
        };
        Self { thinking, tool_use, tool_result, keeps_refused }
    }
}

/// Where to write the new session, what it keeps, and how to print the result.
#[derive(Debug, Clone, Default, Args)]
pub struct OutputArgs {
    /// How much of each round
    #[command(flatten)]
    pub fidelity: FidelityArgs,
    /// Leave rewound rounds out of the index tables
    #[arg(long)]
    pub no_rewound: bool,
    /// A new file, or a folder [default: the client's folder of the project]
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Show what would be made, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Go on in the new session in this client, when the turn ends and if the user agrees
    #[arg(long, conflicts_with_all = ["out", "dry_run", "json"])]
    pub here: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

impl OutputArgs {
    /// An operation, with what these arguments keep.
    pub fn order(&self, operation: Operation) -> Order {
        let fidelity = self.fidelity.into();
        Order { operation, fidelity, no_rewound: self.no_rewound }
    }
}

/// The verbs of `surgery`. None of them changes the original session.
#[derive(Debug, Subcommand)]
pub enum SurgeryVerb {
    /// Make a session in which the rounds before a time are an index table
    #[command(
        allow_missing_positional = true,
        after_help = "Examples:\n  brain-guard surgery compress-before 3f0a9d1e 2026-03-19T10:23Z\n  brain-guard surgery compress-before 3f0a9d1e round:16 --thinking omit\n  brain-guard surgery compress-before 2h --dry-run\n\nExit codes: 0 made, 1 refused (nothing was written), 2 wrong usage."
    )]
    CompressBefore {
        /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the latest of the project]
        session: Option<String>,
        /// A time, with its zone if it is not local, `round:16`, or an age: 90m, 2h, 3d
        #[arg(value_name = "TIME")]
        before: String,
        /// The output
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make a session in which the rounds of an engagement are index tables
    #[command(
        allow_missing_positional = true,
        after_help = "Example:\n  brain-guard surgery compress-engagement 3f0a9d1e console-work\n\nExit codes: 0 made, 1 refused (nothing was written), 2 wrong usage."
    )]
    CompressEngagement {
        /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the latest of the project]
        session: Option<String>,
        /// The engagement's id, as rounds are tagged
        engagement: String,
        /// The output
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make a session with only the rounds of an engagement
    #[command(
        allow_missing_positional = true,
        after_help = "Example:\n  brain-guard surgery extract-engagement 3f0a9d1e console-work --out ./console.jsonl\n\nExit codes: 0 made, 1 refused (nothing was written), 2 wrong usage."
    )]
    ExtractEngagement {
        /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the latest of the project]
        session: Option<String>,
        /// The engagement's id, as rounds are tagged
        engagement: String,
        /// The output
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Merge two sessions into a new one, with the rounds ordered by time
    #[command(
        after_help = "Example:\n  brain-guard surgery merge 3f0a9d1e 7c41b2aa\n\nExit codes: 0 made, 1 refused (nothing was written), 2 wrong usage."
    )]
    Merge {
        /// A session: an id, the beginning of one, a file, or `this`
        a: String,
        /// The other one
        b: String,
        /// Leave out the message that says which round is from which session
        #[arg(long)]
        no_table: bool,
        /// The output
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make a session for each engagement of a map, with the shared rounds as an index table
    #[command(
        override_usage = "brain-guard surgery split [SESSION] MAP.json\n       brain-guard surgery split [SESSION] --by-tag",
        after_help = "Examples:\n  brain-guard surgery split 3f0a9d1e --by-tag\n  brain-guard surgery split this map.json --run\n\nSESSION is an id, the beginning of one, a file, or `this`; without it, the session this runs in, else the latest of the project. MAP.json may be `-` for stdin. The map says which rounds go where; rounds that it doesn't name are shared:\n  {\"shared\": \"1-15\", \"engagements\": {\"console-work\": \"16-25\", \"import-work\": \"26-30,33\"}}\n\nExit codes: 0 made, 1 refused (nothing was written), 2 wrong usage."
    )]
    Split {
        /// Session and map
        #[arg(value_names = ["SESSION", "MAP.json"], num_args = 0..=2)]
        words: Vec<String>,
        /// Instead of a map: each tag is an engagement, and rounds without one are shared
        #[arg(long)]
        by_tag: bool,
        /// Open each new session in its own tmux window
        #[arg(long, conflicts_with_all = ["dry_run", "here"])]
        run: bool,
        /// The output
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Say for each round of a session what becomes of it, in a list
    #[command(
        after_help = "Examples:\n  brain-guard surgery edit 3f0a9d1e > list.txt\n  brain-guard surgery edit 3f0a9d1e --plan list.txt --dry-run\n\nThe list has a line for each round, as in `git rebase -i`:\n  keep 47        it stays\n  index 1-46     it becomes a line of a table\n  shrink 48      it stays, without the results of tools\n  drop 49        it is left out\n  engagement import-work 50   it goes into a new session\n\nWithout --plan, it prints the list. `brain-guard view` does the same with keys.\n\nExit codes: 0 made or printed, 1 refused (nothing was made), 2 wrong usage."
    )]
    Edit {
        /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the latest of the project]
        session: Option<String>,
        /// The edited list; `-` reads it from stdin
        #[arg(long, value_name = "FILE")]
        plan: Option<PathBuf>,
        /// The output
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make a successor: early work as an index table, the rest in full
    Revive(ReviveArgs),
    /// List what surgery has made, the newest first
    #[command(
        after_help = "Examples:\n  brain-guard surgery log\n  brain-guard surgery log 3f0a9d1e --json"
    )]
    Log {
        /// Only this session and its successors: an id, the beginning of one, a file, or `this`
        session: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a session that surgery made, as long as nobody has changed or opened it
    #[command(
        after_help = "Examples:\n  brain-guard surgery remove\n  brain-guard surgery remove 9b1c04d2\n\nWithout an id, the newest one. If that was removed already, name an older one.\n\nExit codes: 0 removed, 1 refused (what has changed is printed, nothing was removed), 2 wrong usage."
    )]
    Remove {
        /// The successor: an id, the beginning of one, a file, or `this` [default: the newest]
        id: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Which round to print, and how much of it.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard show 047\n  brain-guard show 3f0a9d1e:47 --thinking ref\n  brain-guard show 47 --session 3f0a9d1e\n\nA number alone is one of the index tables that the session this runs in was made with, else a round of that session itself.\n\nExit codes: 0 printed, 1 no such round, 2 wrong usage."
)]
pub struct ShowRoundArgs {
    /// The round: its number, or SESSION:NUMBER
    #[arg(value_name = "REF")]
    pub round: String,
    /// Print only this part
    #[arg(value_name = "PART", value_parser = ["thinking", "tool_use", "tool_result"])]
    pub part: Option<String>,
    /// The session in whose tables, or else rounds, the number is [default: the one this runs in]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// How much of it
    #[command(flatten)]
    pub fidelity: FidelityArgs,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Another spelling of `surgery`, with its operations as flags of one verb.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard export-claude 3f0a9d1e --full-after 2026-03-19T10:23Z\n  brain-guard export-claude 3f0a9d1e --engagement console-work\n  brain-guard export-claude --merge 3f0a9d1e 7c41b2aa\n\nEach is an operation of `brain-guard surgery`.\n\nExit codes: 0 made, 1 refused (nothing was written), 2 wrong usage."
)]
pub struct ExportArgs {
    /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the latest of the project]
    #[arg(conflicts_with = "merge")]
    pub session: Option<String>,
    /// Which operation
    #[command(flatten)]
    pub what: ExportWhat,
    /// In a merge: leave out the message that says which round is from which session
    #[arg(long, requires = "merge")]
    pub no_table: bool,
    /// The output
    #[command(flatten)]
    pub output: OutputArgs,
}

/// One of the operations.
#[derive(Debug, Clone, Default, Args)]
#[group(required = true, multiple = false)]
pub struct ExportWhat {
    /// compress-before: rounds from this time on in full
    #[arg(long, value_name = "TIME")]
    pub full_after: Option<String>,
    /// extract-engagement
    #[arg(long, value_name = "ID")]
    pub engagement: Option<String>,
    /// compress-engagement
    #[arg(long, value_name = "ID")]
    pub compress_engagement: Option<String>,
    /// merge
    #[arg(long, value_names = ["A", "B"], num_args = 2)]
    pub merge: Option<Vec<String>>,
    /// split
    #[arg(long, value_name = "MAP.json")]
    pub split: Option<PathBuf>,
}

/// The options of `surgery revive`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard surgery revive 3f0a9d1e\n  brain-guard surgery revive 3f0a9d1e --before round:40 --run\n\nWithout --before: from the last change of phase on in full, else the last third by tokens.\n\nExit codes: 0 made (and with --run, started), 1 refused, 2 wrong usage."
)]
pub struct ReviveArgs {
    /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the latest of the project]
    pub session: Option<String>,
    /// Rounds before this become the index table: a time, `round:16`, or an age
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// Start the client on it: in a new tmux window, else here
    #[arg(long, conflicts_with_all = ["dry_run", "json", "here"])]
    pub run: bool,
    /// The output
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Which session to analyze.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:\n  brain-guard advise 3f0a9d1e\n  brain-guard advise --json")]
pub struct AdviseArgs {
    /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the latest of the project]
    pub session: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Which session to mend.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Mends rows that were cut off, NUL bytes, halves of characters, rows whose parent is not in the file, rows written twice, and thinking that the API refused. The session itself stays as it is.\n\nExamples:\n  brain-guard mend 3f0a9d1e --dry-run\n  brain-guard mend ~/.claude/projects/-home-me-project/3f0a9d1e-….jsonl"
)]
pub struct MendArgs {
    /// Session: an id, the beginning of one, a file, or `this`
    pub session: String,
    /// Say what is wrong, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Which session file to check, and how strictly.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Ends with 1 where a client may refuse the file or lose a part of it.\n\nExamples:\n  brain-guard validate 3f0a9d1e\n  brain-guard validate ~/.claude/projects/-home-me-project/3f0a9d1e-….jsonl\n  brain-guard validate --strict --json new.jsonl"
)]
pub struct ValidateArgs {
    /// Session: an id, the beginning of one, a file, or `this`
    pub session: String,
    /// Treat every finding as an error, as for surgery's own outputs
    #[arg(long)]
    pub strict: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
