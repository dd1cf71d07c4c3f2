//! A separate home with a store, and checks on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use store::blocks::{Reader, Root};
use store::index::{Filter, Index};

use crate::store::made;
use crate::support::hook::{Answer, PROGRAM, finish};

pub struct Scene {
    dir: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let scene = Self { dir };
        fs::create_dir_all(scene.files()).expect("made");
        scene
    }

    /// The root of the home.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The folder of the session files.
    pub fn files(&self) -> PathBuf {
        self.path().join("home/.claude/projects")
    }

    pub fn store(&self) -> Root {
        Root::new(self.path().join("store"))
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.path().join("home"))
            .env("BRAIN_GUARD_STORE", self.store().path())
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Answer {
        finish(self.command(args), b"")
    }

    /// After one more import nothing is missing and nothing is duplicate.
    pub fn judge(&self, numbers: std::ops::Range<u64>) -> Result<(), String> {
        let last = self.run(&["import", "--all"]);
        if last.code != Some(0) {
            return Err(format!("the last inscription: {last:?}"));
        }
        let doctor = self.run(&["doctor", "--json"]);
        let report: Value = serde_json::from_str(&doctor.stdout)
            .map_err(|e| format!("doctor says {doctor:?}: {e}"))?;
        let all = report["found"].as_array().into_iter().flatten();
        let found: Vec<&Value> = all.filter(|f| f["check"] == "store").collect();
        if found.len() != 1 || found[0]["level"] != "ok" {
            return Err(format!("doctor found {found:?}"));
        }
        let sessions = found[0]["seen"].as_str().and_then(|seen| seen.split(' ').next());
        let sessions = sessions.and_then(|number| number.parse::<u64>().ok());
        if sessions != Some(numbers.end - numbers.start) {
            return Err(format!("{sessions:?} sessions"));
        }
        let index = Index::new(self.store());
        numbers.into_iter().try_for_each(|number| self.session(&index, number))
    }

    fn session(&self, index: &Index, number: u64) -> Result<(), String> {
        let id = made::id(number);
        let folder = self.store().folder("claude", &id);
        let (expected, mut found) = (made::text(number), Vec::new());
        Reader::open(&folder)
            .and_then(|reader| reader.original(&mut found))
            .map_err(|e| format!("{id}: {e}"))?;
        if found != expected {
            let (found, expected) = (found.len(), expected.len());
            return Err(format!("{id} is not what was written: {found} bytes of {expected}"));
        }
        let session = index.session(&folder).map_err(|e| e.to_string())?;
        let seqs: Vec<u64> = session.rounds.iter().map(|round| round.seq.into()).collect();
        if seqs != (1..=made::rounds(number)).collect::<Vec<_>>() {
            return Err(format!("{id} has rounds {seqs:?}, not {}", made::rounds(number)));
        }
        let query = format!("round1of{number}");
        let hits = index.search(&query, &Filter::default(), 10).map_err(|e| e.to_string())?;
        match hits.as_slice() {
            [hit] if hit.session == id && hit.seq == 2 => Ok(()),
            hits => Err(format!("{query} is found in {hits:?}")),
        }
    }
}
