//! Makes a sound session of one that a client reads only in part, or that the API refuses: rows
//! that were cut off, NUL bytes, half a character, a parent that is not in the file, rows written
//! twice, and thinking that no longer holds. Two passes over the file: [`Survey`] finds what is
//! wrong, [`Mend`] writes the rows. All other rows stay as they are, also those that a client does
//! not send.

mod bytes;
mod links;
mod row;
#[cfg(test)]
mod tests;

use std::fmt;

use base::shown::count_with_noun;
use serde::Serialize;
use sessions::dialect::{BlockKind, Claude, Dialect as _, Kind, Row, Scratch};
use sessions::model::{SYNTHETIC, refuses_changed_thinking};
use sessions::refusal::Refusal;
use sessions::span;

use crate::ids::{self, Keys};
use links::{Link, Links};

/// Something that was wrong, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The first line that it concerns, from 1.
    pub line: u64,
    /// What was wrong, and what becomes of it.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// Bytes of a row's id.
const UUID: usize = 36;

/// The bookmark of a session that was rewound to before its first prompt.
const NO_ROW: &str = "00000000-0000-0000-0000-000000000000";

/// Reads a session's lines.
#[derive(Debug, Default)]
pub struct Survey {
    links: Links,
    findings: Vec<Finding>,
    model: Option<String>,
    /// The newest session that a row names.
    session: Option<String>,
    /// The rows of lasting API errors since the newest answer.
    errors: Vec<(usize, Refusal)>,
    /// Rows that compactions name.
    kept: Keys,
    is_subagent: Option<bool>,
    /// Bookmarks, and the rows that they name.
    leaves: Vec<(usize, Box<str>)>,
    /// Rows that an earlier one has the id of.
    copies: Vec<usize>,
    scratch: Scratch,
}

impl Survey {
    /// Takes the next line.
    pub fn line(&mut self, number: u64, line: &[u8]) {
        let cleaned = bytes::clean(line);
        for what in cleaned.faults {
            self.findings.push(Finding { line: number, what });
        }
        for at in cleaned.rows {
            self.row(number, at.slice(&cleaned.text), cleaned.is_rescued);
        }
    }

    fn row(&mut self, line: u64, json: &[u8], is_rescued: bool) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let row = Claude.row(json, &mut scratch);
        let field = |name| span::get(json, &scratch.fields, name);
        if let Some(kept) = field("compactMetadata") {
            let texts = kept.split(|byte| *byte == b'"').filter(|text| text.len() == UUID);
            self.kept.extend(texts.filter_map(|id| str::from_utf8(id).ok()).map(ids::key));
        }
        if row.kind == Kind::Assistant && !row.sidechain {
            if let Some(refusal) = Refusal::of_row(json) {
                self.errors.push((self.links.rows.len(), refusal));
            } else if let Some(model) = row.model.filter(|model| *model != SYNTHETIC) {
                self.errors.clear();
                self.model = Some(model.to_owned());
            }
        }
        if row.kind == Kind::Summary && !row.sidechain {
            self.errors.clear();
        }
        if row.id.is_none()
            && field("type") == Some(b"\"last-prompt\"")
            && let Some(leaf) = field("leafUuid").and_then(span::plain)
        {
            self.leaves.push((self.links.rows.len(), leaf.into()));
        }
        let mut link = Link { line, is_rescued, ..link(&row, &scratch) };
        if row.id.is_some() {
            // In a subagent's own file, all rows are its.
            link.is_beside &= !*self.is_subagent.get_or_insert(row.sidechain);
        }
        let session = field("sessionId").and_then(span::plain).map(str::to_owned);
        if self.links.push(link) {
            self.copies.push(self.links.rows.len() - 1);
        } else if session.is_some() {
            self.session = session;
        }
        self.scratch = scratch;
    }

    /// Decides what becomes of each row.
    pub fn finish(mut self) -> Mend {
        // After a compaction the client itself writes rows again, and knows them.
        let compacts = |row: &Link| matches!(row.kind, Kind::Boundary | Kind::Summary);
        if !self.links.rows.iter().any(compacts) {
            self.leave_copies_out();
        }
        self.leave_bookmarks_out();
        self.links.bridge();
        let rescued = |row: &Link| row.is_rescued && row.id.is_some() && !row.is_beside;
        let rescued = self.links.rows.iter().position(rescued);
        let changed = self.links.bridged().next().into_iter().chain(rescued).min();
        let refuses = self.model.as_deref().is_some_and(refuses_changed_thinking);
        let from = match self.error_about(Refusal::Thinking) {
            Some(_) => Some(0),
            None => changed.filter(|_| refuses),
        };
        let from = from.unwrap_or(usize::MAX);
        self.leave_thinking_out(from);
        self.leave_errors_out();
        self.tell_bridges();
        self.findings.sort_by_key(|finding| finding.line);
        let Self { links, findings, session, errors, .. } = self;
        let refusal = errors.last().map(|(_, refusal)| *refusal);
        Mend { links, findings, refusal, session, thinking_from: from, at: 0 }
    }

    /// The line of the last error of this kind.
    fn error_about(&self, refusal: Refusal) -> Option<u64> {
        let (at, _) = self.errors.iter().rfind(|(_, about)| *about == refusal)?;
        Some(self.links.rows[*at].line)
    }

    /// Leaves out the errors, because the mended session does not cause them.
    fn leave_errors_out(&mut self) {
        for (at, _) in &self.errors {
            let row = &mut self.links.rows[*at];
            if row.id.as_deref().is_some_and(|id| self.kept.contains(&ids::key(id))) {
                continue;
            }
            row.is_gone = true;
            self.findings
                .push(Finding { line: row.line, what: "the API's error, left out".into() });
        }
    }

    fn leave_copies_out(&mut self) {
        let rows = &mut self.links.rows;
        for group in self.copies.chunk_by(|a, b| a + 1 == *b) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let (line, last) = (rows[*first].line, rows[*last].line);
            let what = match group.len() {
                1 => "a row that is in the file already, left out".to_owned(),
                _ => format!("up to line {last}, rows that are in the file already, left out"),
            };
            self.findings.push(Finding { line, what });
            for at in group {
                rows[*at].is_gone = true;
            }
        }
    }

    /// A bookmark of a row that is missing counts for no client, but it hides earlier ones.
    fn leave_bookmarks_out(&mut self) {
        let is_lost = |leaf: &str| leaf != NO_ROW && self.links.find(leaf).is_none();
        let last = self.leaves.iter().rposition(|(_, leaf)| is_lost(leaf));
        for (at, _) in self.leaves.iter().take(last.map_or(0, |last| last + 1)) {
            self.links.rows[*at].is_gone = true;
        }
    }

    fn tell_bridges(&mut self) {
        for at in self.links.bridged() {
            let now = match self.links.parent(at) {
                Some(parent) => format!("now it follows line {}", parent.line),
                None => "now it is the first".to_owned(),
            };
            let what = format!("it follows a row that is not in the file; {now}");
            self.findings.push(Finding { line: self.links.rows[at].line, what });
        }
    }

    /// Leaves out the thinking of the rows from this one on.
    fn leave_thinking_out(&mut self, from: usize) {
        let (mut count, mut first) = (0, None);
        for row in self.links.rows.iter_mut().skip(from) {
            if row.is_beside || row.is_gone || row.thinking == 0 {
                continue;
            }
            count += row.thinking;
            first = first.or(Some(row.line));
            let is_kept = row.id.as_deref().is_some_and(|id| self.kept.contains(&ids::key(id)));
            row.is_gone = row.only_thinks && !is_kept;
        }
        let Some(line) = first else { return };
        let blocks = count_with_noun(count, "thinking block", "thinking blocks");
        let what = match (self.error_about(Refusal::Thinking), &self.model) {
            (Some(error), _) => {
                format!("from here, {blocks} left out: the API refused thinking (line {error})")
            }
            (None, model) => format!(
                "from here, {blocks} left out: {} refuses thinking behind a change",
                model.as_deref().unwrap_or("the model")
            ),
        };
        self.findings.push(Finding { line, what });
    }
}

fn link(row: &Row, scratch: &Scratch) -> Link {
    let blocks = scratch.blocks();
    let thinking = blocks.iter().filter(|block| block.kind == BlockKind::Thinking).count();
    Link {
        id: row.id.map(Into::into),
        parent: row.parent.map(ids::key),
        kind: row.kind,
        is_beside: row.sidechain,
        thinking,
        only_thinks: thinking > 0 && thinking == blocks.len(),
        ..Link::default()
    }
}

/// Writes the rows of the mended session.
#[derive(Debug)]
pub struct Mend {
    links: Links,
    /// What was wrong, by line.
    pub findings: Vec<Finding>,
    /// What the API refused last.
    pub refusal: Option<Refusal>,
    /// The session that its newest row names.
    session: Option<String>,
    /// From this row on, thinking is left out.
    thinking_from: usize,
    /// The next row.
    at: usize,
}

impl Mend {
    /// Whether there is a row of a conversation.
    pub fn has_rows(&self) -> bool {
        self.links.rows.iter().any(|row| row.id.is_some())
    }

    /// Appends what becomes of the next line to `out`, as rows of the session `id`.
    pub fn line(&mut self, line: &[u8], id: &str, scratch: &mut Scratch, out: &mut Vec<u8>) {
        let cleaned = bytes::clean(line);
        for span in cleaned.rows {
            let at = self.at;
            self.at += 1;
            if self.links.rows.get(at).is_some_and(|row| !row.is_gone) {
                self.row(at, span.slice(&cleaned.text), id, scratch, out);
                out.push(b'\n');
            }
        }
    }
}
