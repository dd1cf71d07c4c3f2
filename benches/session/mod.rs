//! Long sessions with the same bytes in every run, and where programs work on them.

mod writer;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

pub use writer::{CLAUDE, PI, Writer};

use crate::harness::report::Goal;
use crate::harness::{Bench, Case, MB, Row};

/// KiB that may be resident beside the largest round or row.
const MEMORY_KIB: u64 = 64 * 1024;

/// A session on disk.
#[derive(Default)]
pub struct Session {
    pub path: PathBuf,
    pub bytes: u64,
    pub rows: u64,
    pub rounds: u64,
    /// Bytes of the largest round, and of the largest row.
    pub largest_round: u64,
    pub largest_row: u64,
    /// A time just after the first round, and one in the middle.
    pub early: String,
    pub middle: String,
}

impl Session {
    /// Writes a session of at least this many bytes with [`CLAUDE`]'s or [`PI`]'s rows.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn write(folder: &Path, seed: u64, bytes: u64, rows: &'static str) -> io::Result<Self> {
        let id = format!("00000000-{seed:04x}-4000-8000-{bytes:012x}");
        let path = folder.join(format!("{id}.jsonl"));
        let mut out = BufWriter::new(File::create(&path)?);
        let mut writer = Writer::new(rows, &id, seed);
        let mut made = Self { path, ..Self::default() };
        while made.bytes < bytes {
            // Even the shortest session has a row of some MB.
            writer.is_large = made.rounds == 10;
            let round = writer.round();
            out.write_all(round.as_bytes())?;
            made.largest_round = made.largest_round.max(round.len() as u64);
            for row in round.split_inclusive('\n') {
                made.rows += 1;
                made.largest_row = made.largest_row.max(row.len() as u64);
            }
            made.bytes += round.len() as u64;
            made.rounds += 1;
            if made.rounds == 1 {
                made.early = writer.time();
            }
            if made.bytes >= bytes / 2 && made.middle.is_empty() {
                made.middle = writer.time();
            }
        }
        out.flush()?;
        // An old time, so that the session counts as idle.
        out.get_ref().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_774_000_000))?;
        Ok(made)
    }

    /// The session in one line.
    pub fn about(&self) -> String {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        let (rows, rounds) = (self.rows, self.rounds);
        let (all, row, round) = (mb(self.bytes), mb(self.largest_row), mb(self.largest_round));
        format!(
            "{all:.0} MB: {rows} rows, the largest {row:.1} MB, in {rounds} rounds, the largest {round:.1} MB"
        )
    }
}

/// The folders for sessions of one size: a home, sessions, stores, output.
pub struct Place {
    binary: PathBuf,
    pub work: PathBuf,
    megabytes: u64,
}

impl Place {
    /// # Errors
    /// Any I/O error.
    pub fn new(bench: &Bench, megabytes: u64) -> io::Result<Self> {
        let work = bench.work.join(format!("{megabytes:04}"));
        for folder in ["home", "sessions", "out"] {
            fs::create_dir_all(work.join(folder))?;
        }
        Ok(Self { binary: bench.binary.clone(), work, megabytes })
    }

    /// A session with this part of the bytes.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn session(&self, seed: u64, part: u64, rows: &'static str) -> io::Result<Session> {
        Session::write(&self.work.join("sessions"), seed, self.megabytes * MB / part, rows)
    }

    /// `cp` of a session, the baseline.
    pub fn copy(&self, session: &Session) -> Case {
        let out = self.work.join("out");
        let case = self.verb("cp", "store", &[text(&session.path), text(&out.join("copy"))], 0);
        Case { program: "cp".into(), most_kib: None, ..case }.after(move || empty(&out))
    }

    /// A verb of the program with a store. Its memory may hold `largest` bytes of the session.
    pub fn verb(&self, name: &str, store: &str, words: &[&str], largest: u64) -> Case {
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let case = Case {
            name: name.into(),
            megabytes: self.megabytes,
            program: self.binary.clone(),
            args: words.iter().map(|word| (*word).to_owned()).collect(),
            env: vec![
                variable("PATH", "/usr/local/bin:/usr/bin:/bin"),
                variable("HOME", text(&self.work.join("home"))),
                variable("BRAIN_GUARD_STORE", text(&self.work.join(store))),
            ],
            most_kib: Some(MEMORY_KIB + largest / 1024),
            ..Case::default()
        };
        case.after(|| ())
    }
}

impl Case {
    /// Prepares each start. The disk has nothing else to write then.
    pub fn after(self, prepare: impl Fn() + 'static) -> Self {
        let before = move || {
            prepare();
            rustix::fs::sync();
        };
        Self { before: Some(Rc::new(before)), ..self }
    }
}

/// The row closest to its memory bound, or above it.
pub fn memory(rows: &[Row]) -> Goal {
    let share =
        |row: &Row| row.trace.resident_kib as f64 / row.case.most_kib.unwrap_or(u64::MAX) as f64;
    let row = rows.iter().max_by(|a, b| share(a).total_cmp(&share(b))).expect("a row");
    let most = row.case.most_kib.unwrap_or_default() / 1024;
    Goal {
        what: "at most 64 MiB and the largest round (of pi: row) are resident".into(),
        found: format!("{} of {most} MiB ({})", row.trace.resident_kib / 1024, row.case.title()),
        held: share(row) <= 1.0,
    }
}

/// Empties a folder.
pub fn empty(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("a folder");
}

/// Copies a file or a folder with its times over what is there.
pub fn replace(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    let done = Command::new("cp").arg("-aT").args([from, to]).status();
    assert!(done.is_ok_and(|status| status.success()), "can't copy {}", from.display());
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("utf-8")
}
