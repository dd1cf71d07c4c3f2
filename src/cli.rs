//! The command line: types and help only; what a verb does is in `cmd`.

mod carrier;
mod extract;
mod inscribe;
mod job;
mod log;
mod over;
mod phase;
mod purge;
mod settings;
mod surgery;
mod tags;

use std::path::PathBuf;

pub use carrier::{CarrierVerb, ClipboardVerb};
pub use extract::{ExtractArgs, ExtractVerb};
pub use inscribe::{InscribeArgs, StoreVerb};
pub use job::JobVerb;
pub use log::LogArgs;
pub use over::OverrideArgs;
pub use phase::PhaseVerb;
pub use purge::{PurgeArgs, PurgeKind};
pub use settings::SettingsVerb;
pub use surgery::{
    ExportArgs, ExportWhat, FidelityArgs, InjectArgs, OutputArgs, ReviveArgs, SurgeryVerb,
};
pub use tags::{MatrixArgs, NarrowArgs, SearchArgs, TagArgs, UntagArgs};

use clap::{Args, Parser, Subcommand};

/// Keeps long runs of AI coding agents sane.
#[derive(Debug, Parser)]
#[command(name = "brain-guard", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Which session a command is about; found by itself where it can be. Global, for the hook
/// puts these flags right behind the verb, before a verb of the verb's own.
#[derive(Debug, Clone, Default, Args)]
pub struct Whose {
    /// Session id [default: the session this runs in, or the project's only live one]
    #[arg(long, value_name = "ID", global = true)]
    pub session: Option<String>,
    /// Id of the tool call; the hook fills it in
    #[arg(long, value_name = "ID", hide = true, global = true)]
    pub call: Option<String>,
    /// Root of the project [default: found from the current folder]
    #[arg(long, value_name = "DIR", global = true)]
    pub project: Option<PathBuf>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Install the plugin into Claude Code and run the demo
    #[command(
        after_help = "Example:\n  brain-guard install\n  brain-guard install --no-demo\n  brain-guard install --no-keybindings"
    )]
    Install {
        /// Skip the demo at the end
        #[arg(long)]
        no_demo: bool,
        /// Bind no chords in the client's keybindings.json; takes out those of an earlier install
        #[arg(long)]
        no_keybindings: bool,
    },
    /// Undo the installation; state and the projects' files stay
    #[command(after_help = "Example:\n  brain-guard uninstall")]
    Uninstall,
    /// Show the gauges, the stance and what is blocked
    #[command(
        after_help = "Example:\n  brain-guard status\n  brain-guard status --json | jq .stance"
    )]
    Status {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the installation and what is around it; each fault with its way out
    #[command(
        after_help = "Examples:\n  brain-guard doctor\n  brain-guard doctor --fix\n\nExit codes: 0 no problem, 1 a problem is left (notes are none), 2 wrong usage."
    )]
    Doctor {
        /// Mend what can be mended safely, then look again; never deletes jobs or sealed files
        #[arg(long)]
        fix: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Say why something was blocked, or why it was not
    #[command(
        after_help = "Examples:\n  brain-guard explain\n  brain-guard explain --last 5\n  brain-guard explain --call toolu_01AbCdEf\n\n--call ID asks about one tool call, by the client's id of it (tool_use_id in the transcript).\n\nExit codes: 0 explained, 1 no such call or session, 2 wrong usage."
    )]
    Explain {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// The last N things that were decided, said or done, each with its account
        #[arg(long, value_name = "N")]
        last: Option<usize>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the log of the project: decisions, boundaries, faults
    #[command(
        after_help = "Examples:\n  brain-guard log\n  brain-guard log --kind deny --kind fault --since 2h\n  brain-guard log --follow\n  brain-guard log --json --last 100 | jq -c 'select(.kind == \"fault\")'"
    )]
    Log {
        /// Which project, and which session of it
        #[command(flatten)]
        whose: Whose,
        /// Which lines
        #[command(flatten)]
        which: LogArgs,
    },
    /// Show what the guard did in a session or a job, over time
    #[command(
        after_help = "Examples:\n  brain-guard report\n  brain-guard report --job parser-rewrite --html report.html\n  brain-guard report --session 3f0a9d1e-… --json | jq .totals"
    )]
    Report {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// All sessions of a job, in order; without a name, of the session's
        #[arg(long, value_name = "NAME", conflicts_with = "session")]
        job: Option<Option<String>>,
        /// Write a page with plots that needs no network; `-` prints it
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Take the guard off for a while (the operator's, not the agent's)
    #[command(
        name = "override",
        after_help = "Examples:\n  brain-guard override --for 30m\n  brain-guard override --calls 20\n  brain-guard override --until-clear\n  brain-guard override --off\nAt the client's prompt: /brain-guard:override --for 30m"
    )]
    Override {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// For how long
        #[command(flatten)]
        how: OverrideArgs,
    },
    /// Start a boundary that waits, without its notice (the operator's, not the agent's)
    #[command(after_help = "Example:\n  brain-guard now\nAt the client's prompt: /brain-guard:now")]
    Now {
        /// Which session
        #[command(flatten)]
        whose: Whose,
    },
    /// Keep a session that is about to be cleared (the operator's, not the agent's)
    #[command(
        after_help = "Example:\n  brain-guard later 1h\nAt the client's prompt: /brain-guard:later 1h"
    )]
    Later {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// For how long: 90s, 30m, 2h; a bare number is minutes [default: 30m]
        time: Option<String>,
    },
    /// Add entries to the compaction file (arguments, or Markdown on stdin)
    #[command(
        after_help = "Examples:\n  brain-guard append --kind risk 'the cache is never invalidated'\n  brain-guard append --kind steering --about design 'its coaching led me into a rewrite'\n  brain-guard append --kind thread <<'EOF'\n  - the parser still fails on CRLF\n  - ask about the schema\n  EOF\n\nA list makes one entry an item. Without --kind, Markdown under section headings goes to these sections."
    )]
    Append {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// Kind of note; decides the section (next, scope, directive, thread, gotcha, deviation, uncovered, risk, assumption, missed, why, lesson, loop, steering, summary) [default: thread]
        #[arg(long)]
        kind: Option<String>,
        /// With --kind steering: the phase or template it speaks of
        #[arg(long, value_name = "NAME")]
        about: Option<String>,
        /// The entry; read from stdin if absent or `-`
        text: Vec<String>,
    },
    /// Enter and leave the phases of the job; leaving one takes a slice of the compaction file
    #[command(
        after_help = "Examples:\n  brain-guard phase enter design\n  brain-guard phase list\n  brain-guard phase exit --help"
    )]
    Phase {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// What to do with them
        #[command(subcommand)]
        what: PhaseVerb,
    },
    /// Show what coaching and injections did to the work: the steering notes of all jobs
    #[command(
        after_help = "Example:\n  brain-guard steering\n  brain-guard steering --json | jq '.[].about'"
    )]
    Steering {
        /// Which project
        #[command(flatten)]
        whose: Whose,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Close an entry of the compaction file by its id; without one, list the entries
    #[command(after_help = "Examples:\n  brain-guard close\n  brain-guard close 3fa9c1")]
    Close {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// The entry's id, or its first digits
        id: Option<String>,
    },
    /// Check, tidy and seal the compaction file
    #[command(
        after_help = "Examples:\n  brain-guard seal\n  brain-guard seal --summary 'the parser is done' --clear\n  brain-guard seal --dry-run --json\n\nBefore it drops open entries, or where no next step is noted, it asks once; a second seal goes through.\n\nExit codes: 0 sealed, 1 refused or asked (what is printed says how to go on), 2 wrong usage."
    )]
    Seal {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// Text for Prior Summary; `-` reads it from stdin
        #[arg(long, value_name = "TEXT")]
        summary: Option<String>,
        /// Ask for the boundary even below the first tier
        #[arg(long, conflicts_with = "no_clear")]
        clear: bool,
        /// Seal without a boundary
        #[arg(long)]
        no_clear: bool,
        /// Report only, change nothing
        #[arg(long)]
        dry_run: bool,
        /// Report as JSON
        #[arg(long)]
        json: bool,
        /// Seal this file instead of a job's; the result goes to stdout
        #[arg(long, value_name = "PATH", conflicts_with_all = ["clear", "no_clear"])]
        file: Option<PathBuf>,
    },
    /// Say which job this session works on: its notes, and no other's, are carried on
    #[command(
        after_help = "Examples:\n  brain-guard job focus parser-rewrite\n  brain-guard job pause\n  brain-guard job resume\n  brain-guard seal --no-clear --summary 'what the next work must know' && brain-guard job complete\n  brain-guard job list\n\nExit codes: 0 done, 1 refused (with the way out), 2 wrong usage."
    )]
    Job {
        /// Which session
        #[command(flatten)]
        whose: Whose,
        /// What to do with it
        #[command(subcommand)]
        what: JobVerb,
    },
    /// Say how a session would be cleared here (its carrier), or try it
    #[command(after_help = "Examples:\n  brain-guard carrier probe\n  brain-guard carrier test")]
    Carrier {
        /// What to do with them
        #[command(subcommand)]
        what: CarrierVerb,
    },
    /// Play a whole session through the installed hooks, without a model or network
    #[command(
        after_help = "Example:\n  brain-guard demo\n  brain-guard demo --plugin ./some/plugin/folder"
    )]
    Demo {
        /// The plugin's folder [default: the installed one]
        #[arg(long, value_name = "DIR")]
        plugin: Option<PathBuf>,
    },
    /// Show the settings that hold here, or check them
    #[command(after_help = "Examples:\n  brain-guard settings show\n  brain-guard settings check")]
    Settings {
        /// What to do with them
        #[command(subcommand)]
        what: SettingsVerb,
    },
    /// Extract long values of old messages, and restore them: pi, `OpenClaw`, Claude Code
    #[command(
        after_help = "Examples:\n  brain-guard extract plan SESSION\n  brain-guard extract run SESSION\n  brain-guard extract restore SESSION ENTRY"
    )]
    Extract {
        /// What to do
        #[command(subcommand)]
        what: ExtractVerb,
    },
    /// Serve `purge_control`, `inject` and `search` as a tool server on stdin and stdout (MCP)
    #[command(after_help = "Example:\n  claude mcp add brain-guard -- brain-guard mcp")]
    Mcp,
    /// Restructure a session's history into a new session; the session itself stays as it is
    #[command(
        after_help = "Examples:\n  brain-guard surgery compress-before 3f0a9d1e 2026-03-19T10:23Z\n  brain-guard surgery split 3f0a9d1e map.json --dry-run\n  brain-guard surgery log"
    )]
    Surgery {
        /// What to do with it
        #[command(subcommand)]
        what: SurgeryVerb,
    },
    /// The operations of `surgery` by the names of its specification
    ExportClaude(ExportArgs),
    /// Print a round in full, as an index table names it; alters nothing
    Inject(InjectArgs),
    /// Say which surgery would be worth it in a session, and the command for each
    #[command(after_help = "Examples:\n  brain-guard advise 3f0a9d1e\n  brain-guard advise --json")]
    Advise {
        /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in]
        session: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a successor that holds the early work as an index table and the rest in full
    Revive(ReviveArgs),
    /// Say which engagement rounds belong to: by number, by words, or by an engagement's phases
    Tag(TagArgs),
    /// Take the tags of rounds away
    Untag(UntagArgs),
    /// Find rounds by what was said in them
    Search(SearchArgs),
    /// Show which agent did which rounds in which phase of an engagement
    Matrix(MatrixArgs),
    /// Check a session file: chain, ids, tool calls, thinking, times
    #[command(
        after_help = "Ends with 1 where a client may refuse the file or lose a part of it.\n\nExamples:\n  brain-guard validate ~/.claude/projects/-home-me-project/3f0a9d1e-….jsonl\n  brain-guard validate --strict --json new.jsonl"
    )]
    Validate {
        /// The session's file
        file: PathBuf,
        /// By what surgery's own outputs must pass: every finding is an error
        #[arg(long)]
        strict: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep sessions in the store, row by row; what is there already is not written again
    #[command(
        after_help = "Examples:\n  brain-guard inscribe --all\n  brain-guard inscribe --project .\n  brain-guard inscribe ~/.claude/projects/-home-me-app/3f0a9d1e-….jsonl\n  brain-guard inscribe --watch\n\nExit codes: 0 done, 1 a session was left out (said why), 2 wrong usage."
    )]
    Inscribe {
        /// What
        #[command(flatten)]
        args: InscribeArgs,
    },
    /// Check the store of sessions, count what is in it, get a session's bytes back, clean up
    #[command(
        after_help = "Examples:\n  brain-guard store check\n  brain-guard store stats\n  brain-guard store export 3f0a9d1e --out restored/\n  brain-guard store gc --dry-run"
    )]
    Store {
        /// What to do with it
        #[command(subcommand)]
        what: StoreVerb,
    },
    /// List what is kept of sessions and jobs, and remove it (for the user, not for the agent)
    Purge(PurgeArgs),
    /// The plugin's module asks (not for people)
    #[command(hide = true)]
    Mod {
        /// What it asks
        ask: String,
    },
    /// Stands in for the client in a test of the carriers (not for people)
    #[command(name = "carrier-scratch", hide = true)]
    CarrierScratch {
        /// Where the keys it gets are written
        file: PathBuf,
    },
    /// Serves or reads the X11 selection, for the carrier (not for people)
    #[command(hide = true)]
    Clipboard {
        /// Which of both
        #[command(subcommand)]
        what: ClipboardVerb,
    },
    /// Watches one boundary (not for people)
    #[command(hide = true)]
    Waiter {
        /// The token's id
        token: String,
        /// Root of the project
        #[arg(long)]
        project: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use guard::compaction::Shape;

    #[test]
    fn help_and_skill_name_every_kind_of_note() {
        let words = |text: &str| -> Vec<String> {
            text.split([',', ';']).map(|word| word.trim().to_owned()).collect()
        };
        let between = |text: &'static str, from: &str, to: &str| {
            let (_, rest) = text.split_once(from).expect(from);
            words(rest.split_once(to).expect(to).0)
        };
        let shape = Shape::default();
        let mut kinds: Vec<_> = shape.all_kinds().map(str::to_owned).collect();
        kinds.sort();
        let source = include_str!("cli.rs");
        let skill = include_str!("../skills/brain-guard/SKILL.md");
        for mut named in
            [between(source, "decides the section (", ")"), between(skill, "Kinds: ", ".")]
        {
            named.sort();
            assert_eq!(named, kinds);
        }
    }
}
