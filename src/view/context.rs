//! The rounds of the open session: which are shown, where the cursor is, which are selected.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::message::{Entry, Filter, Opened};
use sessions::round::Round;

/// The rounds of the open session.
#[derive(Debug, Default)]
pub struct Rounds {
    /// The session; `None` until one is open.
    pub opened: Option<Opened>,
    /// The shown rounds, the newest first.
    pub shown: Vec<u32>,
    /// The line under the cursor.
    pub cursor: usize,
    /// The first line that is shown; drawing corrects it.
    pub top: Cell<usize>,
    /// The selected rounds.
    pub selected: BTreeSet<u32>,
    /// The round where a range began.
    pub range_from: Option<u32>,
    /// The search.
    pub filter: Option<Filter>,
    /// Whether rounds are from several other sessions.
    pub is_merged: bool,
    /// How many subagents each round started.
    pub agents: BTreeMap<u32, usize>,
}

impl Rounds {
    /// Takes a session. Of the same one, the cursor and the selection stay.
    pub fn open(&mut self, opened: Opened) {
        let is_same =
            self.opened.as_ref().is_some_and(|before| before.session.id == opened.session.id);
        let is_at_end = self.cursor == 0;
        let origins = opened.session.rounds.iter().filter_map(|round| round.origin.as_ref());
        let sources: BTreeSet<&str> = origins.map(|origin| &*origin.session).collect();
        self.is_merged = sources.len() > 1;
        self.opened = Some(opened);
        if !is_same {
            self.selected.clear();
            (self.range_from, self.filter) = (None, None);
        }
        self.show();
        if !is_same || is_at_end {
            self.cursor = 0;
        }
    }

    /// Counts the subagents of the open session, each in the round in which it began.
    pub fn count_agents<'e>(&mut self, agents: impl Iterator<Item = &'e Entry>) {
        self.agents.clear();
        let Some(opened) = &self.opened else { return };
        for agent in agents.filter(|agent| agent.made_from.as_ref() == Some(&opened.session.id)) {
            let began_before = |round: &&Round| {
                round.started.zip(agent.started).is_some_and(|(round, agent)| round <= agent)
            };
            if let Some(round) = opened.session.rounds.iter().rev().find(began_before) {
                *self.agents.entry(round.seq).or_default() += 1;
            }
        }
    }

    /// Selects these rounds, and shows all.
    pub fn pick(&mut self, seqs: &[u32]) {
        (self.filter, self.range_from) = (None, None);
        self.show();
        self.selected = seqs.iter().copied().filter(|seq| self.round(*seq).is_some()).collect();
        let first = self.shown.iter().position(|seq| self.selected.contains(seq));
        self.cursor = first.unwrap_or(0);
    }

    /// Shows the rounds that the search leaves.
    pub fn show(&mut self) {
        let Some(opened) = &self.opened else { return };
        let is_hit =
            |seq: u32| self.filter.as_ref().is_none_or(|filter| filter.hits.contains_key(&seq));
        let rounds = opened.session.rounds.iter().rev().map(|round| round.seq);
        let at = self.shown.get(self.cursor).copied();
        self.shown = rounds.filter(|seq| is_hit(*seq)).collect();
        let found = self.shown.iter().position(|seq| Some(*seq) == at);
        self.cursor = found.unwrap_or(self.cursor).min(self.shown.len().saturating_sub(1));
    }

    /// The round with that number.
    pub fn round(&self, seq: u32) -> Option<&Round> {
        self.opened.as_ref()?.session.round(seq)
    }

    /// The round under the cursor.
    pub fn current(&self) -> Option<&Round> {
        self.round(*self.shown.get(self.cursor)?)
    }

    /// The selected rounds, and those of an open range.
    pub fn marked(&self) -> BTreeSet<u32> {
        let in_range = self.shown.iter().filter(|seq| self.is_marked(**seq));
        self.selected.iter().chain(in_range).copied().collect()
    }

    /// The rounds that a key is about, ascending: the marked ones, else the one under the cursor.
    pub fn targets(&self) -> Vec<u32> {
        let mut marked = self.marked();
        if marked.is_empty() {
            marked.extend(self.current().map(|round| round.seq));
        }
        marked.into_iter().collect()
    }

    /// Selects the round under the cursor, or not any more.
    pub fn toggle(&mut self) {
        if let Some(seq) = self.current().map(|round| round.seq)
            && !self.selected.remove(&seq)
        {
            self.selected.insert(seq);
        }
    }

    /// Begins a range, or selects all shown rounds from its begin to the cursor.
    pub fn range(&mut self) {
        let Some(here) = self.current().map(|round| round.seq) else { return };
        match self.range_from.take() {
            None => self.range_from = Some(here),
            Some(from) => {
                let range = from.min(here)..=from.max(here);
                self.selected.extend(self.shown.iter().filter(|seq| range.contains(seq)));
            }
        }
    }

    /// Whether a round is selected, or in the range that is being selected.
    pub fn is_marked(&self, seq: u32) -> bool {
        let here = self.shown.get(self.cursor).copied();
        let is_in_range = self
            .range_from
            .zip(here)
            .is_some_and(|(from, here)| (from.min(here)..=from.max(here)).contains(&seq));
        is_in_range || self.selected.contains(&seq)
    }

    /// Selects all shown rounds, or none if they all are.
    pub fn select_all(&mut self) {
        let all: BTreeSet<u32> = self.shown.iter().copied().collect();
        if self.selected == all {
            self.selected.clear();
        } else {
            self.selected = all;
        }
    }
}
