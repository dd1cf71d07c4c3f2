//! All output of the verbs.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Read, Write};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// The first error of a write to stdout.
static UNWRITTEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// Keeps the error of a write to stdout. A closed pipe is no error.
fn keep_error(written: io::Result<()>) {
    if let Err(e) = written
        && e.kind() != io::ErrorKind::BrokenPipe
    {
        UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
    }
}

/// Flushes stdout, and returns the first error of a write to it.
pub(super) fn finish() -> Option<io::Error> {
    keep_error(io::stdout().flush());
    UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Prints a line. An error is reported when the verb ends.
pub fn out(text: impl Display) {
    keep_error(writeln!(io::stdout().lock(), "{text}"));
}

/// Prints a line to stderr.
pub fn err(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "brain-guard: {text}");
}

/// Prints a report, as JSON or for people.
///
/// # Errors
/// A report that cannot be serialized.
pub fn show(report: &(impl Serialize + Display), json: bool) -> anyhow::Result<()> {
    if json {
        return out_json(report);
    }
    let text = report.to_string();
    // A report without text for people prints nothing.
    if !text.is_empty() {
        out(text.trim_end());
    }
    Ok(())
}

/// Prints a value as JSON, streamed: a large report may not fit in memory twice.
///
/// # Errors
/// A value that cannot be serialized; a part of it may be printed then.
pub fn out_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    match serde_json::to_writer_pretty(&mut stdout, value) {
        Err(e) if e.is_io() => keep_error(Err(e.into())),
        Err(e) => return Err(e.into()),
        Ok(()) => keep_error(writeln!(stdout).and_then(|()| stdout.flush())),
    }
    Ok(())
}

const STDIN_BYTES: u64 = 16 * 1024 * 1024;

/// Asks on the terminal, and reads the answer.
///
/// # Errors
/// A terminal that cannot be written or read.
pub fn ask(question: &str) -> io::Result<String> {
    let mut stdout = io::stdout().lock();
    write!(stdout, "{question}")?;
    stdout.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Reads all of stdin as text; invalid bytes become U+FFFD.
///
/// # Errors
/// More than 16 MB; an I/O error.
pub fn stdin_text() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(STDIN_BYTES + 1).read_to_end(&mut bytes)?;
    // A truncated text would be mistaken for the whole.
    anyhow::ensure!(
        bytes.len() as u64 <= STDIN_BYTES,
        "stdin holds more than 16 MB; put it into a file and name that in a note"
    );
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Asks whether to continue; only `y` or `yes` at a terminal does. Without a terminal, prints the
/// question and the option that answers it.
///
/// # Errors
/// An I/O error of the terminal.
pub(super) fn confirmed(what: &str, option: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        err(format_args!("{what}. Nothing was removed: there is no terminal to ask on; {option}"));
        return Ok(false);
    }
    let answer = ask(&format!("{what}. Go on? [y/N] "))?;
    let agreed = ["y", "yes"].contains(&answer.to_lowercase().as_str());
    if !agreed {
        writeln!(io::stdout(), "Nothing was removed.")?;
    }
    Ok(agreed)
}
