//! The command line: types and help only; what a verb does is in `cmd`.

mod carrier;
mod extract;
mod inscribe;
mod job;
mod log;
mod notes;
mod operator;
mod phase;
mod plumbing;
mod purge;
mod settings;
mod setup;
mod surgery;
mod tags;
mod views;

use std::path::PathBuf;

pub use carrier::{CarrierArgs, CarrierVerb};
pub use extract::{ExtractArgs, ExtractVerb};
pub use inscribe::{InscribeArgs, StoreVerb};
pub use job::{JobArgs, JobVerb};
pub use log::LogArgs;
pub use notes::{AppendArgs, CloseArgs, PhaseArgs, SealArgs, SteeringArgs};
pub use operator::{LaterArgs, NowArgs, OverrideArgs, OverrideSpan};
pub use phase::PhaseVerb;
pub use plumbing::{CarrierScratchArgs, ClipboardVerb, ModArgs, WaiterArgs};
pub use purge::{PurgeArgs, PurgeKind};
pub use settings::{CheckArgs, SettingsVerb, ShowArgs};
pub use setup::{DemoArgs, InstallArgs};
pub use surgery::{
    AdviseArgs, ExportArgs, ExportWhat, FidelityArgs, InjectArgs, OutputArgs, ReviveArgs,
    SurgeryVerb, ValidateArgs,
};
pub use tags::{MatrixArgs, NarrowArgs, SearchArgs, TagArgs, UntagArgs};
pub use views::{DoctorArgs, ExplainArgs, ReportArgs, StatusArgs};

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
pub struct SessionSelector {
    /// Session: an id, the beginning of one, a file, or `this` [default: the one this runs in, else the only live one of the project]
    #[arg(long, value_name = "SESSION", global = true)]
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
    Install(InstallArgs),
    /// Undo the installation; state and the projects' files stay
    #[command(after_help = "Example:\n  brain-guard uninstall")]
    Uninstall,
    /// Show the gauges, the stance and what is blocked
    Status(StatusArgs),
    /// Check the installation and what is around it; each fault with its way out
    Doctor(DoctorArgs),
    /// Say why something was blocked, or why it was not
    Explain(ExplainArgs),
    /// Show the log of the project: decisions, boundaries, faults
    Log(LogArgs),
    /// Show what the guard did in a session or a job, over time
    Report(ReportArgs),
    /// Take the guard off for a while (the operator's, not the agent's)
    Override(OverrideArgs),
    /// Start a boundary that waits, without its notice (the operator's, not the agent's)
    Now(NowArgs),
    /// Keep a session that is about to be cleared (the operator's, not the agent's)
    Later(LaterArgs),
    /// Add entries to the compaction file (arguments, or Markdown on stdin)
    Append(AppendArgs),
    /// Enter and leave the phases of the job; leaving one takes a slice of the compaction file
    Phase(PhaseArgs),
    /// Show what coaching and injections did to the work: the steering notes of all jobs
    Steering(SteeringArgs),
    /// Close an entry of the compaction file by its id; without one, list the entries
    Close(CloseArgs),
    /// Check, tidy and seal the compaction file
    Seal(SealArgs),
    /// Say which job this session works on: its notes, and no other's, are carried on
    Job(JobArgs),
    /// Say how a session would be cleared here (its carrier), or try it
    #[command(after_help = "Examples:\n  brain-guard carrier probe\n  brain-guard carrier test")]
    Carrier {
        /// What to do with them
        #[command(subcommand)]
        what: CarrierVerb,
    },
    /// Play a whole session through the installed hooks, without a model or network
    Demo(DemoArgs),
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
    Advise(AdviseArgs),
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
    Validate(ValidateArgs),
    /// Keep sessions in the store, row by row; what is there already is not written again
    Inscribe(InscribeArgs),
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
    Mod(ModArgs),
    /// Stands in for the client in a test of the carriers (not for people)
    #[command(hide = true)]
    CarrierScratch(CarrierScratchArgs),
    /// Serves or reads the X11 selection, for the carrier (not for people)
    #[command(hide = true)]
    Clipboard {
        /// Which of both
        #[command(subcommand)]
        what: ClipboardVerb,
    },
    /// Watches one boundary (not for people)
    #[command(hide = true)]
    Waiter(WaiterArgs),
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
        let source = include_str!("cli/notes.rs");
        let skill = include_str!("../skills/brain-guard/SKILL.md");
        for mut named in
            [between(source, "decides the section (", ")"), between(skill, "Kinds: ", ".")]
        {
            named.sort();
            assert_eq!(named, kinds);
        }
    }
}
