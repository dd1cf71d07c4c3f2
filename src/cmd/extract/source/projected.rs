//! Sessions of pi, as the model gets them: a row `context_edit` puts other content in the place of an
//! earlier row's, or takes it out (pi 1.5.2). The last one on the branch of the last row counts.

use std::collections::{HashMap, HashSet};
use std::io;

use extract::edit;
use memchr::memmem;
use sessions::files::{Change, Edited, Jsonl, Refused, SessionFile, Stamp};
use sessions::span;

/// The type of an edit, as JSON.
const TYPE: &[u8] = b"\"context_edit\"";

/// What an edit takes out.
const NOTHING: &[u8] = b"[]";

/// A file that pi may edit so.
#[derive(Debug)]
pub struct Projected {
    file: Jsonl,
    /// Whether a row is read in each version that a branch may have: first its own.
    every: bool,
}

/// An edit.
struct ContextEdit {
    id: String,
    target: String,
    /// The content, as JSON.
    content: Vec<u8>,
}

impl Projected {
    /// As the model gets it now.
    pub fn now(file: Jsonl) -> Self {
        Self { file, every: false }
    }

    /// As the model gets it on any branch.
    pub fn ever(file: Jsonl) -> Self {
        Self { file, every: true }
    }

    fn edits(&self) -> io::Result<Vec<ContextEdit>> {
        let mut edits = Vec::new();
        self.file.rows(&mut |_, line| {
            let text = |name| span::find(line, name).and_then(span::plain).map(str::to_owned);
            if is_edit(line)
                && let Some((id, target)) = text("id").zip(text("targetId"))
                && let Some(replacement) = span::find(line, "replacement")
            {
                let content = span::find(replacement, "content").unwrap_or(NOTHING).to_owned();
                edits.push(ContextEdit { id, target, content });
            }
            Ok(())
        })?;
        Ok(edits)
    }

    /// The versions of rows, by id.
    fn versions(&self) -> io::Result<HashMap<String, Vec<Vec<u8>>>> {
        let mut edits = self.edits()?;
        if !self.every && !edits.is_empty() {
            let branch = self.branch()?;
            edits.retain(|edit| branch.contains(&edit.id));
        }
        let mut versions: HashMap<String, Vec<Vec<u8>>> = HashMap::new();
        for ContextEdit { target, content, .. } in edits {
            let all = versions.entry(target).or_default();
            if !self.every {
                all.clear();
            }
            all.push(content);
        }
        Ok(versions)
    }

    /// The ids from the last row to the first one.
    fn branch(&self) -> io::Result<HashSet<String>> {
        let (mut parents, mut last) = (HashMap::new(), None);
        self.file.rows(&mut |_, line| {
            let text = |name| span::find(line, name).and_then(span::plain).map(str::to_owned);
            if let Some(id) = text("id") {
                parents.insert(id.clone(), text("parentId"));
                last = Some(id);
            }
            Ok(())
        })?;
        let mut branch = HashSet::new();
        while let Some(id) = last {
            last = parents.remove(&id).flatten();
            branch.insert(id);
        }
        Ok(branch)
    }
}

/// Whether a row is an edit.
fn is_edit(line: &[u8]) -> bool {
    // Most rows don't have the word at all.
    memmem::find(line, TYPE).is_some() && span::find(line, "type") == Some(TYPE)
}

/// The row with this content.
fn with_content(line: &[u8], content: &[u8]) -> Option<Vec<u8>> {
    let own = edit::locate(line, "message.content").or_else(|| edit::locate(line, "content"))?;
    Some(edit::replaced(line, &[(own, content.to_owned())]))
}

impl SessionFile for Projected {
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        let versions = self.versions()?;
        if versions.is_empty() {
            return self.file.rows(each);
        }
        self.file.rows(&mut |row, line| {
            if is_edit(line) {
                let bare = edit::with_field(line, "replacement", None);
                return each(row, bare.as_deref().unwrap_or(line));
            }
            let id = span::find(line, "id").and_then(span::plain);
            let own = id.and_then(|id| versions.get(id)).into_iter().flatten();
            let edited: Vec<Vec<u8>> = own.filter_map(|own| with_content(line, own)).collect();
            if self.every || edited.is_empty() {
                each(row, line)?;
            }
            edited.iter().try_for_each(|line| each(row, line))
        })
    }

    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused> {
        // pi takes out what failed by itself.
        if self.edits()?.iter().all(|edit| edit.content == NOTHING) {
            return self.file.edit(stamp, change);
        }
        Err(Refused::Unsupported(format!(
            "{}: pi masks what the model gets of this session, so its rows stay as they are; in pi, `purge_control` restores, and here `extract restore` without --in-place prints",
            self.file.path().display()
        )))
    }

    fn settle(&self) -> Result<Option<String>, Refused> {
        self.file.settle()
    }
}
