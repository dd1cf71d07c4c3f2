//! What is known of the rows so far: ids, the chain, times, and findings.

use chrono::DateTime;

use super::rules::{self, Rule};
use super::{Finding, Level, Seen};
use crate::ids::{self, Key, Keys};
use sessions::model::SYNTHETIC;
use sessions::refusal::Refusal;

/// Findings that are listed; all are counted.
const LISTED: usize = 1000;

/// Milliseconds that a client's row may be older than the row before it.
const PATIENCE: i64 = 1_000;

/// How many references to later rows are checked at most.
const WAITING: usize = 100_000;

#[derive(Debug)]
pub(super) struct Ledger {
    strict: bool,
    /// The file's name, which should be the session's id.
    name: Option<String>,
    line: u64,
    /// The session that the first row with one names.
    session: Option<String>,
    told_session: bool,
    pub ids: Keys,
    last: Option<Key>,
    /// The time of the last row, in milliseconds.
    time: Option<i64>,
    backwards: Option<(u64, u64)>,
    /// References to rows that did not come yet.
    waiting: Vec<(Key, u64, &'static Rule, String)>,
    pub given: Option<Keys>,
    /// The lasting API error that the session ends in, and its line.
    refused: Option<(u64, Refusal)>,
    pub found: Vec<Finding>,
    pub seen: Seen,
}

impl Ledger {
    pub fn new(strict: bool, name: Option<&str>) -> Self {
        Self {
            strict,
            name: name.map(str::to_owned),
            line: 0,
            session: None,
            told_session: false,
            ids: Keys::default(),
            last: None,
            time: None,
            backwards: None,
            waiting: Vec::new(),
            given: None,
            refused: None,
            found: Vec::new(),
            seen: Seen::default(),
        }
    }

    pub fn at(&mut self, line: u64) {
        self.line = line;
        self.seen.lines += 1;
    }

    pub fn line(&self) -> u64 {
        self.line
    }

    pub fn strict(&self) -> bool {
        self.strict
    }

    pub fn add(&mut self, rule: &Rule, what: &str) {
        self.add_at(self.line, rule, what);
    }

    pub fn add_at(&mut self, line: u64, rule: &Rule, what: &str) {
        self.seen.findings += 1;
        if self.found.len() < LISTED {
            let level = if self.strict { Level::Error } else { rule.level };
            self.found.push(Finding { line, rule: rule.name, level, what: what.to_owned() });
        }
    }

    /// Checks a row of the chain; `parent` is the row it follows.
    pub fn chained(&mut self, id: Option<&str>, parent: Option<&str>) {
        self.seen.chained += 1;
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            self.add(&rules::UUID, "it has no id");
            return;
        };
        let key = ids::key(id);
        match parent {
            None if self.last.is_some() => {
                self.add(&rules::ROOT, "it has no parent, and is not the first row");
            }
            None => {}
            Some(parent) if parent == id => self.add(&rules::CHAIN, "it is its own parent"),
            Some(parent) => {
                let hangs = ids::key(parent);
                if !self.ids.contains(&hangs) && !self.strict {
                    // The client finds a parent that comes later.
                    self.refers(parent, &rules::CHAIN, "parent");
                } else if !self.ids.contains(&hangs) {
                    let what = format!("its parent {parent} is not earlier in the file");
                    self.add(&rules::CHAIN, &what);
                } else if self.strict && self.last != Some(hangs) {
                    self.add(
                        &rules::BRANCH,
                        &format!("its parent {parent} is not the row before it"),
                    );
                }
            }
        }
        if !self.ids.insert(key) {
            self.add(&rules::UNIQUE, &format!("an earlier row has the same id, {id}"));
        }
        self.last = Some(key);
    }

    /// Notes whether the newest answer is a lasting API error.
    pub fn answered(&mut self, json: &[u8], model: Option<&str>) {
        match Refusal::of_row(json) {
            Some(refusal) => self.refused = Some((self.line, refusal)),
            None if model != Some(SYNTHETIC) => self.refused = None,
            None => {}
        }
    }

    /// Checks when the row was written.
    pub fn written(&mut self, at: Option<&str>) {
        let Some(at) = at else {
            self.add(&rules::TIME, "it does not say when it was written");
            return;
        };
        let Ok(time) = DateTime::parse_from_rfc3339(at) else {
            self.add(&rules::TIME, &format!("{at} is not a time (RFC 3339)"));
            return;
        };
        let time = time.timestamp_millis();
        // Clients write attachments a moment after the row that they belong to.
        let patience = if self.strict { 0 } else { PATIENCE };
        if self.time.is_some_and(|before| time + patience < before) {
            if self.strict {
                self.add(&rules::ORDER, &format!("{at} is before the time of the row ahead of it"));
            } else {
                let (first, count) = self.backwards.unwrap_or((self.line, 0));
                self.backwards = Some((first, count + 1));
            }
        }
        self.time = Some(time);
    }

    /// Checks the session that the row names.
    pub fn names(&mut self, session: Option<&str>) {
        let Some(session) = session else {
            if self.strict {
                self.add(&rules::SESSION, "it names no session");
            }
            return;
        };
        match &self.session {
            None => {
                // Only a UUID is the name of a session; people name other files as they like.
                let name = self.name.as_deref().filter(|n| self.strict || ids::uuid(n).is_some());
                if let Some(name) = name.filter(|name| *name != session) {
                    let what =
                        format!("it is of the session {session}, and the file is called {name}");
                    self.add(&rules::NAME, &what);
                }
                self.session = Some(session.to_owned());
            }
            Some(first) if first != session && (self.strict || !self.told_session) => {
                let what = format!("it is of the session {session}, rows before it of {first}");
                self.told_session = true;
                self.add(&rules::SESSION, &what);
            }
            Some(_) => {}
        }
    }

    /// Adds a reference to another row, which may come later.
    pub fn refers(&mut self, id: &str, rule: &'static Rule, by: &str) {
        let key = ids::key(id);
        if !self.ids.contains(&key) && self.waiting.len() < WAITING {
            self.waiting.push((
                key,
                self.line,
                rule,
                format!("its {by} is {id}, which is not a row of the file"),
            ));
        }
    }

    /// Checks a thinking block, by its bytes.
    pub fn thought(&mut self, block: &[u8]) {
        self.seen.thinking += 1;
        let known = self.given.as_ref().is_none_or(|given| given.contains(&ids::digest(block)));
        if !known {
            self.add(&rules::CHANGED, "a thinking block is not as it was in its session");
        }
    }

    pub fn finish(&mut self) {
        // A strict check is for what surgery made, and that keeps the source's error.
        if let Some((line, refusal)) = self.refused.filter(|_| !self.strict) {
            let what = format!("the session ends in an API error: {}", refusal.words());
            self.add_at(line, &rules::REFUSED, &what);
        }
        for (key, line, rule, what) in std::mem::take(&mut self.waiting) {
            if !self.ids.contains(&key) {
                self.add_at(line, rule, &what);
            }
        }
        if let Some((first, count)) = self.backwards {
            let what = match count {
                1 => "it is written before the row ahead of it".to_owned(),
                _ => format!("it and {} more are written before the row ahead of them", count - 1),
            };
            self.add_at(first, &rules::ORDER, &what);
        }
        if self.seen.messages == 0 && self.seen.chained == 0 {
            self.add_at(self.line.max(1), &rules::EMPTY_FILE, "there is no message in it");
        }
    }
}
