//! Which rows of a session the client sends with its next request, and in which order. It follows
//! the client's own loader (Claude Code 2.1.332; for pi, its session manager).

mod chain;
mod link;
mod relink;
mod standing;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::dialect::{Kind, Row};
use chain::Chain;
use link::{Kept, Link, Mark};
pub use standing::{Part, Standing, State};

/// What a row is to the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowState {
    /// It is in the request.
    Sent,
    /// A compaction took it out, on the way to the newest row.
    Compacted,
    /// A rewind left it behind.
    Rewound,
    /// A row behind it names a parent that is not in the file, so the client does not find it.
    Cut,
    /// It repeats an earlier row, as a second compaction in one process writes them.
    Copy,
    /// A subagent's row.
    Beside,
}

/// A parent that is not in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Break {
    /// The row that names it.
    pub row: usize,
    /// The row at which the client goes on, if one was written up to 5 seconds before.
    pub bridge: Option<usize>,
}

/// What the client sends. Rows with an id are counted, from 0, in file order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sequence {
    /// The rows that it sends, in its order.
    pub rows: Vec<usize>,
    /// The state of each row with an id.
    pub states: Vec<RowState>,
    /// Parents that are missing, from the newest row back.
    pub breaks: Vec<Break>,
    /// The line, from 1, whose missing parent cuts off what is before.
    pub cut: Option<u64>,
}

/// Collects how a session's rows are linked; takes them in file order. Can be saved (serde) between
/// any two rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Saved")]
pub struct Rows {
    links: Vec<Link>,
    /// The first row with each id.
    #[serde(skip)]
    known: HashMap<u64, usize>,
    /// The compactions, and what each keeps.
    boundaries: Vec<(usize, Kept)>,
    /// Where the conversation ends, as the client noted it after the newest compaction.
    mark: Option<Mark>,
    /// Whether the file is a subagent's own; its first row in the chain decides.
    subagent: Option<bool>,
    /// All rows so far, also those without an id.
    lines: u64,
    /// Rows whose parent was not there before them, with their line.
    loose: Vec<(usize, u64)>,
}

/// [`Rows`] as they are saved.
#[derive(Deserialize)]
struct Saved {
    links: Vec<Link>,
    boundaries: Vec<(usize, Kept)>,
    mark: Option<Mark>,
    subagent: Option<bool>,
    lines: u64,
    loose: Vec<(usize, u64)>,
}

impl From<Saved> for Rows {
    fn from(saved: Saved) -> Self {
        let Saved { links, boundaries, mark, subagent, lines, loose } = saved;
        let mut known = HashMap::with_capacity(links.len());
        for (at, link) in links.iter().enumerate() {
            known.entry(link.id).or_insert(at);
        }
        Self { links, known, boundaries, mark, subagent, lines, loose }
    }
}

impl Rows {
    /// Takes the next row: its head and its line. Returns whether it repeats an earlier row.
    pub fn row(&mut self, row: &Row, line: &[u8]) -> bool {
        self.lines += 1;
        let at = self.links.len();
        let Some(id) = row.id else {
            if row.kind == Kind::Other
                && let Some(mark) = Mark::of(line, at)
            {
                self.mark = Some(mark.or_earlier(self.mark));
            }
            return false;
        };
        let mut link = Link::of(id, row);
        link.beside &= !*self.subagent.get_or_insert(row.sidechain);
        if link.parent.is_some_and(|parent| !self.known.contains_key(&parent)) {
            self.loose.push((at, self.lines));
        }
        let is_copy = *self.known.entry(link.id).or_insert(at) != at;
        if link.kind == Kind::Boundary && !is_copy {
            self.boundaries.push((at, Kept::of(line, &link)));
            self.mark = None;
        }
        self.links.push(link);
        is_copy
    }

    /// The row of the newest compaction, if it kept something of what was before.
    pub fn kept_by(&self) -> Option<usize> {
        let keeps = |(_, kept): &&(usize, Kept)| *kept != Kept::Nothing;
        self.boundaries.last().filter(keeps).map(|(row, _)| *row)
    }

    /// How many rows have an id.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether no row has an id.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The message that this row follows. A parent that is not in the file so far counts as the row
    /// before. `None` at the beginning.
    pub fn before(&self, row: usize) -> Option<usize> {
        let mut at = row;
        loop {
            let parent = self.links.get(at)?.parent?;
            let known = self.known.get(&parent).copied().filter(|before| *before < at);
            at = known.or(at.checked_sub(1))?;
            // The client's own words, such as a caveat, may stand in a round that was rewound.
            if !matches!(self.links[at].kind, Kind::Notice | Kind::System | Kind::Attachment) {
                return Some(at);
            }
        }
    }

    /// Whether a row stands before its parent in the file.
    fn is_early(&self, row: usize) -> bool {
        let parent = self.links[row].parent.and_then(|parent| self.known.get(&parent));
        parent.is_some_and(|parent| *parent > row)
    }

    /// What the client sends now.
    pub fn sequence(&self) -> Sequence {
        let mut chain = Chain::of(self);
        let is_relinked = chain.relink();
        let mut sequence = chain.sequence(is_relinked);
        let cut = sequence.breaks.last().filter(|last| last.bridge.is_none());
        sequence.cut = cut.and_then(|cut| {
            let id = self.links[cut.row].id;
            let at = self.loose.iter().find(|(row, _)| self.links[*row].id == id);
            at.map(|(_, line)| *line)
        });
        sequence
    }

    /// How each round stands, from round 1, if round `n` ended before the row `ends[n]`; and the
    /// line that [`Sequence::cut`] names.
    pub fn standings(&self, ends: &[usize]) -> (Vec<Standing>, Option<u64>) {
        let sequence = self.sequence();
        (standing::of(&sequence, self, ends), sequence.cut)
    }
}
