//! All input and output of the verbs. Where the hook executes one, both are texts.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Read, Write};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use rustix::termios::tcgetwinsize;

use base::plain::{self, EscapedJson};

/// The most columns of a line's label.
const LABEL: usize = 24;

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

/// A verb that the hook executes.
struct Captured {
    /// Its stdin.
    input: String,
    /// What it printed to stdout and stderr.
    text: String,
}

thread_local! {
    static CAPTURED: RefCell<Option<Captured>> = const { RefCell::new(None) };
}

/// Runs a verb with this input, and returns what it printed, too.
pub(crate) fn captured<T>(input: String, run: impl FnOnce() -> T) -> (T, String) {
    CAPTURED.set(Some(Captured { input, text: String::new() }));
    let result = run();
    let captured = CAPTURED.take();
    (result, captured.map_or_else(String::new, |captured| captured.text))
}

/// Whether the hook executes this verb.
pub(super) fn is_captured() -> bool {
    CAPTURED.with_borrow(Option::is_some)
}

/// Adds a line to what a captured verb printed. `false` if it prints to the terminal.
fn capture(line: &dyn Display) -> bool {
    CAPTURED.with_borrow_mut(|captured| {
        let Some(captured) = captured else { return false };
        captured.text.push_str(&line.to_string());
        captured.text.push('\n');
        true
    })
}

/// Whether stdin is a terminal, where nobody pipes a text in.
pub fn is_stdin_terminal() -> bool {
    CAPTURED.with_borrow(Option::is_none) && io::stdin().is_terminal()
}

/// Prints a line, without what a terminal would obey: texts may be from a session file. An error is
/// reported when the verb ends.
pub(crate) fn out(text: impl Display) {
    let text = text.to_string();
    if capture(&plain::printed(&text, || false)) {
        return;
    }
    let mut stdout = io::stdout().lock();
    let text = plain::printed(&text, || io::stdout().is_terminal());
    keep_error(writeln!(stdout, "{text}"));
}

/// Prints lines, on a terminal folded between words, below the text behind a label such as `client   found`.
pub fn out_folded(text: impl Display) {
    let text = text.to_string();
    match columns().filter(|_| !is_captured()) {
        Some(columns) => {
            let lines: Vec<String> = text.lines().map(|line| folded(line, columns)).collect();
            out(lines.join("\n"));
        }
        None => out(text),
    }
}

/// Prints whole lines with [`out_folded`].
#[derive(Debug, Default)]
pub struct Lines(Vec<u8>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        while let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.0.drain(..=end).collect();
            out_folded(String::from_utf8_lossy(&line[..end]));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The columns of the terminal; `None` if there is none.
fn columns() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| tcgetwinsize(&stdout).ok()).flatten();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 2 * LABEL)
}

/// A line broken between words, below the text behind its label. A command in backticks stays on
/// one line: it is there to be copied.
fn folded(line: &str, columns: usize) -> String {
    let head: String = line.chars().take(LABEL).collect();
    let label = head.rfind("  ").map_or(0, |gap| gap + 2);
    let indent = head[..label].chars().count();
    let mut is_command = false;
    let words = line[label..].split(|c: char| {
        is_command ^= c == '`';
        c == ' ' && !is_command
    });
    let (mut text, mut at) = (line[..label].to_owned(), indent);
    for word in words {
        let width = word.chars().count();
        if at > indent && at + 1 + width > columns {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else if at > indent {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += width;
    }
    text
}

/// Prints a line as it is, where no person reads it; on a terminal like [`out`].
pub fn out_unchanged(text: &str) {
    if CAPTURED.with_borrow(Option::is_some) || io::stdout().is_terminal() {
        out(text);
    } else {
        keep_error(writeln!(io::stdout().lock(), "{text}"));
    }
}

/// Prints a value as JSON on one line.
///
/// # Errors
/// A value that cannot be serialized.
pub fn out_json_line(value: &impl Serialize) -> anyhow::Result<()> {
    let mut json = EscapedJson(Vec::new());
    serde_json::to_writer(&mut json, value)?;
    out(String::from_utf8_lossy(&json.0));
    Ok(())
}

/// Prints a line to stderr, in the same way.
pub fn err(text: impl Display) {
    let text = format!("brain-guard: {text}");
    let text = plain::printed(&text, || false);
    if capture(&text) {
        return;
    }
    let _ = writeln!(io::stderr().lock(), "{text}");
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
    if CAPTURED.with_borrow(Option::is_some) {
        let mut json = EscapedJson(Vec::new());
        serde_json::to_writer_pretty(&mut json, value)?;
        out(String::from_utf8_lossy(&json.0));
        return Ok(());
    }
    let mut stdout = EscapedJson(io::BufWriter::new(io::stdout().lock()));
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
    write!(stdout, "{}", plain::printed(question, || false))?;
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
    let input = CAPTURED.with_borrow(|captured| captured.as_ref().map(|c| c.input.clone()));
    if let Some(input) = input {
        return Ok(input);
    }
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
    if !is_stdin_terminal() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_goes_on_below_its_text() {
        let line = "client   /usr/bin/claude reads it from /home/me/.local";
        let shown = "client   /usr/bin/claude reads it from\n         /home/me/.local";
        assert_eq!(folded(line, 40), shown);
        let shown = "note  keys  a b\n            c d";
        assert_eq!(folded("note  keys  a b c d", 16), shown);
        assert_eq!(folded("a sentence in plain words", 15), "a sentence in\nplain words");
        let path = "  /a/path/that/is/longer/than/the/line";
        assert_eq!(folded(path, 20), path);
        let command = "to end it `rm -r one two` and go";
        assert_eq!(folded(command, 18), "to end it\n`rm -r one two`\nand go");
    }
}
