//! Tells a user who is away what became of the session: by the terminal's bell, by a notification
//! of the terminal, or by a program of theirs.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::termios::isatty;

use super::facts::Facts;
use crate::journal::What;
use crate::settings::Notifier;
use base::{plain, process};

/// Characters of an id that tell sessions apart, as `status --all` has them.
const SHORT: usize = 8;

/// Most characters of a title or text.
const LONGEST: usize = 400;

/// Tells the user something, unless they are there or nobody can be. Returns whether that was tried.
pub fn tell(facts: &Facts, text: &str) -> bool {
    if facts.attended() || !facts.seen.interactive || facts.settings.notify.by == Notifier::OFF {
        return false;
    }
    let project = facts.places.project.file_name().unwrap_or_default().to_string_lossy();
    let session = facts.id.get(..SHORT).unwrap_or(facts.id);
    let title = plain::line(&format!("brain-guard: {project} ({session})"), LONGEST);
    let text = plain::line(text, LONGEST);
    let is_tmux = facts.env.get("TMUX").is_some();
    match &facts.settings.notify.by {
        Notifier::Terminal(way) => {
            // A client without a terminal has nobody to hear it.
            if ring(facts, &way.sequence(&title, &text, is_tmux)).is_err() {
                return false;
            }
        }
        Notifier::Program(words) => {
            if let Err(e) = run(words, &title, &text) {
                let program = words.first().map_or("", String::as_str);
                facts.fault("user not notified", &format!("{program}: {e}"));
                // A program that can't be run must not mean that nobody hears of it.
                if ring(facts, "\x07").is_err() {
                    return false;
                }
            }
        }
    }
    facts.record(What::Notified { text });
    true
}

/// Writes to the client's terminal.
fn ring(facts: &Facts, bytes: &str) -> io::Result<()> {
    let client = facts.session.client.ok_or(io::ErrorKind::NotFound)?;
    let path = process::input(client.pid)?;
    // A terminal that was stopped must not hold the hook.
    let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits().cast_signed();
    let terminal = OpenOptions::new().write(true).custom_flags(flags).open(path)?;
    if !isatty(&terminal) {
        return Err(io::Error::other("the client has no terminal"));
    }
    // Once: the rest of a sequence would come too late.
    rustix::io::write(&terminal, bytes.as_bytes())?;
    Ok(())
}

/// Starts a program; the texts are arguments, and no shell reads them.
fn run(words: &[String], title: &str, text: &str) -> io::Result<()> {
    let put = |word: &String| word.replace("{title}", title).replace("{text}", text);
    let words: Vec<String> = words.iter().map(put).collect();
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    process::spawn_detached(Path::new(program), &arguments)
}
