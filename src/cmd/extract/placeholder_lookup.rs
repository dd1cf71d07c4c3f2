//! What is known of a session's placeholders: what its own ledger says, and of rows that a client
//! copied into it from another session, a fork's, what that one's ledger says. The one look-up
//! for whoever plans, shows or restores.

mod same;

use sessions::span::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self};
use std::ops::Deref;
use std::path::Path;

use memchr::memmem::Finder;

use super::source::Source;
use crate::cmd::err;
use extract::entry::Entry;
use extract::placeholder::{self, BEGIN};
use store::extracted::{Extract, Kin, Ledger, Object, Record, Shared};

/// Rows that hold what looks like a placeholder, and that a ledger does not know.
pub struct UnknownPlaceholders {
    finder: Finder<'static>,
    /// By their ids.
    by_id: same::Rows,
    /// Their ids by their numbers, from 0.
    rows: HashMap<u64, String>,
}

impl Default for UnknownPlaceholders {
    fn default() -> Self {
        Self { finder: Finder::new(BEGIN), by_id: same::Rows::new(), rows: HashMap::new() }
    }
}

impl UnknownPlaceholders {
    /// Looks at a row, with the placeholders in it that are known.
    pub fn row(&mut self, entry: &Entry, line: &[u8], known: &[Live]) {
        let strange = |at: usize| {
            let quoted = at > 0 && line[at - 1] == b'\\';
            !quoted && !known.iter().any(|live| live.span.start <= at && at < live.span.end)
        };
        if self.finder.find_iter(line).any(strange) {
            self.by_id.insert(entry.id.clone(), same::written(line));
            self.rows.insert(entry.row, entry.id.clone());
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// What others say of these rows.
    pub fn kin(&self, source: &Source) -> Kin {
        if self.by_id.is_empty() {
            return Kin::default();
        }
        let mut kin = source.extracted.kin(&self.by_id.keys().cloned().collect());
        same::leave(source, &self.by_id, &mut kin);
        kin
    }

    /// What stays in doubt of these rows, as something of the others' can't be read: a ledger may
    /// say something of any of them, a session's file has to do with its own. It is nobody's
    /// fault but that of what can't be read, so everything else goes on without it.
    pub fn doubt(
        self,
        source: &Source,
        unread: &[io::Error],
        unsure: &BTreeMap<String, String>,
    ) -> Doubt {
        let mut whys: BTreeSet<String> = unread.iter().map(ToString::to_string).collect();
        let mut rows = HashSet::new();
        for (row, id) in self.rows {
            let why = unsure.get(&id);
            if why.is_some() || !unread.is_empty() {
                whys.extend(why.cloned());
                rows.insert(row);
            }
        }
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
            "{first}{more}: {of} of {} may hold placeholders that nothing else tells of, and stay as they are until it can be read",
            place.display()
        );
        Doubt { rows, said: Some(said) }
    }
}

/// Rows that may hold placeholders of a ledger that can't be read: they are no placeholders that
/// can be restored, and no content either.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doubt {
    /// Their numbers, from 0.
    pub rows: HashSet<u64>,
    /// What a user is told.
    pub said: Option<String>,
}

impl Doubt {
    /// Says it.
    pub fn tell(&self) {
        if let Some(said) = &self.said {
            err(said);
        }
    }
}

/// A ledger with what others say of its rows, too.
pub fn joined(mut kin: Vec<Record>, own: &Ledger) -> Ledger {
    // What the session's own ledger says is newer.
    kin.extend(own.records.iter().cloned());
    Ledger::of(kin)
}

/// What was extracted where a placeholder stands.
pub enum Fits<'l> {
    /// This.
    One(&'l Shared<Extract>),
    /// One of these, newest first, a record for each content.
    Several(Vec<&'l Shared<Extract>>),
}

/// Which of the records that fit a placeholder it is of. Where they are of different content it
/// is that of the file they name, as long as the others' files are where they were.
pub fn decide<'l>(place: &Path, fitting: &[&'l Shared<Extract>]) -> Option<Fits<'l>> {
    let first = *fitting.first()?;
    let mut contents: Vec<&Shared<Extract>> = Vec::new();
    for record in fitting {
        if contents.iter().all(|known| known.content() != record.content()) {
            contents.push(record);
        }
    }
    if contents.len() == 1 {
        return Some(Fits::One(first));
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
        [one] if fitting.iter().all(in_place) => Some(Fits::One(one)),
        _ => Some(Fits::Several(contents)),
    }
}

/// The placeholder with a word more where the ledger has the same of other content: it would
/// not be known whose it is.
pub fn apart(ledger: &Ledger, entry: &str, key: &str, put: Vec<u8>, json: &[u8]) -> Vec<u8> {
    let fitting = ledger.fitting(entry, key, &put);
    if fitting.is_empty() {
        return put;
    }
    let content = Record::digest(json);
    if fitting.iter().all(|record| record.content() == content) {
        return put;
    }
    placeholder::marked(&put, entry, &content.to_string())
}

/// A placeholder in a session, by its ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// Its row, from 0.
    pub row: u64,
    /// Where it lies in the row.
    pub span: Span,
    /// What was extracted there, by the ledger.
    pub extract: Shared<Extract>,
    /// Records of different content that it may be of, newest first; none where one alone fits.
    pub rivals: Vec<Shared<Extract>>,
}

impl Deref for Live {
    type Target = Extract;

    fn deref(&self) -> &Extract {
        &self.extract
    }
}

impl Live {
    /// What an extraction put there.
    pub fn of(extract: &Shared<Extract>, row: u64, span: Span) -> Self {
        Self { row, span, extract: extract.clone(), rivals: Vec::new() }
    }

    /// The objects that it may need.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        std::iter::once(&self.object).chain(self.rivals.iter().map(|rival| &rival.object))
    }

    /// The same as one of its rivals says it, by how many'th that is, from 1.
    pub fn as_of(&self, rival: usize) -> Option<Self> {
        Some(Self::of(self.rivals.get(rival.checked_sub(1)?)?, self.row, self.span))
    }
}
