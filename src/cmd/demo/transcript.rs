//! The conversation's file, row by row in the client's format, as far as the guard reads it (as in
//! `fixtures`).

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use base::atomic;
use base::clock;

/// The model the scripted agent claims to be.
pub const MODEL: &str = "claude-opus-5-5";

/// That model's window in tokens.
pub const WINDOW: u64 = 1_000_000;

/// Tokens at which that window counts as full.
pub const LIMIT: u64 = WINDOW - guard::policy::limit::BUFFER;

/// Tokens of every scripted answer.
const OUTPUT: u64 = 120;

#[derive(Debug)]
pub struct Transcript {
    pub path: PathBuf,
    session: String,
    cwd: String,
    rows: u64,
}

impl Transcript {
    /// The file of a session. The client creates it with its first row.
    pub fn new(home: &Path, project: &Path, session: &str) -> Self {
        let cwd = project.to_string_lossy().into_owned();
        let folder = home.join(".claude/projects").join(cwd.replace(['/', '.'], "-"));
        Self {
            path: folder.join(format!("{session}.jsonl")),
            session: session.to_owned(),
            cwd,
            rows: 0,
        }
    }

    /// Adds a prompt, or the results of tools.
    ///
    /// # Errors
    pub fn user(&mut self, content: &Value) -> io::Result<()> {
        self.row("user", &json!({"role": "user", "content": content}))
    }

    /// Adds one response of the model: a row for each of its blocks, all with the usage.
    ///
    /// # Errors
    /// An I/O error.
    pub fn assistant(&mut self, tokens: u64, blocks: &[Value]) -> io::Result<()> {
        let id = format!("msg_demo_{}", self.rows);
        for block in blocks {
            let message = json!({
                "id": id, "type": "message", "role": "assistant", "model": MODEL, "content": [block],
                "usage": {
                    "input_tokens": 7, "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": tokens.saturating_sub(7), "output_tokens": OUTPUT,
                },
            });
            self.row("assistant", &message)?;
        }
        Ok(())
    }

    fn row(&mut self, kind: &str, message: &Value) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            atomic::create_private_dir(folder)?;
        }
        let uuid = |n: u64| format!("00000000-0000-4000-8000-{n:012x}");
        let parent = (self.rows > 0).then(|| uuid(self.rows));
        self.rows += 1;
        let row = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "message": message,
            "uuid": uuid(self.rows), "timestamp": clock::now(), "userType": "external", "entrypoint": "cli",
            "cwd": self.cwd, "sessionId": self.session,
        });
        atomic::append(&self.path, format!("{row}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessions::fill::Gatherer;

    #[test]
    fn the_guard_reads_the_fill_that_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut transcript = Transcript::new(dir.path(), Path::new("/p/x.y"), "s");
        assert!(transcript.path.ends_with(".claude/projects/-p-x-y/s.jsonl"));
        transcript.user(&json!("go on")).unwrap();
        transcript
            .assistant(
                50_000,
                &[json!({"type": "text", "text": "so"}), json!({"type": "text", "text": "be it"})],
            )
            .unwrap();
        let text = std::fs::read_to_string(&transcript.path).unwrap();
        let mut gatherer = Gatherer::default();
        for line in text.lines().rev() {
            if gatherer.feed(line.as_bytes()).is_break() {
                break;
            }
        }
        let fill = gatherer.finish().unwrap();
        assert_eq!((fill.measured, fill.model.as_deref()), (50_000 + OUTPUT, Some(MODEL)));
    }
}
