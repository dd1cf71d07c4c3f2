//! A job's list of commits, oldest first, and how changes in the repository update it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::seal::Commit;
use base::clock::Time;

/// Digits of a hash in the compaction file.
const SHORT: usize = 10;

/// The maximum number of commits in a list; the oldest are dropped.
const MOST: usize = 500;

/// The maximum number of replaced or dropped commits that are remembered, because they may come
/// back.
const MOST_GONE: usize = 100;

/// The maximum size of a message body, in bytes.
const LONGEST_BODY: usize = 8 * 1024;

/// One commit of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The complete hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// The session that made it.
    pub session: String,
    /// When it was made, according to git.
    #[serde(default)]
    pub at: Option<Time>,
    /// The working tree it was made in.
    #[serde(default)]
    pub worktree: String,
    /// Replaced or dropped. It is not shown, but a reset may bring it back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// A change to a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It was made.
    Add(Entry),
    /// Another one replaced it, or it is no longer reachable.
    Drop(String),
    /// It is reachable again.
    Restore(String),
}

/// Adds a commit, with a body of limited size.
pub fn add(mut entry: Entry) -> Change {
    if entry.body.len() > LONGEST_BODY {
        let end = (0..=LONGEST_BODY).rev().find(|end| entry.body.is_char_boundary(*end));
        entry.body.truncate(end.unwrap_or(0));
        entry.body.push('…');
    }
    Change::Add(entry)
}

/// Applies the changes in order. Returns `true` if the list changed.
pub fn apply(list: &mut Vec<Entry>, changes: Vec<Change>) -> bool {
    let before: Vec<(String, bool)> = list.iter().map(|e| (e.hash.clone(), e.gone)).collect();
    for change in changes {
        match change {
            Change::Add(new) => match list.iter_mut().find(|e| e.hash == new.hash) {
                Some(old) => old.gone = false,
                None => list.push(new),
            },
            Change::Drop(hash) => set(list, &hash, true),
            Change::Restore(hash) => set(list, &hash, false),
        }
    }
    bound(list, false, MOST);
    bound(list, true, MOST_GONE);
    before.len() != list.len()
        || before.iter().zip(list.iter()).any(|(b, e)| (&b.0, b.1) != (&e.hash, e.gone))
}

fn set(list: &mut [Entry], hash: &str, gone: bool) {
    for entry in list.iter_mut().filter(|e| e.hash == hash) {
        entry.gone = gone;
    }
}

fn bound(list: &mut Vec<Entry>, gone: bool, most: usize) {
    let count = list.iter().filter(|e| e.gone == gone).count();
    let mut over = count.saturating_sub(most);
    list.retain(|e| {
        let goes = over > 0 && e.gone == gone;
        over -= usize::from(goes);
        !goes
    });
}

/// The commits for the compaction file, newest first.
pub fn commits(list: &[Entry]) -> Vec<Commit> {
    let mut seen = BTreeSet::new();
    list.iter().rev().filter(|e| !e.gone && seen.insert(&e.hash)).map(to_commit).collect()
}

/// One commit for the compaction file.
pub fn to_commit(entry: &Entry) -> Commit {
    Commit {
        hash: entry.hash.chars().take(SHORT).collect(),
        subject: entry.subject.clone(),
        body: entry.body.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(hash: &str) -> Entry {
        Entry {
            hash: hash.to_owned(),
            subject: format!("subject of {hash}"),
            body: String::new(),
            session: "s".to_owned(),
            at: None,
            worktree: "/p".to_owned(),
            gone: false,
        }
    }

    fn hashes(list: &[Entry]) -> Vec<String> {
        commits(list).into_iter().map(|c| c.hash).collect()
    }

    #[test]
    fn made_replaced_dropped_and_back_again() {
        let mut list = Vec::new();
        assert!(apply(&mut list, vec![add(entry("a")), add(entry("b"))]));
        assert!(!apply(&mut list, vec![add(entry("a"))]), "known already");
        assert_eq!(hashes(&list), ["b", "a"]);
        assert!(apply(&mut list, vec![Change::Drop("b".into()), add(entry("c"))]));
        assert_eq!(hashes(&list), ["c", "a"]);
        assert!(apply(&mut list, vec![Change::Restore("b".into()), Change::Drop("c".into())]));
        assert_eq!(hashes(&list), ["b", "a"]);
        assert!(!apply(&mut list, vec![Change::Drop("x".into())]));
    }

    #[test]
    fn it_stays_bounded_and_loses_the_oldest() {
        let mut list = Vec::new();
        apply(&mut list, (0..700).map(|n| add(entry(&format!("{n:05}")))).collect());
        assert_eq!((list.len(), list[0].hash.as_str()), (MOST, "00200"));
        apply(&mut list, (200..500).map(|n| Change::Drop(format!("{n:05}"))).collect());
        assert_eq!((hashes(&list).len(), list.len()), (200, 200 + MOST_GONE));
        let Change::Add(long) = add(Entry { body: "ü".repeat(9000), ..entry("x") }) else {
            panic!("an addition");
        };
        assert!(long.body.len() < LONGEST_BODY + 4 && long.body.ends_with('…'));
    }

    #[test]
    fn lines_are_read_with_what_is_left_out() {
        let read: Entry =
            serde_json::from_str(r#"{"hash":"a","subject":"b","session":"s"}"#).unwrap();
        assert!(!read.gone && read.body.is_empty());
        assert!(!serde_json::to_string(&read).unwrap().contains("gone"));
    }
}
