//! The command line: only types and help. `cmd` does the work.

#[cfg(test)]
mod examples;
mod extract;
mod import;
mod job;
mod lists;
mod log;
mod notes;
mod operator;
mod overview;
mod phase;
mod plumbing;
mod purge;
mod settings;
mod setup;
mod slips;
mod surgery;
mod tags;
mod views;

use std::path::PathBuf;

pub use extract::{DecideArgs, ExtractArgs, ExtractVerb, ExtractionArgs};
pub use import::{ImportArgs, StoreVerb};
pub use job::{JobArgs, JobVerb};
pub use lists::{RoundsArgs, SessionsArgs, ViewArgs};
pub use log::LogArgs;
pub use notes::{AppendArgs, CloseArgs, NotesArgs, PhaseArgs, SealArgs, SteeringArgs};
pub use operator::{LaterArgs, NowArgs, OverrideArgs, OverrideSpan, duration};
pub use overview::{canonical, command, examples, page};
pub use phase::PhaseVerb;
pub use plumbing::{ModArgs, WaiterArgs};
pub use purge::{PurgeArgs, PurgeKind};
pub use settings::{ApplyArgs, CheckArgs, EditArgs, SetArgs, SettingsVerb, ShowArgs};
pub use setup::{CompletionsArgs, DemoArgs, InstallArgs, Shell, UninstallArgs};
pub use slips::find_slip;
pub use surgery::{
    AdviseArgs, ExportArgs, ExportWhat, FidelityArgs, MendArgs, OutputArgs, ReviveArgs,
    ShowRoundArgs, SurgeryVerb, Thinking, ValidateArgs,
};
pub use tags::{MatrixArgs, NarrowArgs, SearchArgs, TagArgs, TagVerb};
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

/// Which session a command is about. The flags are global, because the hook puts them right after
/// the verb, before any subcommand.
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

/// A session by its name alone, as in `status 3f0a9d1e`, or by `--session`.
#[derive(Debug, Clone, Default, Args)]
pub struct SessionArgument {
    /// Which session
    #[command(flatten)]
    selector: SessionSelector,
    /// The same as --session
    #[arg(value_name = "SESSION")]
    named: Option<String>,
}

impl SessionArgument {
    /// The session: what was written wins over what the hook filled in, and is looked up.
    pub fn selector(&self) -> SessionSelector {
        let SessionSelector { session, call, project } = self.selector.clone();
        match &self.named {
            None => SessionSelector { session, call, project },
            Some(named) => {
                let call = call.filter(|_| session.is_none());
                SessionSelector { session: Some(named.clone()), call, project }
            }
        }
    }
}

/// A number from 1 on.
fn at_least_one(text: &str) -> Result<usize, &'static str> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or("write a number, 1 or more")
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Install the plugin into Claude Code and play the demo
    Install(InstallArgs),
    /// Undo the installation, and list what stays (for you, not for the agent)
    Uninstall(UninstallArgs),
    /// Show context usage, tier, what is blocked and what happens next
    Status(StatusArgs),
    /// Check the installation, and say how to fix what is wrong
    Doctor(DoctorArgs),
    /// Explain why a call was blocked, or why it was not
    Explain(ExplainArgs),
    /// Show what brain-guard did in a project: decisions, notes, boundaries, faults
    Log(LogArgs),
    /// Show what the guard did in a session or a job over time
    Report(ReportArgs),
    /// Lift the guard for a while (for you, not for the agent)
    Override(OverrideArgs),
    /// Clear a waiting session without its notice (for you, not for the agent)
    Now(NowArgs),
    /// Keep a session that is about to be cleared (for you, not for the agent)
    Later(LaterArgs),
    /// Print the notes of a session, or edit them while the agent goes on
    Notes(NotesArgs),
    /// Add entries to the compaction file, from arguments or Markdown on stdin
    Append(AppendArgs),
    /// Enter and leave the phases of the job
    Phase(PhaseArgs),
    /// Show what coaching and injected texts did to the work, over all jobs
    Steering(SteeringArgs),
    /// Close an entry of the compaction file, or list the entries
    Close(CloseArgs),
    /// Check, tidy and seal the compaction file
    Seal(SealArgs),
    /// Focus, pause, resume and complete jobs, each with notes of its own
    Job(JobArgs),
    /// Play a session through the installed hooks, without a model or network
    Demo(DemoArgs),
    /// Show, check and change the settings
    #[command(
        after_help = "Examples:\n  brain-guard settings show\n  brain-guard settings check\n  brain-guard settings set profile relaxed"
    )]
    Settings {
        /// What to do with them
        #[command(subcommand)]
        what: SettingsVerb,
    },
    /// Move long values of old messages into the store, and restore them
    #[command(
        after_help = "Examples:\n  brain-guard extract plan SESSION\n  brain-guard extract run SESSION\n  brain-guard extract restore SESSION ENTRY"
    )]
    Extract {
        /// What to do
        #[command(subcommand)]
        what: ExtractVerb,
    },
    /// Serve tools for the agent over stdin and stdout (MCP)
    #[command(after_help = "Example:\n  claude mcp add brain-guard -- brain-guard mcp")]
    Mcp,
    /// Make a new, restructured session from an old one, which stays as it is
    #[command(
        after_help = "Examples:\n  brain-guard surgery compress-before 3f0a9d1e 2026-03-19T10:23Z\n  brain-guard surgery split 3f0a9d1e map.json --dry-run\n  brain-guard surgery log"
    )]
    Surgery {
        /// What to do with it
        #[command(subcommand)]
        what: SurgeryVerb,
    },
    /// Run an operation of `surgery` by the name in its specification
    #[command(hide = true)]
    ExportClaude(ExportArgs),
    /// See sessions on the whole terminal: search, tag and restructure them
    View(ViewArgs),
    /// List sessions, the newest first
    Sessions(SessionsArgs),
    /// List the rounds of a session, one line each
    Rounds(RoundsArgs),
    /// Print a round in full
    Show(ShowRoundArgs),
    /// Recommend surgery for a session, with the command for each
    Advise(AdviseArgs),
    /// Tag rounds with an engagement, a named piece of work
    Tag(TagArgs),
    /// Find rounds by their words
    Search(SearchArgs),
    /// Check a session file: chain, ids, tool calls, thinking, times
    Validate(ValidateArgs),
    /// Make a sound session of one that Claude Code reads only in part, or that the API refuses
    Mend(MendArgs),
    /// Import sessions into the store
    Import(ImportArgs),
    /// Write stored sessions back to files
    #[command(after_help = "Example:\n  brain-guard store export 3f0a9d1e --out restored/")]
    Store {
        /// What to do with it
        #[command(subcommand)]
        what: StoreVerb,
    },
    /// List what brain-guard keeps, and remove it (for you, not for the agent)
    Purge(PurgeArgs),
    /// Print the completions for a shell, where `install` could not link them
    Completions(CompletionsArgs),
    /// Answers the plugin's module (not for people)
    #[command(hide = true)]
    Mod(ModArgs),
    /// Watches one boundary (not for people)
    #[command(hide = true)]
    Waiter(WaiterArgs),
}

#[cfg(test)]
mod tests {
    use notes::compaction::Shape;

    #[test]
    fn help_and_skill_name_every_kind_of_note_and_section() {
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
        for section in &shape.sections {
            assert!(skill.contains(&section.name), "the skill lacks {}", section.name);
        }
    }
}
