//! Importing sessions into the store, and maintaining it.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Which sessions are imported.
#[derive(Debug, Clone, Default, Args)]
#[command(
    override_usage = "brain-guard import [OPTIONS] PATH...\n       brain-guard import [OPTIONS] --all | --project DIR | --watch",
    after_help = "Examples:\n  brain-guard import --all\n  brain-guard import --project .\n  brain-guard import ~/.claude/projects/-home-me-app/3f0a9d1e-….jsonl\n  brain-guard import --watch\n\nExit codes: 0 done, 1 a session was left out (said why), 2 wrong usage."
)]
pub struct ImportArgs {
    /// Session files, folders of such, or session ids
    #[arg(value_name = "PATH", required_unless_present_any = ["all", "watch", "project"])]
    pub paths: Vec<PathBuf>,
    /// All sessions of Claude Code, `OpenClaw` and pi on this machine
    #[arg(long, conflicts_with_all = ["paths", "project"])]
    pub all: bool,
    /// Keep importing what is appended, until interrupted; alone, for all sessions
    #[arg(long)]
    pub watch: bool,
    /// The sessions of this project
    #[arg(long, value_name = "DIR", conflicts_with = "paths")]
    pub project: Option<PathBuf>,
    /// The agent that ran them [default: `claude`, or the one that the files' folder belongs to]
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Waits until the client has written its last row (not for people)
    #[arg(long, hide = true, conflicts_with = "watch")]
    pub behind: bool,
}

/// The verbs of `store`.
#[derive(Debug, Clone, Subcommand)]
pub enum StoreVerb {
    /// Write a session's transcript as it was imported: byte for byte, and verified
    #[command(
        after_help = "Examples:\n  brain-guard store export 3f0a9d1e | sha256sum\n  brain-guard store export 3f0a9d1e --out restored/\n\nExit codes: 0 all of it was written, 1 not all (said why; a file is not made then), 2 wrong usage."
    )]
    Export {
        /// Session: an id, the beginning of one, a file, or `this`; `AGENT/ID` where several have it
        session: String,
        /// A new file that ends in .jsonl, or a folder, which is made if it is missing [default: stdout]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Number of an earlier edition, stored before the session's file was rewritten
        #[arg(long, value_name = "N")]
        edition: Option<u64>,
    },
}
