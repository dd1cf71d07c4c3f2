//! The chain of rows from the newest one back.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::link::{Kept, Link};
use super::{Break, RowState, Rows, Sequence};
use crate::dialect::Kind;

/// How far a row may be from the one that its missing parent is replaced by.
const BRIDGE_MS: i64 = 5_000;

/// The rows with their links as the client reads them.
pub(super) struct Chain<'r> {
    pub rows: &'r Rows,
    /// The parent of each row; compactions that kept something change them.
    pub parents: Vec<Option<u64>>,
    /// Rows that a compaction took out.
    pub is_deleted: Vec<bool>,
    /// The earlier row that a row repeats.
    copies: Vec<Option<usize>>,
}

impl<'r> Chain<'r> {
    pub fn of(rows: &'r Rows) -> Self {
        let links = &rows.links;
        let mut parents: Vec<Option<u64>> = links.iter().map(|link| link.parent).collect();
        let mut copies = vec![None; links.len()];
        for (at, link) in links.iter().enumerate() {
            let first = rows.known.get(&link.id).copied().filter(|first| *first != at);
            if let Some(first) = first {
                // The later row's parent counts, in the place of the first.
                parents[first] = link.parent;
                copies[at] = Some(first);
            }
        }
        Self { rows, parents, is_deleted: vec![false; links.len()], copies }
    }

    pub fn find(&self, id: Option<u64>) -> Option<usize> {
        self.rows.known.get(&id?).copied()
    }

    pub fn is_copy(&self, at: usize) -> bool {
        self.copies[at].is_some()
    }

    fn links(&self) -> &'r [Link] {
        &self.rows.links
    }

    /// Whether it is a row of the main conversation, and still there.
    fn counts(&self, at: usize) -> bool {
        !self.links()[at].beside && !self.is_copy(at) && !self.is_deleted[at]
    }

    /// Whether it is a message of the main conversation.
    pub fn is_message(&self, at: usize) -> bool {
        self.links()[at].is_message() && !self.links()[at].beside && !self.is_copy(at)
    }

    pub fn sequence(&self, is_relinked: bool) -> Sequence {
        let state = |at: usize| {
            if self.is_copy(at) {
                RowState::Copy
            } else if self.links()[at].beside {
                RowState::Beside
            } else {
                RowState::Rewound
            }
        };
        let states = (0..self.links().len()).map(state).collect();
        let mut sequence = Sequence { states, ..Sequence::default() };
        let Some(leaf) = self.leaf(is_relinked) else { return sequence };
        let chain = self.chain(leaf, &mut sequence);
        self.mark_earlier(&chain, &mut sequence);
        sequence.rows = self.with_siblings(&chain);
        sequence.rows.extend(self.notices_below(leaf));
        for row in &sequence.rows {
            sequence.states[*row] = RowState::Sent;
        }
        sequence
    }

    /// The row at which the client goes on.
    pub fn leaf(&self, is_relinked: bool) -> Option<usize> {
        let mut has_message_child = vec![false; self.links().len()];
        if is_relinked {
            let lives = |at: &usize| self.is_message(*at) && !self.is_deleted[*at];
            for at in (0..self.links().len()).filter(lives) {
                if let Some(parent) = self.find(self.parents[at]) {
                    has_message_child[parent] = true;
                }
            }
        }
        // A row that is written again counts where it was written last.
        let written = |at: usize| (at, self.copies[at].unwrap_or(at));
        let is_last = |(_, row): &(usize, usize)| self.counts(*row) && !has_message_child[*row];
        let (place, last) = (0..self.links().len()).rev().map(written).find(is_last)?;
        let leaf = match self.rows.mark {
            Some(mark) => {
                let is_last_word = mark.is_explicit && mark.place > place;
                if is_last_word && mark.leaf.is_none() {
                    return None;
                }
                let noted = self.find(mark.leaf).filter(|at| self.counts(*at));
                noted.filter(|noted| is_last_word || !self.is_ancestor(*noted, last))
            }
            None => None,
        };
        let leaf = leaf.unwrap_or(last);
        let mut at = leaf;
        for _ in 0..self.links().len() {
            if self.is_message(at) || self.links()[at].kind == Kind::Boundary {
                break;
            }
            let Some(parent) = self.find(self.parents[at]) else { return Some(leaf) };
            at = parent;
        }
        Some(at)
    }

    /// Whether a row, or another one of its response, is on the way back from this one.
    fn is_ancestor(&self, above: usize, of: usize) -> bool {
        let response = self.links()[above].message;
        let mut at = Some(of);
        for _ in 0..self.links().len() {
            let Some(here) = at else { return false };
            if here == above || (response.is_some() && self.links()[here].message == response) {
                return true;
            }
            at = self.find(self.parents[here]);
        }
        false
    }

    /// The chain from the leaf to its beginning, in the order of the conversation.
    fn chain(&self, leaf: usize, sequence: &mut Sequence) -> Vec<usize> {
        let mut chain = vec![leaf];
        let mut seen = vec![false; self.links().len()];
        seen[leaf] = true;
        let mut at = leaf;
        let mut open = None;
        while let Some(parent) = self.parents[at] {
            if self.links()[at].kind == Kind::Boundary {
                break;
            }
            let found = self.find(Some(parent)).filter(|found| !self.is_deleted[*found]);
            let next = match found {
                Some(found) if !seen[found] => found,
                _ => {
                    let open = open.get_or_insert_with(|| self.by_time(&seen));
                    let bridge = self.bridge(at, open);
                    // A compaction may have taken it out.
                    if self.find(Some(parent)).is_none() {
                        sequence.breaks.push(Break { row: at, bridge });
                    }
                    let Some(bridge) = bridge else { break };
                    bridge
                }
            };
            seen[next] = true;
            if let (Some(open), Some(time)) = (&mut open, self.links()[next].at) {
                open.remove(&(time, next));
            }
            chain.push(next);
            at = next;
        }
        chain.reverse();
        chain
    }

    /// The rows that are not on the chain, by time.
    fn by_time(&self, seen: &[bool]) -> BTreeSet<(i64, usize)> {
        let open = (0..self.links().len()).filter(|at| !seen[*at] && self.counts(*at));
        open.filter_map(|at| Some((self.links()[at].at?, at))).collect()
    }

    /// The latest row that was written up to 5 seconds before this one, whatever its branch.
    fn bridge(&self, at: usize, open: &BTreeSet<(i64, usize)>) -> Option<usize> {
        let time = self.links()[at].at?;
        let (other, row) = open.range(..=(time, usize::MAX)).next_back()?;
        (time - other <= BRIDGE_MS).then_some(*row)
    }

    /// Marks what a compaction took out, or what a missing parent hides, from the beginning of the
    /// chain back.
    fn mark_earlier(&self, chain: &[usize], sequence: &mut Sequence) {
        let is_cut = sequence.breaks.last().is_some_and(|last| last.bridge.is_none());
        let state = if is_cut { RowState::Cut } else { RowState::Compacted };
        let mut seen = vec![false; self.links().len()];
        let mut messages = HashSet::new();
        let row_before =
            |at: usize| (0..at).rev().find(|at| !self.links()[*at].beside && !self.is_copy(*at));
        let first = chain.first().copied();
        // "Summarize from here" links the compaction to what it kept; what it took out is behind that.
        let kept = first.and_then(|first| self.find(self.links()[first].parent));
        let behind = first.filter(|_| kept.is_some_and(|kept| chain.contains(&kept)));
        let mut starts = vec![behind.and_then(row_before), first];
        let mut next = starts.pop().flatten();
        while let Some(at) = next
            .filter(|at| !std::mem::replace(&mut seen[*at], true))
            .or_else(|| starts.pop().flatten())
        {
            if sequence.states[at] == RowState::Rewound {
                sequence.states[at] = state;
            }
            messages.extend(self.links()[at].message);
            let original = self.links()[at].parent;
            // A missing parent is taken for the row before.
            let before = || row_before(at);
            next = original.and_then(|_| self.find(original).or_else(before));
        }
        // All rows of a response went the same way, and what hangs on them.
        for at in 0..self.links().len() {
            let link = &self.links()[at];
            let is_response = link.message.is_some_and(|message| messages.contains(&message));
            let parent = self.find(link.parent).map(|parent| sequence.states[parent]);
            let hangs = matches!(link.kind, Kind::ToolResult | Kind::Attachment | Kind::System);
            if sequence.states[at] == RowState::Rewound
                && (is_response || (hangs && parent == Some(state)))
            {
                sequence.states[at] = state;
            }
        }
    }

    /// What the client noted behind the leaf: rows that are no messages.
    fn notices_below(&self, leaf: usize) -> Vec<usize> {
        let mut is_below = vec![false; self.links().len()];
        is_below[leaf] = true;
        let mut below = Vec::new();
        for at in (0..self.links().len()).filter(|at| *at != leaf && self.counts(*at)) {
            let parent = self.find(self.parents[at]).filter(|_| !self.links()[at].is_message());
            if parent.is_some_and(|parent| is_below[parent]) {
                is_below[at] = true;
                below.push(at);
            }
        }
        below
    }

    /// The chain with the rows that the client puts back: all rows of a response that is in it, and
    /// all their results, in file order.
    fn with_siblings(&self, chain: &[usize]) -> Vec<usize> {
        let mut of_message: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut results: HashMap<usize, Vec<usize>> = HashMap::new();
        for at in (0..self.links().len()).filter(|at| self.counts(*at)) {
            if let Some(message) = self.links()[at].message {
                of_message.entry(message).or_default().push(at);
            } else if self.links()[at].kind == Kind::ToolResult
                && let Some(parent) = self.find(self.parents[at])
            {
                results.entry(parent).or_default().push(at);
            }
        }
        let mut rows = Vec::with_capacity(chain.len());
        let mut is_done = vec![false; self.links().len()];
        let mut push = |row: usize| {
            if !std::mem::replace(&mut is_done[row], true) {
                rows.push(row);
            }
        };
        for row in chain {
            let Some(all) = self.links()[*row].message.and_then(|id| of_message.get(&id)) else {
                push(*row);
                continue;
            };
            for row in all {
                push(*row);
            }
            let mut found: Vec<usize> =
                all.iter().filter_map(|owner| results.get(owner)).flatten().copied().collect();
            found.sort_unstable();
            for row in found {
                push(row);
            }
        }
        rows
    }

    /// What the compaction that counts keeps: in Claude Code the newest one of the file, in pi the
    /// newest one on the way back.
    pub fn compaction(&self) -> Option<(usize, &'r Kept)> {
        let (newest, kept) = self.rows.boundaries.last()?;
        if !matches!(kept, Kept::From(_)) {
            return Some((*newest, kept));
        }
        let mut at = self.leaf(false);
        for _ in 0..self.links().len() {
            let here = at?;
            if let Some((row, kept)) = self.rows.boundaries.iter().find(|(row, _)| *row == here) {
                return Some((*row, kept));
            }
            at = self.find(self.parents[here]);
        }
        None
    }
}
