//! Sessions of pi, as the model gets them: a row `context_edit` puts other content in the place of an
//! earlier row's, or takes it out (pi 1.5.2). The last one for a row counts.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use extract::edit;
use memchr::memmem;
use sessions::files::{Change, Edited, Jsonl, Refused, SessionFile, Stamp};
use sessions::span;

/// The type of an edit, as JSON.
const TYPE: &[u8] = b"\"context_edit\"";

/// A file that pi may edit so.
#[derive(Debug)]
pub struct Projected(pub Jsonl);

impl Projected {
    /// The content by row id, as JSON.
    fn edits(&self) -> io::Result<HashMap<String, Vec<u8>>> {
        let mut edits = HashMap::new();
        self.0.rows(&mut |_, line| {
            if is_edit(line)
                && let Some(target) = span::find(line, "targetId").and_then(span::plain)
                && let Some(replacement) = span::find(line, "replacement")
            {
                let content = span::find(replacement, "content").unwrap_or(b"[]");
                edits.insert(target.to_owned(), content.to_owned());
            }
            Ok(())
        })?;
        Ok(edits)
    }
}

/// Whether a row is an edit.
fn is_edit(line: &[u8]) -> bool {
    // Most rows don't have the word at all.
    memmem::find(line, TYPE).is_some() && span::find(line, "type") == Some(TYPE)
}

/// The row with its content from `edits`, and an edit without its own; `None` if it stays.
fn projected(line: &[u8], edits: &HashMap<String, Vec<u8>>) -> Option<Vec<u8>> {
    if edits.is_empty() {
        return None;
    }
    if is_edit(line) {
        return edit::with_field(line, "replacement", None);
    }
    let content = edits.get(span::find(line, "id").and_then(span::plain)?)?;
    let own = edit::locate(line, "message.content").or_else(|| edit::locate(line, "content"))?;
    Some(edit::replaced(line, &[(own, content.clone())]))
}

impl SessionFile for Projected {
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        let edits = self.edits()?;
        self.0.rows(&mut |row, line| match projected(line, &edits) {
            Some(line) => each(row, &line),
            None => each(row, line),
        })
    }

    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused> {
        if self.edits()?.is_empty() {
            return self.0.edit(stamp, change);
        }
        Err(Refused::Unsupported(format!(
            "{}: pi edits what the model gets of this session, so its rows stay as they are; in pi, purge_control restores, and without --in-place `extract restore` prints",
            self.0.path().display()
        )))
    }

    fn settle(&self) -> Result<Option<String>, Refused> {
        self.0.settle()
    }

    fn copied(&self) -> Option<PathBuf> {
        self.0.copied()
    }
}
