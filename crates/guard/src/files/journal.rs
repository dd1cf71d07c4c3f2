//! The journals: one line of JSON for each decision, text, action or fault of the guard, for
//! `explain`, `report` and `log`. Each session has its own; the project's has what belongs to none.
//! A call below every tier leaves no line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::journal::{Line, What};
use base::clock::Time;
use base::paths::Places;
use base::{atomic, lock};

/// Size in bytes at which a journal is rotated. With one older part, it takes at most 4 MB, about
/// 4,000 denials.
const ROTATE_AT: u64 = 2 * 1024 * 1024;

/// What a session's files end in.
const CURRENT: &str = "journal.jsonl";

/// A journal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Journal {
    /// Its session; `None` for the project's.
    pub session: Option<String>,
    /// The current file.
    pub path: PathBuf,
}

impl Journal {
    /// The journal of a session.
    pub fn of_session(places: &Places, id: &str) -> Self {
        Self { session: Some(id.to_owned()), path: places.session(id, CURRENT) }
    }

    /// The journal of a project, for what belongs to no session.
    pub fn of_project(places: &Places) -> Self {
        Self { session: None, path: places.log() }
    }

    /// All journals in a project's state.
    pub fn find_all(state: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(state.join("sessions")).into_iter().flatten().flatten();
        let of_session = |path: PathBuf| {
            let name = path.file_name()?.to_str()?;
            let session = name.strip_suffix(CURRENT)?.strip_suffix('.')?.to_owned();
            Some(Self { session: Some(session), path })
        };
        let mut found: Vec<Self> = entries.filter_map(|entry| of_session(entry.path())).collect();
        let log = state.join("log.jsonl");
        found.extend(log.is_file().then_some(Self { session: None, path: log }));
        found.sort();
        found
    }

    /// The part that was rotated away.
    pub fn rotated(&self) -> PathBuf {
        self.path.with_extension("1.jsonl")
    }

    /// Appends an event without usage figures.
    pub fn record(&self, places: &Places, at: Time, what: What) {
        self.append(places, &Line::new(at, what));
    }

    /// Appends a line. Never fails and never waits: a line that cannot be written is dropped.
    pub fn append(&self, places: &Places, line: &Line) {
        let Ok(mut bytes) = serde_json::to_vec(line) else { return };
        bytes.push(b'\n');
        match std::fs::metadata(&self.path) {
            // Opening a pipe would wait for its reader.
            Ok(meta) if !meta.is_file() => return,
            Ok(meta) if meta.len() > ROTATE_AT => self.rotate(),
            _ => {}
        }
        if atomic::append(&self.path, &bytes).is_err() && places.ensure_state().is_ok() {
            let _ = atomic::append(&self.path, &bytes);
        }
    }

    /// Rotates in only one process. A second rotation would replace all older lines with a few new
    /// ones.
    fn rotate(&self) {
        let lock = self.path.with_extension("lock");
        let Ok(_held) = lock::acquire(&lock, Duration::ZERO) else { return };
        if std::fs::metadata(&self.path).is_ok_and(|meta| meta.len() > ROTATE_AT) {
            let _ = std::fs::rename(&self.path, self.rotated());
        }
    }

    /// Its lines, oldest first. Skips unreadable ones: a line may be torn, or from a later version.
    pub fn lines(&self) -> Vec<Line> {
        let read = |path: &Path| atomic::read(path).ok().flatten().unwrap_or_default();
        let parts = [read(&self.rotated()), read(&self.path)];
        parts.iter().flat_map(|bytes| parse(bytes)).collect()
    }
}

/// The lines in a part of a journal.
pub fn parse(bytes: &[u8]) -> impl Iterator<Item = Line> {
    bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// The line about a call, by the client's id.
pub fn find_call<'l>(lines: &'l [Line], id: &str) -> Option<&'l Line> {
    lines.iter().rfind(|line| line.what.call().is_some_and(|call| call.id == id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Call;
    use base::env::Env;

    fn world() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        (dir, places)
    }

    fn line(said: &str) -> Line {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        Line {
            to_agent: said.into(),
            ..Line::new(at, What::Note { event: "PostToolBatch".into() })
        }
    }

    #[test]
    fn what_is_written_is_read_and_torn_lines_are_left_out() {
        let (_dir, places) = world();
        let called = Call { id: "t1".into(), ..Call::default() };
        let denied = Line { tier: "narrow".into(), ..Line::new(line("").at, What::Deny(called)) };
        let journal = Journal::of_session(&places, "s1");
        journal.append(&places, &line("one"));
        journal.append(&places, &denied);
        atomic::append(
            &journal.path,
            b"{\"at\":\"2026\n{\"at\":\"2026-01-01T00:00:00Z\",\"kind\":\"new\"}\n",
        )
        .unwrap();
        journal.append(&places, &line("two"));
        let lines = journal.lines();
        assert_eq!(lines, [line("one"), denied.clone(), line("two")]);
        assert_eq!((find_call(&lines, "t1"), find_call(&lines, "t2")), (Some(&denied), None));
        assert!(Journal::of_session(&places, "s2").lines().is_empty());
        Journal::of_project(&places).append(&places, &line("three"));
        assert_eq!(
            Journal::find_all(&places.state),
            [Journal::of_project(&places), journal.clone()]
        );
        let permissions = journal.path.metadata().unwrap().permissions();
        let mode = std::os::unix::fs::PermissionsExt::mode(&permissions);
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn it_stays_below_its_bound_and_keeps_what_is_new() {
        let (_dir, places) = world();
        let journal = Journal::of_session(&places, "s1");
        let long = "x".repeat(100_000);
        for number in 0..90 {
            journal.append(&places, &line(&format!("{number} {long}")));
        }
        let size = |path: &PathBuf| path.metadata().unwrap().len();
        assert!(size(&journal.path) + size(&journal.rotated()) < 2 * ROTATE_AT + 300_000);
        let kept = journal.lines();
        let last = &kept.last().unwrap().to_agent;
        assert!(kept.len() >= 20 && last.starts_with("89 "), "{}", kept.len());
    }

    #[test]
    fn a_line_that_cannot_be_written_is_dropped() {
        let (_dir, places) = world();
        let journal = Journal::of_session(&places, "s1");
        std::fs::create_dir_all(&journal.path).unwrap();
        journal.append(&places, &line("one"));
        assert!(journal.lines().is_empty());
    }
}
