//! The list of sessions: a tree by what each was made from.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::message::{Entry, Opened};
use crate::cmd::advise::percent;

/// A line of the list.
#[derive(Debug, Clone)]
pub struct Line {
    /// How many sessions are above it in its tree.
    pub depth: usize,
    /// The session.
    pub entry: Entry,
}

/// The list, and where the cursor is.
#[derive(Debug, Default)]
pub struct Sessions {
    /// All of them, the newest first.
    entries: Vec<Entry>,
    /// The lines, in order.
    pub lines: Vec<Line>,
    /// The line under the cursor.
    pub cursor: usize,
    /// The first line that is shown; drawing corrects it.
    pub top: Cell<usize>,
    /// Whether sessions of all projects are listed.
    pub all: bool,
    /// The id of the marked session, for a merge.
    pub marked: Option<String>,
}

impl Sessions {
    /// An empty list of a project's sessions, or of all.
    pub fn new(all: bool) -> Self {
        Self { all, ..Self::default() }
    }

    /// Takes a new list.
    pub fn update(&mut self, entries: Vec<Entry>, open: Option<&Opened>) {
        self.entries = entries;
        self.show(open);
    }

    /// Shows the sessions, and the subagents of the open one; the cursor stays on its session. What
    /// is open may have been imported, or have grown, since it was listed.
    pub fn show(&mut self, open: Option<&Opened>) {
        if let Some(opened) = open {
            let own = |entry: &&mut Entry| entry.id == opened.session.id;
            if let Some(entry) = self.entries.iter_mut().find(own) {
                let used = opened.context.now;
                entry.figures = Some((opened.session.rounds.len() as u32, used));
                entry.percent = opened.scale.as_ref().map(|scale| percent(used, scale.limit));
            }
        }
        let open = open.map(|opened| opened.session.id.as_str());
        let at = self.current().map(|entry| entry.id.clone());
        let is_shown = |entry: &&Entry| {
            let is_open = open.is_some_and(|open| open == entry.id);
            let is_of_open = entry.made_from.as_deref().is_some_and(|from| Some(from) == open);
            entry.agent.is_none() || is_open || is_of_open
        };
        self.lines = tree(&self.entries.iter().filter(is_shown).collect::<Vec<_>>());
        let found = self.lines.iter().position(|line| Some(&line.entry.id) == at.as_ref());
        self.cursor = found.unwrap_or(0);
    }

    /// The sessions of subagents.
    pub fn agents(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.agent.is_some())
    }

    /// Whether a client has a session open.
    pub fn is_open(&self, id: &str) -> bool {
        self.entries.iter().any(|entry| entry.id == id && entry.is_open)
    }

    /// The session under the cursor.
    pub fn current(&self) -> Option<&Entry> {
        self.lines.get(self.cursor).map(|line| &line.entry)
    }

    /// Puts the cursor on a session.
    pub fn find(&mut self, id: &str) {
        if let Some(at) = self.lines.iter().position(|line| line.entry.id == id) {
            self.cursor = at;
        }
    }
}

/// How to name a session to a job: a file needs no search.
pub fn name(entry: &Entry) -> String {
    let file = entry.file.as_ref().filter(|file| file.is_file());
    file.map_or_else(|| entry.id.clone(), |file| file.display().to_string())
}

/// The sessions with those that were made from them below, the newest tree first.
fn tree(entries: &[&Entry]) -> Vec<Line> {
    let ids: BTreeMap<String, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.id.clone(), at)).collect();
    let parent = |at: usize| {
        let from = entries[at].made_from.as_ref()?;
        ids.get(from).copied().filter(|parent| *parent != at)
    };
    let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut roots = Vec::new();
    for at in 0..entries.len() {
        match parent(at) {
            Some(parent) => below.entry(parent).or_default().push(at),
            None => roots.push(at),
        }
    }
    let mut lines = Vec::new();
    let mut seen = vec![false; entries.len()];
    // Whatever a loop of parents keeps from its root comes last.
    for root in roots.into_iter().chain(0..entries.len()) {
        let mut stack = vec![(root, 0)];
        while let Some((at, depth)) = stack.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            lines.push(Line { depth, entry: Entry::clone(entries[at]) });
            let children = below.get(&at).into_iter().flatten().rev();
            stack.extend(children.map(|child| (*child, depth + 1)));
        }
    }
    lines
}
