//! Finds the ledger records of a session's placeholders, for plans, output and restores. Rows that
//! a client copied from another session, as a fork has them, are looked up in that session's
//! ledger.

use sessions::span::Span;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self};
use std::ops::Deref;
use std::path::Path;

use memchr::memmem::Finder;

use super::source::Source;
use crate::cmd::err;
use extract::entry::Entry;
use extract::placeholder::{BEGIN, Names};
use store::extracted::{Extract, Kin, Ledger, Object, Record, Shared};

/// Rows with what looks like a placeholder but is not in the session's ledger.
pub struct UnknownPlaceholders {
    finder: Finder<'static>,
    /// The names of the ledger's entries: what names one of them is only text.
    names: HashSet<String>,
    /// Their ids by row number, from 0.
    rows: HashMap<u64, String>,
}

impl UnknownPlaceholders {
    /// None yet.
    pub fn of(ledger: &Ledger) -> Self {
        let mut short: Names = ledger.entries().collect();
        let mut names = HashSet::new();
        for entry in ledger.entries() {
            names.insert(entry.to_owned());
            names.insert(short.of(entry).to_owned());
        }
        Self { finder: Finder::new(BEGIN), names, rows: HashMap::new() }
    }

    /// Whether the JSON names another entry of the ledger, as the agent does that asks for it or
    /// quotes its placeholder.
    fn is_named(&self, json: &[u8], own: &str) -> bool {
        let rest = json.get(BEGIN.len()..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b']').unwrap_or_default();
        str::from_utf8(&rest[..end])
            .is_ok_and(|name| self.names.contains(name) && !own.starts_with(name))
    }

    /// Checks a row, given its known placeholders.
    pub fn row(&mut self, entry: &Entry, line: &[u8], known: &[Live]) {
        let names = |json| self.is_named(json, &entry.id);
        let strange = |at: usize| {
            let quoted = at > 0 && line[at - 1] == b'\\';
            !quoted
                && !names(&line[at..])
                && !known.iter().any(|live| live.span.start <= at && at < live.span.end)
        };
        if self.finder.find_iter(line).any(strange) {
            self.rows.insert(entry.row, entry.id.clone());
        }
    }

    pub fn count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// What the ledgers of other sessions say about these rows.
    pub fn kin(&self, source: &Source) -> Kin {
        if self.rows.is_empty() {
            return Kin::default();
        }
        source.extracted.related_records(&self.rows.values().cloned().collect())
    }

    /// All rows stay in doubt if a ledger cannot be read. Everything else proceeds without them.
    pub fn doubt(self, source: &Source, unread: &[io::Error]) -> Doubt {
        let whys: BTreeSet<String> = unread.iter().map(ToString::to_string).collect();
        let rows: HashSet<u64> = self.rows.into_keys().collect();
        let (Some(first), false) = (whys.first(), rows.is_empty()) else {
            return Doubt::default();
        };
        let more = match whys.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more, see `brain-guard extract status`)"),
        };
        let of = match rows.len() {
            1 => "1 row".to_owned(),
            rows => format!("{rows} rows"),
        };
        let place = source.place();
        let said = format!(
            "{first}{more}: {of} of {} may hold placeholders that only this file can identify; they stay unchanged until it is readable",
            place.display()
        );
        Doubt { rows, said: Some(said) }
    }
}

/// Rows that may hold placeholders of an unreadable ledger. They are neither restored nor
/// extracted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doubt {
    /// Row numbers, from 0.
    pub rows: HashSet<u64>,
    /// The message for the user.
    pub said: Option<String>,
}

impl Doubt {
    /// Prints the message.
    pub fn tell(&self) {
        if let Some(said) = &self.said {
            err(said);
        }
    }
}

/// Adds the records from other ledgers to a session's own.
pub fn merge_ledgers(mut kin: Vec<Record>, own: &Ledger) -> Ledger {
    // The session's own records come last, because they are newer.
    kin.extend(own.records.iter().cloned());
    Ledger::of(kin)
}

/// The records that match a placeholder.
pub enum Match<'l> {
    /// Exactly one content.
    One(&'l Shared<Extract>),
    /// Several candidates, newest first, one per content.
    Several(Vec<&'l Shared<Extract>>),
}

/// Chooses the record of a placeholder. If the contents differ, the record that names this file
/// wins, as long as the files of the others still exist.
pub fn decide<'l>(place: &Path, fitting: &[&'l Shared<Extract>]) -> Option<Match<'l>> {
    let first = *fitting.first()?;
    let mut contents: Vec<&Shared<Extract>> = Vec::new();
    for record in fitting {
        if contents.iter().all(|known| known.content() != record.content()) {
            contents.push(record);
        }
    }
    if contents.len() == 1 {
        return Some(Match::One(first));
    }
    let own: Vec<&Shared<Extract>> = contents
        .iter()
        .copied()
        .filter(|record| {
            let mut same = fitting.iter().filter(|other| other.content() == record.content());
            same.any(|other| *other.file == *place)
        })
        .collect();
    let in_place = |record: &&Shared<Extract>| {
        *record.file == *place || record.file.symlink_metadata().is_ok()
    };
    match own.as_slice() {
        [one] if fitting.iter().all(in_place) => Some(Match::One(one)),
        _ => Some(Match::Several(contents)),
    }
}

/// A placeholder in a session, with its ledger record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// The row number, from 0; `u64::MAX` if nothing was left in a row.
    pub row: u64,
    /// Its place in the row.
    pub span: Span,
    /// What was extracted there.
    pub extract: Shared<Extract>,
    /// Other candidates with different content, newest first; empty if one record matches.
    pub rivals: Vec<Shared<Extract>>,
}

impl Deref for Live {
    type Target = Extract;

    fn deref(&self) -> &Extract {
        &self.extract
    }
}

impl Live {
    /// For a placeholder with one matching record.
    pub fn of(extract: &Shared<Extract>, row: u64, span: Span) -> Self {
        Self { row, span, extract: extract.clone(), rivals: Vec::new() }
    }

    /// The objects that it may need.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        std::iter::once(&self.object).chain(self.rivals.iter().map(|rival| &rival.object))
    }

    /// The same placeholder with the rival of this number, from 1, as its record.
    pub fn as_of(&self, rival: usize) -> Option<Self> {
        Some(Self::of(self.rivals.get(rival.checked_sub(1)?)?, self.row, self.span))
    }
}
