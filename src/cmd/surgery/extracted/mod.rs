//! Extracts values while a new session is written. Chosen values go into the store, and
//! placeholders that are already in the sources stay. The new session's ledger has what was found
//! in the rows actually written.

mod shown;
mod source;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::source::Store;
use base::clock::Time;
use base::lock::Lock;
use extract::edit;
use extract::placeholder::Names;
use extract::plan::Item;
use extract::redact;
use sessions::cost::Cost;
use sessions::dialect::{Claude, Dialect as _, Scratch};
use sessions::rows::{Edit, Rows};
use store::extracted::{Extract, Extracted, Object, Record, Shared, Word, Words};
use surgery::ids;
use surgery::plan::{Place, Plan};
use surgery::values::{self, Taken};

pub use shown::Shown;
use source::Source;

/// The values to extract from a plan's session.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// The values, sorted by row id.
    items: Vec<Item>,
    /// Whether restore calls are redacted.
    pub redact: bool,
    /// What it costs to extract them.
    pub cost: Option<Cost>,
}

impl Chosen {
    /// The items of an extraction plan.
    pub fn of_plan(mut items: Vec<Item>, redact: bool, cost: Cost) -> Self {
        // The sort is stable, so values of a row stay in order.
        items.sort_by(|a, b| a.entry.cmp(&b.entry));
        // Only the first of several rows with the same id is copied.
        items.dedup_by(|item, first| item.entry == first.entry && item.row != first.row);
        items.shrink_to_fit();
        Self { items, redact, cost: Some(cost) }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The values in the row with this id.
    pub fn of(&self, id: &str) -> &[Item] {
        let from = self.items.partition_point(|item| *item.entry < *id);
        let behind = &self.items[from..];
        &behind[..behind.partition_point(|item| *item.entry == *id)]
    }
}

/// The new session's extracted values, by the id of their new row and their key.
type Values = BTreeMap<(Word, Word), Value>;

#[derive(Debug, Clone)]
struct Value {
    extract: Shared<Extract>,
    /// Whether it is extracted now, not before.
    fresh: bool,
    /// Whether its placeholder was written, or it has none.
    written: bool,
    /// Its position in the order of extraction.
    number: usize,
}

/// Extracts values into one new session.
pub struct Keeper<'c> {
    chosen: &'c Chosen,
    /// The new session's ledger, by its id and by its file name; none in a dry run.
    extracted: Vec<(Extracted, PathBuf)>,
    /// Keeps sweeps away until the session has its name.
    held: Option<Lock>,
    sources: Vec<Source>,
    names: Names,
    at: Time,
    values: Values,
    /// Shared strings of keys and tools.
    words: Words,
    /// An empty path; the ledger gets the real one.
    nowhere: Shared<Path>,
    /// The ids of rows with values.
    ids: ids::Keys,
    scratch: Scratch,
}

impl<'c> Keeper<'c> {
    /// For a plan that becomes the session `id` in `path`.
    ///
    /// # Errors
    /// A ledger that cannot be read.
    pub fn of(
        store: &Store,
        plan: &Plan,
        id: &str,
        path: &Path,
        now: Time,
        chosen: &'c Chosen,
        dry_run: bool,
    ) -> anyhow::Result<Self> {
        let source = |session| Source::of(store, id, session);
        let sources = plan.sessions.iter().map(source).collect::<anyhow::Result<Vec<_>>>()?;
        let extracted = if dry_run { Vec::new() } else { source::places(store, id, path) };
        Ok(Self {
            chosen,
            extracted,
            held: None,
            names: sources.iter().flat_map(Source::entries).collect(),
            sources,
            at: now,
            values: Values::new(),
            words: Words::default(),
            nowhere: Path::new("").into(),
            ids: ids::Keys::default(),
            scratch: Scratch::default(),
        })
    }

    /// Whether there is nothing to do.
    fn idle(&self) -> bool {
        self.chosen.is_empty() && self.sources.iter().all(Source::is_empty)
    }

    /// Starts, or starts over.
    ///
    /// # Errors
    /// A store that is being swept.
    fn begin(&mut self) -> io::Result<()> {
        self.values.clear();
        self.ids.clear();
        if self.idle() {
            return Ok(());
        }
        if let (None, Some((extracted, _))) = (&self.held, self.extracted.first()) {
            self.held = Some(extracted.hold()?);
        }
        // Copies the records of values without a placeholder. Their place is unknown, so a session
        // made from only some of the rounds gets them, too.
        let gone: Vec<_> = self.sources.iter().flat_map(Source::gone).collect();
        for extract in gone {
            self.carry(extract, None);
        }
        Ok(())
    }

    /// Edits the rows of a round for the new session.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn rows(&mut self, place: Place, rows: &mut Rows) -> io::Result<()> {
        if self.idle() {
            return Ok(());
        }
        rows.edit(|line| {
            let lean = self.row(place, line)?;
            if let Some(values::Lean { line: None, .. }) = lean {
                return Ok(Edit::Gone);
            }
            let lean = lean.and_then(|lean| lean.line);
            let lean = self.redacted(place, lean.as_deref().unwrap_or(line)).or(lean);
            Ok(lean.map_or(Edit::Stays, Edit::Becomes))
        })
    }

    /// The row with its restore calls redacted; `None` if it has none.
    fn redacted(&self, place: Place, line: &[u8]) -> Option<Vec<u8>> {
        let source = self.sources.get(place.session).filter(|_| self.chosen.redact)?;
        redact::row(line, &|asked| source.asked(asked))
    }

    fn row(&mut self, place: Place, line: &[u8]) -> io::Result<Option<values::Lean>> {
        let Some(source) = self.sources.get(place.session) else { return Ok(None) };
        let id = Claude.row(line, &mut self.scratch).id.map(str::to_owned);
        let Some(id) = id else { return Ok(None) };
        let items = if place.session == 0 { self.chosen.of(&id) } else { &[] };
        if items.is_empty() && !source.has(&id) {
            return Ok(None);
        }
        let fresh = source.fresh(&id);
        let before = source.standing(&id, line);
        let lean =
            if items.is_empty() { None } else { values::row(line, items, self.names.of(&id)) };
        let gone = lean.as_ref().map_or(&[][..], |lean| &lean.gone);
        for extract in before {
            self.carry(extract, Some((&fresh, gone)));
        }
        for taken in lean.iter().flat_map(|lean| &lean.taken) {
            self.take(&id, &fresh, taken, taken.at.slice(line))?;
        }
        Ok(lean)
    }

    /// Puts a value into the store. The record keeps the entry's id from the source, as the
    /// placeholder's text does, also in later successors.
    fn take(&mut self, entry: &str, row: &str, taken: &Taken, json: &[u8]) -> io::Result<()> {
        let object = match self.extracted.first() {
            Some((extracted, _)) => extracted.put(json)?,
            None => Object::from(Record::digest(json).to_string().as_str()),
        };
        let empty = taken.placeholder.is_empty();
        let extract = Extract {
            entry: entry.into(),
            key: self.words.word(&taken.key),
            object,
            bytes: json.len() as u64,
            placeholder: (!empty).then(|| Record::digest(&taken.placeholder)),
            tool: taken.tool.as_deref().map(|tool| self.words.word(tool)),
            trigger: self.words.word(taken.trigger.name()),
            at: self.at,
            file: self.nowhere.clone(),
            row: Some(row.into()),
        };
        self.add(extract.into(), true);
        Ok(())
    }

    /// Copies a record from a source's ledger. The placeholder stays unchanged, so the prompt cache
    /// stays valid.
    fn carry(&mut self, mut extract: Shared<Extract>, to: Option<(&str, &[usize])>) {
        if let Some((fresh, gone)) = to {
            let extract = extract.make_mut();
            extract.row = Some(fresh.into());
            extract.key = values::shifted(&extract.key, gone).into();
        }
        self.add(extract, false);
    }

    fn add(&mut self, extract: Shared<Extract>, fresh: bool) {
        let number = self.values.len();
        let written = extract.placeholder.is_none();
        self.ids.insert(ids::key(extract.row()));
        let row = extract.row.as_ref().unwrap_or(&extract.entry).clone();
        self.values.insert((row, extract.key.clone()), Value { extract, fresh, written, number });
    }

    /// Marks the values whose placeholders are in a written row.
    fn written(&mut self, line: &[u8]) {
        let id = Claude.row(line, &mut self.scratch).id;
        let Some(id) = id.filter(|id| self.ids.contains(&ids::key(id))) else { return };
        let all = self.values.range_mut((Word::from(id), Word::from(""))..);
        for ((_, key), value) in all.take_while(|((row, _), _)| **row == *id) {
            let json = edit::locate(line, key).map(|at| at.slice(line));
            let put = json.map(Record::digest);
            value.written |= put.is_some() && put == value.extract.placeholder;
        }
    }

    /// The values extracted now, in order.
    pub fn taken(&self) -> Vec<Record> {
        self.records(|value| value.fresh)
    }

    fn records(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Record> {
        let mut all: Vec<&Value> =
            self.values.values().filter(|value| value.written && wanted(value)).collect();
        all.sort_by_key(|value| value.number);
        all.into_iter().map(|value| Record::Extract(value.extract.clone())).collect()
    }

    /// Writes the ledger before the session gets its name.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn keep(&self) -> io::Result<()> {
        let mut records = self.records(|_| true);
        records.extend(self.sources.iter().flat_map(Source::said));
        for (extracted, at) in &self.extracted {
            let at = Shared::from(at.as_path());
            for record in &mut records {
                match record {
                    Record::Extract(extract) => extract.make_mut().file = at.clone(),
                    Record::Set(set) => set.file = at.clone(),
                    Record::Restore { .. } => {}
                }
            }
            extracted.add(&records)?;
        }
        Ok(())
    }
}

impl Drop for Keeper<'_> {
    /// Removes stored content that no record names, in case the session was not made.
    fn drop(&mut self) {
        for (extracted, _) in &self.extracted {
            extracted.discard_unnamed();
        }
    }
}
