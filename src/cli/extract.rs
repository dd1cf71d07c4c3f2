//! Extraction: keep recent, extract old, restore.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::at_least_one;

use extract::lines::Lines;
use sessions::operation::Extraction;

/// A session, and options that override the settings.
#[derive(Debug, Clone, Default, Args)]
pub struct ExtractArgs {
    /// Session: an id, the beginning of one, a file, `this`, or `FILE:ID` of an `OpenClaw` database [default: the one this runs in, else the latest of the project]
    pub session: Option<String>,
    /// What is extracted
    #[command(flatten)]
    pub what: ExtractionArgs,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// What a plugin asks.
#[derive(Debug, Clone, Args)]
pub struct DecideArgs {
    /// The session, and how
    #[command(flatten)]
    pub args: ExtractArgs,
    /// The client leaves thinking out that the model would refuse behind a change
    #[arg(long)]
    pub drops_thinking: bool,
}

/// What is extracted, where it differs from the settings.
#[derive(Debug, Clone, Default, Args)]
pub struct ExtractionArgs {
    /// Keep the last N messages as they are
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub keep_recent: Option<u32>,
    /// Extract values of at least N characters
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub min_length: Option<u32>,
    /// Types of content to extract: `thinking`, `tool_result`, `tool_call`, `user`, `assistant`
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub types: Vec<String>,
}

impl From<ExtractionArgs> for Extraction {
    fn from(args: ExtractionArgs) -> Self {
        let ExtractionArgs { keep_recent, min_length, types } = args;
        Self { keep_recent, min_length, types }
    }
}

/// The verbs of `extract`.
#[derive(Debug, Subcommand)]
pub enum ExtractVerb {
    /// Show what would be extracted, what stays and why, and when it breaks even
    #[command(
        after_help = "Examples:\n  brain-guard extract plan 3f0a9d1e\n  brain-guard extract plan ~/.openclaw/agents/main/sessions/3f0a9d1e.jsonl --keep-recent 10"
    )]
    Plan {
        /// The session, and how
        #[command(flatten)]
        args: ExtractArgs,
    },
    /// Decide what goes now, for a plugin that changes what the model gets; always as JSON
    #[command(after_help = "Example:\n  brain-guard extract decide FILE")]
    Decide {
        /// The session, and how
        #[command(flatten)]
        args: DecideArgs,
    },
    /// Decide, and put the content that goes now into the store
    #[command(after_help = "Example:\n  brain-guard extract keep FILE")]
    Keep {
        /// The session, and how
        #[command(flatten)]
        args: DecideArgs,
    },
    /// Extract: files of pi and `OpenClaw` in place, Claude Code's sessions into a new one
    #[command(
        after_help = "Examples:\n  brain-guard extract run ~/.pi/agent/sessions/--home-dev--/2026-02-20_3f0a9d1e.jsonl\n  brain-guard extract run 3f0a9d1e --out /tmp/lean.jsonl"
    )]
    Run {
        /// The session, and how
        #[command(flatten)]
        args: ExtractArgs,
        /// Show what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,
        /// Make another new session, though an extracted one is still there (Claude Code)
        #[arg(long)]
        again: bool,
        /// Go on in the new session in this client, when the turn ends and if the user agrees
        #[arg(long, conflicts_with_all = ["out", "dry_run", "json"])]
        here: bool,
        /// Where the new session goes (Claude Code)
        #[arg(long, value_name = "FILE|DIR")]
        out: Option<PathBuf>,
    },
    /// Extract repeatedly, as the settings say
    #[command(
        after_help = "Examples:\n  brain-guard extract watch ~/.openclaw/agents/main/sessions\n  brain-guard extract watch FILE --once"
    )]
    Watch {
        /// Session files, or folders of them
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Check once, then exit
        #[arg(long)]
        once: bool,
        /// As JSON: one line for each check
        #[arg(long)]
        json: bool,
    },
    /// Print extracted values, or put them back
    #[command(
        after_help = "Examples:\n  brain-guard extract restore 3f0a9d1e a1b2c3d4 --lines 10-40\n  brain-guard extract restore FILE a1b2c3d4 --key content --in-place\n\nExit codes: 0 all of it came back, 1 nothing, or not all of `all` (said why), 2 wrong usage."
    )]
    Restore {
        /// The session
        session: String,
        /// The entry: its id, the beginning of one, or `all`
        entry: String,
        /// Only these keys, or parts of them between dots
        #[arg(long = "key", value_name = "KEY", value_delimiter = ',')]
        keys: Vec<String>,
        /// If a placeholder fits several contents: the number of the one to use
        #[arg(
            long,
            value_name = "N",
            allow_negative_numbers = true,
            value_parser = at_least_one
        )]
        from: Option<usize>,
        /// Print only these lines of each text: `10-40`
        #[arg(long, value_name = "A-B", conflicts_with = "in_place")]
        lines: Option<Lines>,
        /// Put it back into the session's file instead of printing it
        #[arg(long)]
        in_place: bool,
        /// Put it back without a mark, so that the file is as it was before the extraction
        #[arg(long, requires = "in_place")]
        unmarked: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Set whether an entry may be extracted: true, false, a number of messages, or none
    #[command(after_help = "Example:\n  brain-guard extract set-extractable FILE a1b2c3d4 false")]
    SetExtractable {
        /// The session
        session: String,
        /// The entry
        entry: String,
        /// true, false, a number of messages, or none
        #[arg(allow_negative_numbers = true)]
        value: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the extracted values of a session, by entry
    #[command(after_help = "Example:\n  brain-guard extract context 3f0a9d1e --json")]
    Context {
        /// The session, named as for `plan`
        session: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what is in the store, and when extraction ran
    #[command(after_help = "Example:\n  brain-guard extract status")]
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// List content that no session needs; with --forget, remove it
    #[command(
        after_help = "Examples:\n  brain-guard extract gc\n  brain-guard extract gc --forget\n\nNothing else removes content but `purge`. --forget lists the sessions first, and asks; a session whose file is not found may have moved. With `extract.retention`, content that was used within that time stays. --forget is for the user, not for an agent.\n\nExit codes: 0 done, 1 refused (nothing was removed), 2 wrong usage."
    )]
    Gc {
        /// Remove it, and content of sessions whose files are not found; lists them and asks first
        #[arg(long)]
        forget: bool,
        /// Do not ask
        #[arg(long, requires = "forget")]
        yes: bool,
        /// Show what would be removed
        #[arg(long)]
        dry_run: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}
