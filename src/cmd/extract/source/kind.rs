//! Detects a session file's format by its content: names are no proof.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};

use base::atomic;
use sessions::dialect;
use sessions::files::{Edited, Jsonl, Refused, SessionFile, Stamp};
use sessions::line::Lines;
use sessions::span::{self, Field};

/// How every SQLite database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Rows to examine: the first ones reveal the format.
const ROWS: u64 = 1_000;

/// The format of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// JSONL of pi, or of `OpenClaw` up to 2026.7.1.
    Jsonl,
    /// A database of `OpenClaw` from 2026.7.2 on.
    Database,
    /// A Claude Code session; never written.
    Claude,
}

/// Detects the format of a file, and the id in pi's header.
///
/// # Errors
/// A file that cannot be read, or is not a session.
pub fn detect(path: &Path) -> anyhow::Result<(Kind, Option<String>)> {
    let shown = || format!("{} can't be read", path.display());
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(atomic::NO_WAIT).open(path).with_context(shown)?;
    let meta = file.metadata().with_context(shown)?;
    ensure!(!meta.is_dir(), "{} is a folder; name a session's file in it", path.display());
    ensure!(meta.is_file(), "{} is not a file; name a session's", path.display());
    ensure!(meta.len() > 0, "{} is empty: it holds no session", path.display());
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    if reader.fill_buf().with_context(shown)?.starts_with(SQLITE) {
        return Ok((Kind::Database, None));
    }
    let mut lines = Lines::new(reader);
    let mut fields = Vec::new();
    while let Some(line) = lines.next().with_context(shown)? {
        if line.number == 1 && dialect::detect(line.bytes).has_header() {
            let id = span::find(line.bytes, "id").and_then(span::plain).map(str::to_owned);
            return Ok((Kind::Jsonl, id));
        }
        if let Some(kind) = of_row(line.bytes, &mut fields) {
            return Ok((kind, None));
        }
        if line.number >= ROWS {
            break;
        }
    }
    bail!(
        "{} is not a session: none of its rows is one of pi, OpenClaw or Claude Code",
        path.display()
    )
}

/// The format of a row, if it is recognizable.
fn of_row(line: &[u8], fields: &mut Vec<Field>) -> Option<Kind> {
    span::fields(line, fields)?;
    let has = |name: &str| span::get(line, fields, name).is_some();
    if ["uuid", "sessionId", "leafUuid", "messageId"].into_iter().any(has) {
        return Some(Kind::Claude);
    }
    (has("__id") || has("id") && has("type")).then_some(Kind::Jsonl)
}

/// A Claude Code session: read-only.
#[derive(Debug)]
pub struct Untouched(pub Jsonl);

impl SessionFile for Untouched {
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        self.0.rows(each)
    }

    fn edit(
        &self,
        _: Stamp,
        _: &mut dyn FnMut(u64, &[u8]) -> io::Result<Option<Vec<u8>>>,
    ) -> Result<Edited, Refused> {
        Err(Refused::Unsupported(format!(
            "{}: a session of Claude Code is never changed; `extract run` makes a new one of it, `surgery remove` takes that back, and `extract restore` without --in-place prints what was extracted",
            self.0.path().display()
        )))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_known_by_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.jsonl");
        let kind = |text: &str| {
            fs::write(&path, text).unwrap();
            detect(&path).map_err(|e| e.to_string())
        };
        let header = "{\"type\":\"session\",\"version\":3,\"id\":\"u1\",\"cwd\":\"/w\"}\n";
        assert_eq!(kind(header), Ok((Kind::Jsonl, Some("u1".to_owned()))));
        assert_eq!(kind("{\"type\":\"tool_result\",\"__id\":\"a\"}\n"), Ok((Kind::Jsonl, None)));
        assert_eq!(kind("\nno JSON\n{\"type\":\"user\",\"id\":\"a\"}"), Ok((Kind::Jsonl, None)));
        for row in [
            "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"s\"}\n",
            "{\"parentUuid\":null,\"type\":\"user\",\"uuid\":\"u\"}\n",
        ] {
            assert_eq!(kind(row), Ok((Kind::Claude, None)), "{row}");
        }
        assert_eq!(kind("SQLite format 3\0rest"), Ok((Kind::Database, None)));
        assert!(kind("").unwrap_err().contains("is empty"));
        assert!(kind("words\n{\"a\":1}\n").unwrap_err().contains("is not a session"));
        assert!(detect(dir.path()).unwrap_err().to_string().contains("is a folder"));
        assert!(detect(&dir.path().join("gone")).unwrap_err().to_string().contains("gone"));
    }
}
