//! `log`: prints the journals of the project's sessions for people: decisions, notes, boundaries and
//! faults.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use chrono::Local;
use serde::Serialize;

use super::surgery::source;
use super::{Context, Exit, Run, selector};
use crate::cli::LogArgs;
use base::clock::Time;
use base::plain::{self, EscapedJson};
use guard::files::journal::{self, Journal};
use guard::journal::{Line, What};
use guard::report::clean;

/// Number of lines to show by default.
const LAST: usize = 20;

/// Time between two checks for new lines.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A line, and where it is from.
#[derive(Debug, Clone, Serialize)]
struct Entry {
    #[serde(skip)]
    project: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(flatten)]
    line: Line,
}

/// Which lines to show.
struct Filter<'a> {
    /// The folders of the projects' state.
    states: Vec<PathBuf>,
    session: Option<&'a str>,
    kinds: &'a [String],
    since: Option<Time>,
}

impl Filter<'_> {
    fn journals(&self) -> Vec<Journal> {
        let all = self.states.iter().flat_map(|state| Journal::find_all(state));
        all.filter(|j| self.session.is_none() || j.session.as_deref() == self.session).collect()
    }

    /// A call that just passed is shown only if its kind is asked for.
    fn matches(&self, line: &Line) -> bool {
        let kind = match self.kinds {
            [] => !matches!(line.what, What::Pass(_)),
            kinds => kinds.contains(&line.what.kind()),
        };
        kind && self.since.is_none_or(|since| line.at >= since)
    }
}

/// How to show a line.
#[derive(Debug, Clone, Copy)]
struct Look {
    json: bool,
    color: bool,
    with_project: bool,
}

impl Run for LogArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let selector = self.session.selector();
        let places = selector::places(env, &selector::project(env, &selector)?)?;
        let named = selector.session.is_some();
        let found = named.then(|| selector::find(env, &selector)).transpose()?;
        let filter = Filter {
            states: if self.all { places.all_states() } else { vec![places.state.clone()] },
            session: found.as_ref().map(|found| found.session.as_str()),
            kinds: &self.kind,
            since: self
                .since
                .as_deref()
                .map(|text| source::since("--since", text, now))
                .transpose()?,
        };
        let look = Look {
            json: self.json,
            color: super::look::Look::of(env).colour,
            with_project: self.all,
        };
        let mut reader = Reader::default();
        let mut entries = reader.read_new(&filter)?;
        let last = self.last.unwrap_or(if self.since.is_some() { usize::MAX } else { LAST });
        entries.drain(..entries.len().saturating_sub(last));
        if entries.is_empty() && !self.json && !self.follow {
            super::err(if reader.positions.is_empty() {
                "the log is empty: brain-guard has done nothing here yet"
            } else {
                "no log entry matches; `brain-guard log` without options shows the last ones"
            });
        }
        let mut printed = print(look, &entries);
        while self.follow && printed.is_ok() {
            std::thread::sleep(POLL_INTERVAL);
            printed = print(look, &reader.read_new(&filter)?);
        }
        match printed {
            // Whoever reads the output is gone.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
            printed => printed.map(|()| Exit::Done).context("could not print the log"),
        }
    }
}

/// Up to where a journal's current file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    inode: u64,
    offset: u64,
}

/// Reads journals, and later what was appended to them.
#[derive(Default)]
struct Reader {
    positions: HashMap<PathBuf, Position>,
}

impl Reader {
    /// The lines since the last call, by time; at first, all of them.
    fn read_new(&mut self, filter: &Filter) -> anyhow::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for journal in filter.journals() {
            let lines = self
                .read_new_of(&journal)
                .with_context(|| format!("could not read {}", journal.path.display()))?;
            let project = project_of(&journal);
            let matching = lines.into_iter().filter(|line| filter.matches(line));
            entries.extend(matching.map(|line| Entry {
                project: project.clone(),
                session: journal.session.clone(),
                line,
            }));
        }
        entries.sort_by_key(|entry| entry.line.at);
        Ok(entries)
    }

    fn read_new_of(&mut self, journal: &Journal) -> io::Result<Vec<Line>> {
        let before = self.positions.get(&journal.path).copied();
        let mut bytes = Vec::new();
        let current = open(&journal.path)?;
        let inode = current.as_ref().map(|(_, inode)| *inode);
        let is_rotated = before.is_none_or(|before| Some(before.inode) != inode);
        if is_rotated && let Some((rotated, inode)) = open(&journal.rotated())? {
            match before {
                None => read_lines(rotated, 0, &mut bytes)?,
                // It may have been appended to before it was moved.
                Some(before) if before.inode == inode => {
                    read_lines(rotated, before.offset, &mut bytes)?
                }
                Some(_) => 0,
            };
        }
        if let Some((file, inode)) = current {
            let from = before.filter(|_| !is_rotated).map_or(0, |before| before.offset);
            let offset = from + read_lines(file, from, &mut bytes)?;
            self.positions.insert(journal.path.clone(), Position { inode, offset });
        }
        Ok(journal::parse(&bytes).collect())
    }
}

/// A file and its inode; `None` if there is none.
fn open(path: &Path) -> io::Result<Option<(File, u64)>> {
    match File::open(path) {
        Ok(file) => {
            let inode = file.metadata()?.ino();
            Ok(Some((file, inode)))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Adds the file's bytes from `from` to its last line break, and returns their number.
fn read_lines(mut file: File, from: u64, bytes: &mut Vec<u8>) -> io::Result<u64> {
    file.seek(SeekFrom::Start(from))?;
    let start = bytes.len();
    file.read_to_end(bytes)?;
    let end = memchr::memrchr(b'\n', &bytes[start..]).map_or(start, |end| start + end + 1);
    bytes.truncate(end);
    Ok((end - start) as u64)
}

/// The project of a journal, by the name of its state folder.
fn project_of(journal: &Journal) -> String {
    let up = if journal.session.is_some() { 2 } else { 1 };
    let folder = journal.path.ancestors().nth(up).and_then(Path::file_name).unwrap_or_default();
    folder.to_string_lossy().into_owned()
}

fn print(look: Look, entries: &[Entry]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for entry in entries {
        if look.json {
            let line = serde_json::to_string(entry)?;
            writeln!(EscapedJson(&mut out), "{line}")?;
            continue;
        }
        if look.with_project {
            write!(out, "{}  ", entry.project)?;
        }
        writeln!(out, "{}", text(entry, look.color))?;
    }
    Ok(())
}

/// The line for people: time, kind, session, and what happened.
fn text(entry: &Entry, color: bool) -> String {
    let Entry { session, line, .. } = entry;
    let at = line.at.with_timezone(&Local).format("%m-%d %H:%M:%S");
    let session: String = session.iter().flat_map(|id| id.chars()).take(8).collect();
    let kind = format!("{:<14}", line.what.kind());
    let kind = match color_of(&line.what).filter(|_| color) {
        Some(code) => format!("\x1b[{code}m{kind}\x1b[0m"),
        None => kind,
    };
    // Text from elsewhere may hold anything, even terminal codes.
    let brief = clean(&plain::line(&line.brief(), 400));
    let again = format!("{} · ", line.what.kind());
    let brief = brief.strip_prefix(&again).unwrap_or(&brief);
    format!("{at}  {kind} {session:<8}  {brief}").trim_end().to_owned()
}

fn color_of(what: &What) -> Option<&'static str> {
    match what {
        What::Fault { .. } => Some("31"),
        What::Deny(_) | What::WouldDeny(_) | What::Lifted { .. } | What::NoBoundary { .. } => {
            Some("33")
        }
        What::Override { .. } => Some("35"),
        What::Delivered { .. } | What::Boundary(_) => Some("32"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(line: &str) -> Entry {
        Entry {
            project: "p".into(),
            session: Some("0123456789".into()),
            line: serde_json::from_str(line).unwrap(),
        }
    }

    #[test]
    fn a_line_is_shown_short_and_can_not_draw_on_the_terminal() {
        let entry = entry(
            r#"{"at":"2026-01-01T00:00:00Z","kind":"fault","what":"state \u001b[2J not read","error":"torn"}"#,
        );
        let shown = text(&entry, false);
        assert!(shown.contains("fault          01234567  state  [2J not read: torn"), "{shown}");
        assert!(!shown.contains('\x1b'));
        assert!(text(&entry, true).contains("\x1b[31mfault"));
        let json = serde_json::to_value(&entry).unwrap();
        assert_eq!((&json["session"], &json["kind"]), (&"0123456789".into(), &"fault".into()));
    }

    #[test]
    fn appended_lines_come_once_across_a_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl");
        let journal = Journal { session: None, path: path.clone() };
        let mut reader = Reader::default();
        let mut fresh = || -> Vec<String> {
            let lines = reader.read_new_of(&journal).unwrap();
            lines.iter().map(Line::text).collect()
        };
        let line = |why: &str| {
            format!("{{\"at\":\"2026-01-01T00:00:00Z\",\"kind\":\"lifted\",\"why\":\"{why}\"}}\n")
        };
        let append = |text: &str| base::atomic::append(&path, text.as_bytes()).unwrap();
        assert!(fresh().is_empty());
        append(&line("old"));
        append(&line("a"));
        let torn = line("bc");
        append(&torn[..20]);
        assert_eq!(fresh(), ["old", "a"]);
        append(&torn[20..]);
        assert_eq!(fresh(), ["bc"]);
        append(&line("d"));
        std::fs::rename(&path, journal.rotated()).unwrap();
        append(&line("e"));
        assert_eq!(fresh(), ["d", "e"]);
        assert!(fresh().is_empty());
    }
}
