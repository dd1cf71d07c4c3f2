//! A HOME with sessions of pi, and runs of brain-guard in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::pi::client::Pi;
use crate::support::hook::{Answer, PROGRAM, finish, fixtures};

pub struct Scene {
    dir: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Result<Self, String> {
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let scene = Self { dir };
        fs::create_dir_all(scene.folder()).map_err(|e| e.to_string())?;
        Ok(scene)
    }

    /// The folder in which pi keeps the sessions of one project.
    pub fn folder(&self) -> PathBuf {
        self.dir.path().join("home/.pi/agent/sessions/--home-dev-project--")
    }

    /// Writes the sessions: one by pi, the fixture, and two variants of it.
    pub fn sessions(&self, pi: &Pi) -> Result<Vec<PathBuf>, String> {
        let mut all = vec![pi.write(&self.folder())?];
        let text = fs::read_to_string(fixtures().join("transcripts/pi.jsonl"))
            .map_err(|e| e.to_string())?;
        // The fixture's texts are short, so its tool results are made long.
        let grown = text.replace("total 128", &"-rw-r--r-- 1 u u 4096 Feb 21 file\\n".repeat(90));
        assert_ne!(text, grown, "the fixture lists no files");
        let crlf = grown.replace('\n', "\r\n");
        let odd = grown.replacen('\n', "\nno json\n\n{\"torn\":\n", 3);
        for (name, text) in [("plain", &grown), ("crlf", &crlf), ("odd", &odd)] {
            let path = self.folder().join(format!("2026-02-20T10-00-00_{name}.jsonl"));
            fs::write(&path, text).map_err(|e| e.to_string())?;
            all.push(path);
        }
        for path in &all {
            quiet(path);
        }
        Ok(all)
    }

    pub fn run(&self, args: &[&str]) -> Answer {
        let mut command = Command::new(PROGRAM);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.dir.path().join("home"))
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        finish(command, b"")
    }

    /// Runs a verb that must succeed and returns its output.
    pub fn done(&self, args: &[&str]) -> Result<String, String> {
        let answer = self.run(args);
        if answer.code == Some(0) {
            Ok(answer.stdout)
        } else {
            Err(format!("{args:?}: {answer:?}"))
        }
    }
}

/// Dates the file's last change back by three minutes.
pub fn quiet(path: &Path) {
    let before = SystemTime::now() - Duration::from_secs(180);
    let file = fs::File::options().append(true).open(path).expect("a session");
    file.set_modified(before).expect("a time");
}

pub fn shown(path: &Path) -> &str {
    path.to_str().expect("utf-8")
}
