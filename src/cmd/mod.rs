//! The verbs, one a file. Each returns how it ended; what it prints goes through
//! `out` and `err`.
#![allow(clippy::disallowed_methods, reason = "commands are an edge")]

pub mod advise;
pub mod append;
pub mod carrier;
pub mod close;
pub mod demo;
pub mod doctor;
mod ending;
pub mod explain;
pub mod extract;
pub mod inject;
pub mod inscribe;
pub mod install;
pub mod job;
pub mod log;
pub mod matrix;
pub mod mcp;
pub mod module;
pub mod notice;
pub mod override_;
pub mod phase;
pub mod purge;
pub mod report;
pub mod revive;
pub mod seal;
pub mod search;
pub mod settings;
pub mod setup;
pub mod status;
pub mod steering;
pub mod store_;
pub mod surgery;
pub mod tag;
mod trace;
pub mod typed;
pub mod uninstall;
pub mod validate;
pub mod whose;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Read, Write};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Parser;
use signal_hook::consts::SIGXFSZ;

use crate::cli::{CarrierVerb, Cli, ClipboardVerb, SettingsVerb, Verb};
use ::carrier::{reach, x11};
use base::clock;
use base::env::Env;
use base::paths::Places;
use guard::hook::Outside;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Refused, or not all of it was done; what was printed names the way out.
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

/// What kept the output from being written, once something did.
static UNWRITTEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// Notes what came of a write to stdout; a closed pipe is nobody's fault.
fn noted(written: io::Result<()>) {
    if let Err(e) = written
        && e.kind() != io::ErrorKind::BrokenPipe
    {
        UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
    }
}

/// Writes a line for whoever called. What can't be written is told when the verb ends, which
/// ends with code 1 then.
pub fn out(text: impl Display) {
    noted(writeln!(io::stdout().lock(), "{text}"));
}

/// Writes a line about what went wrong.
pub fn err(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "brain-guard: {text}");
}

/// Writes a value as pretty JSON.
///
/// # Errors
/// Values that can't be JSON.
pub fn out_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    out(serde_json::to_string_pretty(value)?);
    Ok(())
}

/// [`out_json`] of what may be too large to be put together first.
///
/// # Errors
/// Values that can't be JSON; a part of it may be printed then.
pub fn out_json_streamed(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    match serde_json::to_writer_pretty(&mut stdout, value) {
        Err(e) if e.is_io() => noted(Err(e.into())),
        Err(e) => return Err(e.into()),
        Ok(()) => noted(writeln!(stdout).and_then(|()| stdout.flush())),
    }
    Ok(())
}

const STDIN_BYTES: u64 = 16 * 1024 * 1024;

/// Reads all of stdin as text; invalid bytes become U+FFFD.
///
/// # Errors
/// More than 16 MB; what the system says.
pub fn stdin_text() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(STDIN_BYTES + 1).read_to_end(&mut bytes)?;
    // Half a text would be taken for the whole.
    anyhow::ensure!(
        bytes.len() as u64 <= STDIN_BYTES,
        "stdin holds more than 16 MB; put it into a file and name that in a note"
    );
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Asks whether to go on: only `y` or `yes` at a terminal does. Elsewhere nobody can answer, and
/// a line says what would have been asked, with the option that answers it.
///
/// # Errors
/// What the system says of the terminal.
fn confirmed(what: &str, option: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        err(format_args!("{what}. Nothing was removed: there is no terminal to ask on; {option}"));
        return Ok(false);
    }
    let mut stdout = io::stdout().lock();
    write!(stdout, "{what}. Go on? [y/N] ")?;
    stdout.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let agreed = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    if !agreed {
        writeln!(stdout, "Nothing was removed.")?;
    }
    Ok(agreed)
}

/// What the hook asks of the rest of the program.
pub const OUTSIDE: Outside = Outside { look: reach::look, answer: typed::answer };

/// Parses the command line and runs it; usage errors end with code 2.
pub fn main(env: &Env) -> ExitCode {
    match Cli::try_parse_from(arguments()) {
        Ok(cli) => run(cli.verb, env),
        Err(e) => {
            // Nothing better can be done about a closed terminal.
            let _ = e.print();
            ExitCode::from(if e.use_stderr() { 2 } else { 0 })
        }
    }
}

/// The command line. A list item may be a value: `append '- one thread'`; a line break
/// ahead of it keeps it from being taken for an option, and means nothing in Markdown.
fn arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().map(|argument| {
        let item = argument.as_encoded_bytes().starts_with(b"- ");
        if item { OsString::from_iter([OsString::from("\n"), argument]) } else { argument }
    })
}

/// Keeps the bytes of a compaction file that is no text, before a verb writes it anew, and
/// says so. The caller holds the job's lock.
///
/// # Errors
/// What the system says; the file must not be written then.
fn keep_bytes(places: &Places, job: &str) -> anyhow::Result<()> {
    if let Some(kept) = guard::files::archives::keep_bytes(places, job)? {
        out(kept);
    }
    Ok(())
}

/// From now on a file that would get longer than the user's limit (`ulimit -f`) is an error of
/// whoever writes it; else the system would end the program.
fn outlive_limit_on_files() -> io::Result<()> {
    let told = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, told).map(drop)
}

fn run(verb: Verb, env: &Env) -> ExitCode {
    trace::begin(env);
    let now = clock::now();
    // A seal writes nothing long, and its system calls are counted (benches/hook/counts.json).
    if !matches!(verb, Verb::Seal { .. })
        && let Err(e) = outlive_limit_on_files()
    {
        err(format_args!(
            "a file over the limit of length (ulimit -f) would end this program: {e}"
        ));
    }
    let result = match verb {
        Verb::Install { no_demo, no_keybindings } => setup::install(env, !no_demo, !no_keybindings),
        Verb::Uninstall => setup::uninstall(env),
        Verb::Demo { plugin } => setup::demo(env, plugin),
        Verb::Status { whose, json } => status::run(env, now, &whose, json),
        Verb::Doctor { fix, json } => doctor::run(env, now, fix, json),
        Verb::Explain { whose, last, json } => {
            explain::run(env, now, &whose, explain::Ask { last, json })
        }
        Verb::Log { whose, which } => log::run(env, now, &whose, &which),
        Verb::Report { whose, job, html, json } => {
            report::run(env, now, &whose, &report::Ask { job, html, json })
        }
        Verb::Now { whose } => notice::run(env, now, &whose, &notice::Wish::Now),
        Verb::Later { whose, time } => notice::run(env, now, &whose, &notice::Wish::Later(time)),
        Verb::Override { whose, how } => override_::run(env, now, &whose, &how),
        Verb::Append { whose, kind, about, text } => {
            append::run(env, now, &whose, &append::Given { kind, about, text })
        }
        Verb::Phase { whose, what } => phase::run(env, now, &whose, what),
        Verb::Steering { whose, json } => steering::run(env, &whose, json),
        Verb::Close { whose, id } => close::run(env, now, &whose, id.as_deref()),
        Verb::Seal { whose, summary, clear, no_clear, dry_run, json, file } => {
            let ask = seal::Ask {
                summary,
                clear: clear.then_some(true).or(no_clear.then_some(false)),
                dry_run,
                json,
                file,
            };
            seal::run(env, now, &whose, &ask)
        }
        Verb::Job { whose, what } => job::run(env, now, &whose, &what),
        Verb::Carrier { what: CarrierVerb::Probe { whose, json } } => {
            carrier::probe(env, now, &whose, json)
        }
        Verb::Carrier { what: CarrierVerb::Test { whose, json } } => {
            carrier::trial::run(env, now, &whose, json)
        }
        Verb::CarrierScratch { file } => carrier::scratch::run(&file),
        Verb::Settings { what: SettingsVerb::Show { whose } } => settings::show(env, &whose),
        Verb::Settings { what: SettingsVerb::Check { whose, window, model, json, file } } => {
            settings::check::run(
                env,
                now,
                &whose,
                &settings::check::Ask { window, model, file },
                json,
            )
        }
        Verb::Extract { what } => extract::run(env, now, what),
        Verb::Mcp => mcp::run(env),
        Verb::Surgery { what } => surgery::run(env, now, what),
        Verb::ExportClaude(args) => surgery::export(env, now, args),
        Verb::Inject(args) => inject::run(env, &args),
        Verb::Advise { session, json } => advise::run(env, now, session.as_deref(), json),
        Verb::Revive(args) => revive::run(env, now, &args),
        Verb::Validate { file, strict, json } => validate::run(&file, strict, json),
        Verb::Inscribe { args } => inscribe::run(env, &args),
        Verb::Store { what } => store_::run(env, &what),
        Verb::Tag(args) => tag::run(env, now, &args),
        Verb::Untag(args) => tag::untag(env, &args),
        Verb::Search(args) => search::run(env, now, &args),
        Verb::Matrix(args) => matrix::run(env, &args),
        Verb::Purge(args) => purge::run(env, now, &args),
        Verb::Mod { ask } => module::run(env, now, &ask),
        Verb::Clipboard { what } => clipboard(&what),
        Verb::Waiter { token, project } => waiter(env, &token, &project),
    };
    noted(io::stdout().flush());
    let unwritten = UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(why) = &unwritten {
        err(format_args!("could not write the output: {why}"));
    }
    match result {
        Ok(exit) if unwritten.is_none() => exit.into(),
        Ok(_) => Exit::Refused.into(),
        Err(e) => {
            err(format_args!("{e:#}"));
            Exit::Refused.into()
        }
    }
}

fn selection(name: &str) -> anyhow::Result<x11::Which> {
    x11::Which::of(name).ok_or_else(|| anyhow::anyhow!("no selection is called {name}"))
}

fn clipboard(what: &ClipboardVerb) -> anyhow::Result<Exit> {
    match what {
        ClipboardVerb::Hold { which, seconds } => {
            // The user's text is to outlive the terminal's hangup.
            let _ = rustix::process::setsid();
            x11::hold(selection(which)?, stdin_text()?, Duration::from_secs(*seconds))?;
        }
        ClipboardVerb::Take { which } => {
            io::stdout().lock().write_all(x11::take(selection(which)?)?.as_bytes())?;
        }
    }
    Ok(Exit::Done)
}

fn waiter(env: &Env, token: &str, project: &std::path::Path) -> anyhow::Result<Exit> {
    let places = Places::of(env, project)
        .ok_or_else(|| anyhow::anyhow!("HOME is not set; set it to your home folder"))?;
    let (settings, _) = guard::hook::facts::read_settings(&places, env);
    ::carrier::waiter::detach();
    ::carrier::waiter::watch(env, &places, token, &settings.boundary)?;
    Ok(Exit::Done)
}
