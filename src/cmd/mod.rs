//! The verbs, one per file. Each implements [`Run`] for its arguments, which `cli` declares. They
//! print through `output`; an error that the caller can fix is a [`Failure`].
#![allow(clippy::disallowed_methods, reason = "commands are an edge")]

pub mod advise;
mod agent;
pub mod append;
pub mod block_store;
pub mod close;
pub mod demo;
pub mod doctor;
mod editor;
mod ending;
pub mod explain;
pub mod extract;
mod failure;
pub mod import;
pub mod install;
pub mod job;
mod line;
mod live_notes;
pub mod log;
pub mod look;
pub mod marketplace_setup;
pub mod mcp;
pub mod mend;
pub mod module;
pub mod notice;
pub mod operator;
pub mod operator_override;
mod output;
mod overview;
pub mod phase;
mod plumbing;
mod progress;
pub mod purge;
pub mod report;
pub mod round_list;
pub mod seal;
pub mod search;
pub mod selector;
pub mod session_list;
pub mod settings;
mod setup;
pub mod show_round;
pub mod status;
pub mod steering;
pub mod succession;
pub mod surgery;
pub mod tag;
pub mod typed;
pub mod uninstall;
pub mod validate;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;

use self::line::Line;
use self::output::{ask, confirmed, err, out_json, out_json_line, out_unchanged, show, stdin_text};
pub(crate) use self::output::{captured, out};
use crate::cli::{Verb, ViewArgs};
use base::clock::{self, Time};
use base::env::Env;
use base::paths::Places;
use guard::hook::Program;

pub use failure::Failure;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Refused, or not completely done; the output names the way out.
    Refused,
    /// Wrong usage.
    Usage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
        })
    }
}

/// What every verb gets besides its arguments.
#[derive(Debug, Clone, Copy)]
pub struct Context<'e> {
    /// The environment.
    pub env: &'e Env,
    /// When the program started.
    pub now: Time,
}

/// A verb, with its arguments.
pub trait Run {
    /// Runs it.
    ///
    /// # Errors
    /// A [`Failure`] if the caller can do something about it, else a system error.
    fn run(&self, context: Context) -> anyhow::Result<Exit>;
}

/// The parts of this program that the hook calls.
pub const PROGRAM: Program = Program {
    find_terminals: ::carrier::reach::look,
    answer_command: typed::answer,
    on_session_start: marketplace_setup::at_session_start,
    run_verbs: agent::execute,
};

/// Opens the viewer. It stands on the verbs, so `main` passes it in.
pub type OpenViewer = fn(&ViewArgs, Context) -> anyhow::Result<Exit>;

/// Runs the command line; usage errors end with code 2.
pub fn main(env: &Env, view: OpenViewer) -> ExitCode {
    let result = match line::read(std::env::args_os()) {
        Line::Verb(verb) => {
            prepare(&verb, env);
            let context = Context { env, now: clock::now() };
            match &*verb {
                Verb::View(args) => view(args, context),
                _ => verb.run(context),
            }
        }
        Line::Page(page) => {
            out(page.trim_end());
            Ok(Exit::Done)
        }
        // A closed terminal leaves nothing else to do.
        Line::Help(help) => Ok(help.print().map_or(Exit::Done, |()| Exit::Done)),
        Line::Wrong(error, examples) => {
            let _ = error.print();
            let _ = examples.map(|examples| writeln!(io::stderr(), "\n{examples}"));
            Ok(Exit::Usage)
        }
    };
    let unwritten = output::finish();
    if let Some(why) = &unwritten {
        err(format_args!("could not write the output: {why}"));
    }
    match report(result) {
        exit if unwritten.is_none() => exit.into(),
        _ => Exit::Refused.into(),
    }
}

/// Runs a verb for the hook. Errors are printed, too.
///
/// # Errors
/// The verb's.
fn perform(words: Vec<OsString>, env: &Env) -> anyhow::Result<Exit> {
    match line::read(words) {
        Line::Verb(verb) => {
            let result = verb.run(Context { env, now: clock::now() });
            if let Err(e) = &result {
                err(format_args!("{e:#}"));
            }
            return result;
        }
        Line::Page(page) => out(page.trim_end()),
        Line::Help(help) => out(help.to_string().trim_end()),
        Line::Wrong(error, examples) => {
            out(error.to_string().trim_end());
            if let Some(examples) = examples {
                out(format_args!("\n{examples}"));
            }
            return Ok(Exit::Usage);
        }
    }
    Ok(Exit::Done)
}

/// Prints an error, and says how the verb ended.
fn report(result: anyhow::Result<Exit>) -> Exit {
    result.unwrap_or_else(|e| {
        err(format_args!("{e:#}"));
        e.downcast_ref::<Failure>().map_or(Exit::Refused, Failure::exit)
    })
}

fn prepare(verb: &Verb, env: &Env) {
    extract::record::begin(env);
    // A seal writes nothing long, and its system calls are counted (benches/hook/counts.json).
    if !matches!(verb, Verb::Seal(_))
        && let Err(e) = outlive_limit_on_files()
    {
        err(format_args!(
            "a file over the limit of length (ulimit -f) would end this program: {e}"
        ));
    }
}

/// Before a verb rewrites a compaction file that is not text, keeps a copy of its bytes and says
/// so.
///
/// # Errors
/// An I/O error; then the file must not be written.
fn keep_bytes(places: &Places, job: &str) -> anyhow::Result<()> {
    if let Some(kept) = guard::files::archives::save_invalid_utf8(places, job)? {
        out(kept);
    }
    Ok(())
}

/// Makes a write beyond the user's file size limit (`ulimit -f`) an error. By default the system
/// would end the program.
fn outlive_limit_on_files() -> io::Result<()> {
    let told = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, told).map(drop)
}

impl Run for Verb {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        match self {
            Self::Install(args) => args.run(context),
            Self::Uninstall(args) => args.run(context),
            Self::View(_) => Err(Failure::usage("`view` needs a terminal of its own")
                .hint("brain-guard sessions and brain-guard rounds print lists")
                .into()),
            Self::Demo(args) => args.run(context),
            Self::Status(args) => args.run(context),
            Self::Doctor(args) => args.run(context),
            Self::Explain(args) => args.run(context),
            Self::Log(args) => args.run(context),
            Self::Report(args) => args.run(context),
            Self::Override(args) => args.run(context),
            Self::Now(args) => args.run(context),
            Self::Later(args) => args.run(context),
            Self::Append(args) => args.run(context),
            Self::Phase(args) => args.run(context),
            Self::Steering(args) => args.run(context),
            Self::Notes(args) => args.run(context),
            Self::Close(args) => args.run(context),
            Self::Seal(args) => args.run(context),
            Self::Job(args) => args.run(context),
            Self::Settings { what } => what.run(context),
            Self::Extract { what } => what.run(context),
            Self::Mcp => mcp::run(context.env),
            Self::Surgery { what } => what.run(context),
            Self::ExportClaude(args) => args.run(context),
            Self::Sessions(args) => args.run(context),
            Self::Rounds(args) => args.run(context),
            Self::Show(args) => args.run(context),
            Self::Advise(args) => args.run(context),
            Self::Tag(args) => args.run(context),
            Self::Search(args) => args.run(context),
            Self::Validate(args) => args.run(context),
            Self::Mend(args) => args.run(context),
            Self::Import(args) => args.run(context),
            Self::Store { what } => what.run(context),
            Self::Purge(args) => args.run(context),
            Self::Completions(args) => args.run(context),
            Self::Mod(args) => args.run(context),
            Self::Waiter(args) => args.run(context),
        }
    }
}
