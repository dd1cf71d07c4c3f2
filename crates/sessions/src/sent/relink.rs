//! What a compaction that kept rows does to the links when the client loads the session.

use std::collections::HashSet;

use super::chain::Chain;
use super::link::Kept;

impl Chain<'_> {
    /// Links the kept rows behind the compaction that counts, and takes out all other rows before
    /// it. `false` if nothing was kept, or the kept rows are not all in the file.
    pub fn relink(&mut self) -> bool {
        let Some((boundary, kept)) = self.compaction() else { return false };
        let links = &self.rows.links;
        let (anchor, kept, deletes) = match kept {
            Kept::Nothing => {
                let earlier = |(at, kept): &(usize, Kept)| *at < boundary && *kept != Kept::Nothing;
                let kept_before = self.rows.boundaries.iter().any(earlier);
                if kept_before {
                    self.delete_before(boundary, &HashSet::new());
                }
                return kept_before;
            }
            Kept::Rows { anchor, rows } => {
                let rows: Option<Vec<usize>> = rows.iter().map(|id| self.find(Some(*id))).collect();
                (*anchor, rows, true)
            }
            Kept::Segment { anchor, head, tail } => (*anchor, self.segment(*head, *tail), true),
            Kept::From(head) => {
                let tail = links[boundary].parent;
                let kept = tail.and_then(|tail| self.segment(*head, tail));
                (Some(links[boundary].id), kept, false)
            }
        };
        let (Some(kept), Some(anchor)) = (kept, anchor) else { return false };
        let (Some(first), Some(last)) = (kept.first().copied(), kept.last().copied()) else {
            return false;
        };
        let last_id = Some(links[last].id);
        let all: HashSet<usize> = kept.iter().copied().collect();
        for at in 0..links.len() {
            if self.parents[at] == Some(anchor) && !all.contains(&at) && !self.is_copy(at) {
                self.parents[at] = last_id;
            }
        }
        self.parents[first] = Some(anchor);
        for pair in kept.windows(2) {
            self.parents[pair[1]] = Some(links[pair[0]].id);
        }
        if !deletes {
            return true;
        }
        self.delete_before(boundary, &all);
        for at in 0..links.len() {
            let parent = self.find(self.parents[at]);
            let is_orphan = parent.is_some_and(|parent| self.is_deleted[parent]);
            if is_orphan && self.is_message(at) && !self.is_deleted[at] {
                self.parents[at] = last_id;
            }
        }
        true
    }

    fn delete_before(&mut self, boundary: usize, kept: &HashSet<usize>) {
        for (at, is_deleted) in self.is_deleted[..boundary].iter_mut().enumerate() {
            *is_deleted = !kept.contains(&at);
        }
    }

    /// The rows from the tail back to the head, in order.
    fn segment(&self, head: u64, tail: u64) -> Option<Vec<usize>> {
        let mut rows = vec![self.find(Some(tail))?];
        let mut seen: HashSet<usize> = rows.iter().copied().collect();
        while self.rows.links[*rows.last()?].id != head {
            let parent = self.parents[*rows.last()?];
            let next = self.find(parent).filter(|next| seen.insert(*next))?;
            rows.push(next);
        }
        rows.reverse();
        Some(rows)
    }
}
