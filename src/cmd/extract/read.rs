//! Reads a session for the rules: its entries and placeholders.

use std::collections::HashSet;
use std::io;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context as _;
use memchr::memmem;
use serde_json::value::RawValue;

use super::extractable_flag;
use super::gain::Gain;
use super::placeholder_lookup::{self, Doubt, Live, Match, UnknownPlaceholders};
use super::source::{Kind, Source};
use super::tail::Tail;
use crate::cmd::err;
use crate::cmd::progress;
use base::clock::Time;
use extract::edit;
use extract::entry::{Entries, Entry};
use extract::placeholder::BEGIN;
use extract::plan::{NoGain, Plan};
use sessions::files::Stamp;
use sessions::settings::ExtractSettings;
use sessions::span::Span;
use store::extracted::{Extract, Kin, Ledger, Object, Record, Shared};

/// Shortest value to compare, in characters, whatever the settings say. A client's short "file
/// unchanged" must not count as a second reading.
const COMPARED: u32 = 256;

/// A session, as read.
pub struct Read {
    /// Its entries.
    pub entries: Vec<Entry>,
    /// Its placeholders, in order.
    pub live: Vec<Live>,
    /// All that was ever extracted from it.
    pub ledger: Ledger,
    /// The file's state when it was read.
    pub stamp: Stamp,
    /// When its last row was written, by its timestamp; if there is none, by the file's.
    pub last: Option<Time>,
    /// Values that a placeholder would not shorten enough.
    pub no_gain: NoGain,
    /// Rows that are not valid JSON, so have no entry.
    pub broken: Vec<u64>,
    /// Its last rows.
    pub tail: Tail,
    /// Rows that may hold placeholders of an unreadable ledger.
    pub doubt: Doubt,
    /// Rows with what looks like a placeholder but is in no ledger.
    pub unknown: u64,
}

impl Read {
    /// The entry in a row.
    pub fn entry(&self, row: u64) -> Option<&Entry> {
        let at = self.entries.binary_search_by_key(&row, |entry| entry.row).ok()?;
        self.entries.get(at)
    }

    /// Drops the entries that output does not need: it needs those in the plan and in the last
    /// rows. Their values are in the plan.
    pub fn forget(&mut self, plan: &Plan) {
        let asked: HashSet<u64> =
            plan.items.iter().map(|item| item.row).chain(self.tail.numbers()).collect();
        self.entries.retain_mut(|entry| {
            entry.values = Vec::new();
            asked.contains(&entry.row)
        });
        self.entries.shrink_to_fit();
    }

    /// The message about rows with what looks like a placeholder but is in no ledger.
    pub fn unknown(&self, source: &Source) -> Option<String> {
        let rows = match self.unknown {
            0 => return None,
            1 => "1 row holds".to_owned(),
            rows => format!("{rows} rows hold"),
        };
        let root = source.extracted.root.parent().unwrap_or(&source.extracted.root);
        Some(format!(
            "{rows} what looks like a placeholder, and no ledger of the store {} knows it: if another store has its content, name that one (BRAIN_GUARD_STORE); if its ledger is lost, put it back; else it is only text",
            root.display()
        ))
    }

    /// Whether the value at (row, key) is, or may be, a placeholder or in one.
    pub fn is_placeholder(&self, row: u64, key: &str) -> bool {
        if self.doubt.rows.contains(&row) {
            return true;
        }
        let from = self.live.partition_point(|live| live.row < row);
        self.live[from..].iter().take_while(|live| live.row == row).any(|live| {
            key.strip_prefix(&*live.key)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// Reads a session.
///
/// # Errors
/// An unreadable session or ledger of its own.
pub fn session(source: &Source) -> anyhow::Result<Read> {
    session_for_plan(source, None)
}

/// Reads a session for a plan with these settings.
///
/// # Errors
/// As [`session`].
pub fn session_for_plan(
    source: &Source,
    settings: Option<&ExtractSettings>,
) -> anyhow::Result<Read> {
    let (mut read, mut strange) = read_with_ledger(source, source.extracted.ledger()?, settings)?;
    let Kin { records, unread } = strange.kin(source);
    if !records.is_empty() {
        (read, strange) = read_with_ledger(
            source,
            placeholder_lookup::merge_ledgers(records, &read.ledger),
            settings,
        )?;
    }
    let unknown = strange.count();
    read.doubt = strange.doubt(source, &unread);
    read.unknown = unknown - read.doubt.rows.len() as u64;
    Ok(read)
}

/// Reads a session with this ledger.
fn read_with_ledger(
    source: &Source,
    ledger: Ledger,
    settings: Option<&ExtractSettings>,
) -> anyhow::Result<(Read, UnknownPlaceholders)> {
    let finder = Finder::new(&ledger, source.place());
    let mut strange = UnknownPlaceholders::of(&ledger);
    let gain = settings.map(|settings| Gain::new(source.kind != Kind::Claude, settings));
    let dedupe = settings.is_some_and(|settings| settings.fixed.dedupe);
    let compared = gain.as_ref().filter(|_| dedupe).map(|gain| gain.shortest().max(COMPARED));
    let mut entries = compared.map_or_else(Entries::default, Entries::comparing);
    let marks = memmem::Finder::new(BEGIN);
    let (mut live, mut no_gain) = (Vec::new(), NoGain::new());
    let (mut tail, mut broken) = (Tail::of(length(source)), Vec::new());
    let bar = progress::of_file(&source.path);
    let stamp = source.file.rows(&mut |row, line| {
        bar.inc(line.len() as u64);
        if let Some(entry) = entries.row(row, line) {
            extractable_flag::apply_ledger(&ledger, entry);
            let known = live.len();
            finder.row(entry, line, &mut live);
            if marks.find(line).is_some() {
                strange.row(entry, line, &live[known..]);
            }
            if let Some(gain) = &gain {
                gain.none(entry, line, &mut no_gain);
            }
        } else if !line.trim_ascii().is_empty()
            && serde_json::from_slice::<&RawValue>(line).is_err()
        {
            broken.push(row);
        }
        tail.push(row, line);
        Ok(())
    });
    bar.finish_and_clear();
    let stamp = stamp.with_context(|| format!("{} can't be read", source.path.display()))?;
    let entries = entries.finish();
    live.extend(finder.whole());
    let last = tail.last().or_else(|| modified(&stamp));
    Ok((
        Read {
            entries,
            live,
            ledger,
            stamp,
            last,
            no_gain,
            broken,
            tail,
            doubt: Doubt::default(),
            unknown: 0,
        },
        strange,
    ))
}

/// The file's bytes; 0 for a database, whose rows have no known length.
fn length(source: &Source) -> u64 {
    match source.kind {
        Kind::Database => 0,
        Kind::Jsonl | Kind::Claude => source.path.metadata().map_or(0, |meta| meta.len()),
    }
}

/// The placeholders in a session, by this ledger.
pub fn live(source: &Source, ledger: &Ledger) -> io::Result<Vec<Live>> {
    let finder = Finder::new(ledger, source.place());
    let mut entries = Entries::default();
    let mut found = Vec::new();
    source.file.rows(&mut |row, line| {
        entries.row(row, line);
        for entry in &entries.found {
            finder.row(entry, line, &mut found);
        }
        // This caller needs no context flags, so the entries can go.
        entries.found.clear();
        Ok(())
    })?;
    found.extend(finder.whole());
    Ok(found)
}

struct Finder<'a> {
    ledger: &'a Ledger,
    /// The session, as records name it.
    place: PathBuf,
}

impl<'a> Finder<'a> {
    fn new(ledger: &'a Ledger, place: PathBuf) -> Self {
        Self { ledger, place }
    }

    fn row(&self, entry: &Entry, line: &[u8], found: &mut Vec<Live>) {
        let from = found.len();
        for (id, key) in self.ledger.values_of_row(&entry.id) {
            let Some(span) = edit::locate(line, key) else { continue };
            let fitting = self.ledger.find_placeholders(id, key, span.slice(line));
            found.extend(match placeholder_lookup::decide(&self.place, &fitting) {
                Some(Match::One(extract)) => Some(Live::of(extract, entry.row, span)),
                Some(Match::Several(all)) => Some(Live {
                    rivals: all.iter().map(|extract| (*extract).clone()).collect(),
                    ..Live::of(all[0], entry.row, span)
                }),
                None => None,
            });
        }
        found[from..].sort_by_key(|live| live.span.start);
    }

    /// Values that left no placeholder, as thinking in new Claude Code sessions. They count as
    /// placeholders after the last row, as long as the file exists.
    fn whole(&self) -> impl Iterator<Item = Live> {
        let extracts = self.ledger.records.iter().filter_map(Record::extract);
        let whole = extracts.filter(|extract| extract.placeholder.is_none());
        whole.map(|extract| Live::of(extract, u64::MAX, Span::default()))
    }
}

/// When a file was last written.
fn modified(stamp: &Stamp) -> Option<Time> {
    let nanos = i64::try_from(stamp.modified).ok()?;
    Some(chrono::DateTime::from_timestamp_nanos(nanos))
}

/// Copies records from other ledgers, or from an earlier place of the session, to its own ledger.
/// `gc` looks at every file that a ledger names. An unwritable store is only reported.
pub fn adopt_records(source: &Source, read: &Read) {
    type Key<'k> = (&'k str, &'k str, &'k Object);
    fn key(extract: &Extract) -> Key<'_> {
        (&extract.entry, &extract.key, &extract.object)
    }
    let place: Shared<Path> = source.place().into();
    let known = |live: &&Live| live.rivals.is_empty() && live.row != u64::MAX;
    let strange: Vec<&Live> =
        read.live.iter().filter(known).filter(|live| live.file != place).collect();
    if strange.is_empty() {
        return;
    }
    let own = match source.extracted.ledger() {
        Ok(own) => own,
        Err(e) => return err(format_args!("not noted in the store: {e}")),
    };
    let here = own.records.iter().filter_map(Record::extract).filter(|of| of.file == place);
    let named: HashSet<Key> = here.map(|extract| key(extract)).collect();
    let unnamed = strange.into_iter().filter(|live| !named.contains(&key(live)));
    let records: Vec<Record> = unnamed
        .map(|live| Extract { file: place.clone(), ..Extract::clone(live) }.into())
        .collect();
    match source.extracted.add(&records) {
        Ok(()) => {}
        // Record the others even if the content of one is gone.
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let add = |record| source.extracted.add(std::slice::from_ref(record));
            let lost = records.iter().filter(|record| add(record).is_err()).count();
            err(format_args!("of {lost} placeholders the content is not in the store any more"));
        }
        Err(e) => err(format_args!("not noted in the store: {e}")),
    }
}
