//! What each row follows, in a file where rows are missing, twice, or left out.

use std::collections::{BTreeMap, HashMap};

use sessions::dialect::Kind;

use crate::ids::{self, Key};

/// A row, as far as the chain goes.
#[derive(Debug, Clone, Default)]
pub(super) struct Link {
    pub line: u64,
    /// Its id; a row without one is no part of the chain.
    pub id: Option<Box<str>>,
    pub parent: Option<Key>,
    pub kind: Kind,
    /// A subagent's row.
    pub is_beside: bool,
    /// Its thinking blocks.
    pub thinking: usize,
    /// Whether it has nothing but thinking.
    pub only_thinks: bool,
    /// Whether no client read it before.
    pub is_rescued: bool,
    /// Whether it is left out.
    pub is_gone: bool,
}

/// The rows of a session, in file order.
#[derive(Debug, Default)]
pub(super) struct Links {
    pub rows: Vec<Link>,
    known: HashMap<Key, usize>,
    /// What rows follow whose parent is missing; `None` if they begin the conversation.
    bridges: BTreeMap<usize, Option<usize>>,
}

impl Links {
    /// Adds a row. Returns whether an earlier one has its id.
    pub fn push(&mut self, row: Link) -> bool {
        let at = self.rows.len();
        let key = row.id.as_deref().map(ids::key);
        self.rows.push(row);
        key.is_some_and(|key| *self.known.entry(key).or_insert(at) != at)
    }

    pub fn find(&self, id: &str) -> Option<usize> {
        self.known.get(&ids::key(id)).copied()
    }

    /// Links each row whose parent is missing to the row before it in the file. A prompt follows
    /// what an earlier row with the same missing parent follows: the session was rewound to it. The
    /// summary of a compaction begins the conversation.
    pub fn bridge(&mut self) {
        let mut first: HashMap<Key, Option<usize>> = HashMap::new();
        for at in 0..self.rows.len() {
            let Some(parent) = self.rows[at].parent.filter(|_| self.dangles(at)) else { continue };
            let bridge = match self.rows[at].kind {
                Kind::Summary => None,
                Kind::Prompt => first.get(&parent).copied().unwrap_or_else(|| self.before(at)),
                _ => self.before(at),
            };
            first.entry(parent).or_insert(bridge);
            self.bridges.insert(at, bridge);
        }
    }

    /// The rows whose parent is missing.
    pub fn bridged(&self) -> impl Iterator<Item = usize> {
        self.bridges.keys().copied()
    }

    fn dangles(&self, at: usize) -> bool {
        let row = &self.rows[at];
        let is_there = |parent: &Key| self.known.get(parent).is_some_and(|found| *found != at);
        // What a compaction follows may be gone.
        let counts = row.id.is_some() && !row.is_beside && row.kind != Kind::Boundary;
        counts && !row.is_gone && row.parent.is_some_and(|parent| !is_there(&parent))
    }

    fn before(&self, at: usize) -> Option<usize> {
        let counts = |row: &Link| row.id.is_some() && !row.is_beside && !row.is_gone;
        self.rows[..at].iter().rposition(counts)
    }

    fn above(&self, at: usize) -> Option<usize> {
        let known = || self.known.get(&self.rows[at].parent?).copied();
        self.bridges.get(&at).copied().unwrap_or_else(known)
    }

    /// The row that takes the place of this one: itself if it stays, else the nearest one above
    /// that does.
    pub fn staying(&self, at: usize) -> Option<&Link> {
        let mut next = Some(at);
        // A circle of parents would never end.
        for _ in 0..=self.rows.len() {
            let row = &self.rows[next?];
            if !row.is_gone {
                return Some(row);
            }
            next = self.above(next?);
        }
        None
    }

    /// Whether a row gets another parent.
    pub fn is_moved(&self, at: usize) -> bool {
        let row = &self.rows[at];
        let is_gone = || self.above(at).is_some_and(|above| self.rows[above].is_gone);
        let is_linked = row.id.is_some() && row.kind != Kind::Boundary;
        is_linked && (self.bridges.contains_key(&at) || is_gone())
    }

    /// The parent of a row that stays.
    pub fn parent(&self, at: usize) -> Option<&Link> {
        self.staying(self.above(at)?)
    }
}
