//! A session read for the rules: its entries, and the placeholders in it.

use std::collections::HashSet;
use std::io;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context as _;
use memchr::memmem;
use serde_json::value::RawValue;

use super::gain::Gain;
use super::placeholder_lookup::{self, Doubt, Fits, Live, UnknownPlaceholders};
use super::source::{Kind, Source};
use super::tail::Tail;
use super::{extractable_flag, progress};
use crate::cmd::err;
use base::clock::Time;
use extract::edit;
use extract::entry::{Entries, Entry};
use extract::placeholder::{self, About, BEGIN};
use extract::plan::{Item, NoGain, Plan};
use sessions::files::Stamp;
use sessions::settings::{ExtractSettings, Placeholder};
use sessions::span::Span;
use store::extracted::{Extract, Kin, Ledger, Object, Record, Shared};

/// Characters from which on values are compared, whatever the settings extract: a client's word
/// that a file is as it was is no second reading of it.
pub const COMPARED: u32 = 256;

/// A session as it was read.
pub struct Read {
    /// Its entries.
    pub entries: Vec<Entry>,
    /// The placeholders in it, in order.
    pub live: Vec<Live>,
    /// What was extracted of it, ever.
    pub ledger: Ledger,
    /// The file when it was read.
    pub stamp: Stamp,
    /// When its last row was written, by what that says; where no row says it, the file.
    pub last: Option<Time>,
    /// Values whose placeholders would not be shorter by enough.
    pub no_gain: NoGain,
    /// Rows that hold no entry, as they are no JSON.
    pub broken: Vec<u64>,
    /// Its last rows.
    pub tail: Tail,
    /// Rows of which it can't be told what is in them.
    pub doubt: Doubt,
    /// Rows with what looks like a placeholder, of which no ledger says anything.
    pub unknown: u64,
}

impl Read {
    /// The entry of a row.
    pub fn entry(&self, row: u64) -> Option<&Entry> {
        let at = self.entries.binary_search_by_key(&row, |entry| entry.row).ok()?;
        self.entries.get(at)
    }

    /// Forgets entries but those that what is told of a plan asks for: of rows that something
    /// goes from, and of the last ones. Their values are known to the plan.
    pub fn forget(&mut self, plan: &Plan) {
        let asked: HashSet<u64> =
            plan.items.iter().map(|item| item.row).chain(self.tail.numbers()).collect();
        self.entries.retain_mut(|entry| {
            entry.values = Vec::new();
            asked.contains(&entry.row)
        });
        self.entries.shrink_to_fit();
    }

    /// What a user is told of rows that look as if something of them were extracted, as far as
    /// no ledger says so.
    pub fn unknown(&self, source: &Source) -> Option<String> {
        let rows = match self.unknown {
            0 => return None,
            1 => "1 row holds".to_owned(),
            rows => format!("{rows} rows hold"),
        };
        let root = source.extracted.root.parent().unwrap_or(&source.extracted.root);
        Some(format!(
            "{rows} what looks like a placeholder, and no ledger of the store {} knows it: if another store has its content, name that one (BRAIN_GUARD_STORE or surgery.store); if its ledger is lost, put it back; else it is only text",
            root.display()
        ))
    }

    /// Whether the value at (row, key) is a placeholder, lies in one, or may.
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
/// What the system says; its own ledger, where that can't be read.
pub fn session(source: &Source) -> anyhow::Result<Read> {
    planning(source, None)
}

/// The same for a plan by these settings.
///
/// # Errors
/// As [`session`].
pub fn planning(source: &Source, settings: Option<&ExtractSettings>) -> anyhow::Result<Read> {
    let (mut read, mut strange) = pass(source, source.extracted.ledger()?, settings)?;
    let Kin { records, unread, unsure } = strange.kin(source);
    if !records.is_empty() {
        (read, strange) =
            pass(source, placeholder_lookup::joined(records, &read.ledger), settings)?;
    }
    let unknown = strange.count();
    read.doubt = strange.doubt(source, &unread, &unsure);
    read.unknown = unknown - read.doubt.rows.len() as u64;
    Ok(read)
}

/// Reads a session by a ledger.
fn pass(
    source: &Source,
    ledger: Ledger,
    settings: Option<&ExtractSettings>,
) -> anyhow::Result<(Read, UnknownPlaceholders)> {
    let finder = Finder::new(&ledger, source.place());
    let mut strange = UnknownPlaceholders::default();
    let gain =
        settings.map(|settings| Gain::of(&source.session, source.kind != Kind::Claude, settings));
    let dedupe = settings.is_some_and(|settings| settings.dedupe);
    let compared = gain.as_ref().filter(|_| dedupe).map(|gain| gain.shortest().max(COMPARED));
    let mut entries = compared.map_or_else(Entries::default, Entries::comparing);
    let marks = memmem::Finder::new(BEGIN);
    let (mut live, mut no_gain) = (Vec::new(), NoGain::new());
    let (mut tail, mut broken) = (Tail::of(length(source)), Vec::new());
    let bar = progress::bar(&source.path);
    let stamp = source.file.rows(&mut |row, line| {
        bar.inc(line.len() as u64);
        if let Some(entry) = entries.row(row, line) {
            extractable_flag::lay(&ledger, entry);
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

/// Bytes of rows that a session has at least; 0 where its file doesn't tell.
fn length(source: &Source) -> u64 {
    match source.kind {
        Kind::Database => 0,
        Kind::Jsonl | Kind::Claude => source.path.metadata().map_or(0, |meta| meta.len()),
    }
}

/// The placeholders in a session, by a ledger.
///
/// # Errors
/// What the system says.
pub fn live(source: &Source, ledger: &Ledger) -> io::Result<Vec<Live>> {
    let finder = Finder::new(ledger, source.place());
    let mut entries = Entries::default();
    let mut found = Vec::new();
    source.file.rows(&mut |row, line| {
        entries.row(row, line);
        for entry in &entries.found {
            finder.row(entry, line, &mut found);
        }
        // Which are in the context is not asked.
        entries.found.clear();
        Ok(())
    })?;
    found.extend(finder.whole());
    Ok(found)
}

/// Finds placeholders in rows.
struct Finder<'a> {
    ledger: &'a Ledger,
    /// The session's, as records name it.
    place: PathBuf,
}

impl<'a> Finder<'a> {
    fn new(ledger: &'a Ledger, place: PathBuf) -> Self {
        Self { ledger, place }
    }

    fn row(&self, entry: &Entry, line: &[u8], found: &mut Vec<Live>) {
        let from = found.len();
        for (id, key) in self.ledger.of_row(&entry.id) {
            let Some(span) = edit::locate(line, key) else { continue };
            let fitting = self.ledger.fitting(id, key, span.of(line));
            found.extend(match placeholder_lookup::decide(&self.place, &fitting) {
                Some(Fits::One(extract)) => Some(Live::of(extract, entry.row, span)),
                Some(Fits::Several(all)) => Some(Live {
                    rivals: all.iter().map(|extract| (*extract).clone()).collect(),
                    ..Live::of(all[0], entry.row, span)
                }),
                None => None,
            });
        }
        found[from..].sort_by_key(|live| live.span.start);
    }

    /// Values that went whole and left nothing behind, as thinking does in new sessions of Claude
    /// Code's: they count as standing behind the last row for as long as the file is there.
    fn whole(&self) -> impl Iterator<Item = Live> {
        let extracts = self.ledger.records.iter().filter_map(Record::extract);
        let whole = extracts.filter(|extract| extract.placeholder.is_none());
        whole.map(|extract| Live::of(extract, u64::MAX, Span::default()))
    }
}

/// When a file was written.
fn modified(stamp: &Stamp) -> Option<Time> {
    let nanos = i64::try_from(stamp.modified).ok()?;
    Some(chrono::DateTime::from_timestamp_nanos(nanos))
}

/// The JSON that goes into a value's place, which is `json` now.
pub fn put(source: &Source, item: &Item, json: &[u8], form: Placeholder) -> Option<Vec<u8>> {
    let (tool, session) = (item.tool.as_deref(), source.session.as_str());
    let about = About { entry: &item.entry, session, tool, json, keep: item.keep };
    placeholder::json(&about, form, item.whole)
}

/// Notes in the session's own ledger what other ledgers know of it, or what it was called
/// before: `gc` looks at every file that is known to hold placeholders. A store that can't
/// be written does without.
pub fn adopt(source: &Source, read: &Read) {
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
        // Content that is gone keeps nothing else from being noted.
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let add = |record| source.extracted.add(std::slice::from_ref(record));
            let lost = records.iter().filter(|record| add(record).is_err()).count();
            err(format_args!("of {lost} placeholders the content is not in the store any more"));
        }
        Err(e) => err(format_args!("not noted in the store: {e}")),
    }
}
