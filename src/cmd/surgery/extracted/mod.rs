//! What was extracted, on its way into a new session: values that are to go are put into the
//! store, and placeholders that stand in the sources already stay what they are. The ledger is
//! the new session's; it has what was seen in the rows that were really written.

mod shown;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::source::Store;
use crate::clock::Time;
use crate::extract::edit;
use crate::extract::plan::Item;
use crate::extract::restore;
use crate::settings::Placeholder;
use crate::store::extracted::{Extracted, Record};
use crate::store::lock::Lock;
use crate::surgery::ids;
use crate::surgery::plan::{Place, Plan};
use crate::surgery::values::{self, Taken, To};
use crate::transcript::dialect::Scratch;
use crate::transcript::rows::Rows;

pub use shown::Shown;
use source::Source;

/// What is to be extracted of a plan's session.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// The values, by their row's id.
    pub items: BTreeMap<String, Vec<Item>>,
    /// The rounds that they are of.
    pub rounds: BTreeSet<u32>,
    /// What their placeholders tell.
    pub form: Placeholder,
    /// Calls that asked for a restore are redacted.
    pub redact: bool,
}

/// Values that the new session has in the store, by the ids of their rows there and their keys.
type Values = BTreeMap<(String, String), Value>;

/// One of them.
#[derive(Debug, Clone)]
struct Value {
    record: Record,
    /// SHA-256 of the JSON in its place; empty where nothing is.
    placeholder: String,
    /// It was taken now, and not before.
    fresh: bool,
    /// Its placeholder was written, or nothing was to be.
    written: bool,
    /// The how many'th it was.
    number: usize,
}

/// Values on their way into one new session.
pub struct Keeper<'c> {
    chosen: &'c Chosen,
    session: String,
    /// The new session's, by its id and by what its file is called; none in a dry run.
    extracted: Vec<(Extracted, PathBuf)>,
    /// Holds the store against being swept, until the session has its name.
    held: Option<Lock>,
    sources: Vec<Source>,
    at: Time,
    values: Values,
    /// Ids of rows that hold some.
    ids: ids::Keys,
    scratch: Scratch,
}

impl<'c> Keeper<'c> {
    /// Of a plan that becomes the session `id` in `path`.
    ///
    /// # Errors
    /// A ledger that can't be read.
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
        let sources = plan.sessions.iter().map(source).collect::<anyhow::Result<_>>()?;
        let extracted = if dry_run { Vec::new() } else { source::places(store, plan, id, path) };
        Ok(Self {
            chosen,
            session: id.to_owned(),
            extracted,
            held: None,
            sources,
            at: now,
            values: Values::new(),
            ids: ids::Keys::default(),
            scratch: Scratch::default(),
        })
    }

    /// Whether there is anything to do at all.
    fn idle(&self) -> bool {
        self.chosen.items.is_empty() && self.sources.iter().all(Source::is_empty)
    }

    /// Begins, perhaps anew.
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
        // What left nothing behind stays known from session to session. Where it stood is not, so
        // a session that is made of a part of the rounds knows it, too.
        let gone: Vec<Record> = self.sources.iter().flat_map(Source::gone).collect();
        for record in gone {
            self.carry(&record, None);
        }
        Ok(())
    }

    /// The rows of a round as they go on.
    ///
    /// # Errors
    /// What the store says.
    pub fn rows(&mut self, place: Place, rows: &mut Rows) -> io::Result<()> {
        if self.idle() {
            return Ok(());
        }
        let mut left = Rows::default();
        let mut changed = false;
        for (number, line) in rows.iter().enumerate() {
            let lean = self.row(place, line)?;
            let gone = matches!(lean, Some(values::Lean { line: None, .. }));
            let lean = lean.and_then(|lean| lean.line);
            let lean = self.redacted(place, lean.as_deref().unwrap_or(line)).or(lean);
            if (gone || lean.is_some()) && !changed {
                changed = true;
                rows.iter().take(number).for_each(|line| left.push(line));
            }
            match lean {
                _ if gone => {}
                Some(lean) => left.push(&lean),
                None if changed => left.push(line),
                None => {}
            }
        }
        if changed {
            *rows = left;
        }
        Ok(())
    }

    /// The row without what it asked a restore with, where it did.
    fn redacted(&self, place: Place, line: &[u8]) -> Option<Vec<u8>> {
        let source = self.sources.get(place.session).filter(|_| self.chosen.redact)?;
        restore::redacted(line, &|asked| source.asked(asked))
    }

    fn row(&mut self, place: Place, line: &[u8]) -> io::Result<Option<values::Lean>> {
        let Some(source) = self.sources.get(place.session) else { return Ok(None) };
        let id = source.dialect.row(line, &mut self.scratch).id.map(str::to_owned);
        let Some(id) = id else { return Ok(None) };
        let items = self.chosen.items.get(&id).filter(|_| place.session == 0);
        if items.is_none() && !source.has(&id) {
            return Ok(None);
        }
        let fresh = source.fresh(&id);
        let before = source.standing(&id, line);
        let to = To { session: &self.session, entry: &id, form: self.chosen.form };
        let lean = items.and_then(|items| values::row(line, items, to));
        let gone = lean.as_ref().map_or(&[][..], |lean| &lean.gone);
        for record in &before {
            self.carry(record, Some((&fresh, gone)));
        }
        for taken in lean.iter().flat_map(|lean| &lean.taken) {
            self.take(&id, &fresh, taken)?;
        }
        Ok(lean)
    }

    /// Puts a value into the store. Its entry is called as in the source: so does the text in
    /// its place, and it stays so in whatever is made of the new session.
    fn take(&mut self, entry: &str, row: &str, taken: &Taken) -> io::Result<()> {
        let object = match self.extracted.first() {
            Some((extracted, _)) => extracted.put(&taken.json)?,
            None => Record::digest(&taken.json),
        };
        let placeholder = if taken.placeholder.is_empty() {
            String::new()
        } else {
            Record::digest(&taken.placeholder)
        };
        let record = Record::Extract {
            entry: entry.to_owned(),
            key: taken.key.clone(),
            object,
            bytes: taken.json.len() as u64,
            placeholder: placeholder.clone(),
            tool: taken.tool.clone(),
            trigger: taken.trigger.name().to_owned(),
            at: self.at,
            file: PathBuf::new(),
            row: Some(row.to_owned()),
        };
        self.add(row, &taken.key, record, placeholder, true);
        Ok(())
    }

    /// Takes over what a source's ledger has. The placeholder stands as it is, so that what the
    /// prompt cache has of it stays good.
    fn carry(&mut self, record: &Record, to: Option<(&str, &[usize])>) {
        let mut record = record.clone();
        let Record::Extract { entry, key, placeholder, row, .. } = &mut record else { return };
        if let Some((fresh, gone)) = to {
            *row = Some(fresh.to_owned());
            *key = values::shifted(key, gone);
        }
        let (of, key) = (row.as_ref().unwrap_or(entry).clone(), key.clone());
        let placeholder = placeholder.clone();
        self.add(&of, &key, record, placeholder, false);
    }

    fn add(&mut self, row: &str, key: &str, record: Record, placeholder: String, fresh: bool) {
        let number = self.values.len();
        let written = placeholder.is_empty();
        self.ids.insert(ids::key(row));
        let value = Value { record, placeholder, fresh, written, number };
        self.values.insert((row.to_owned(), key.to_owned()), value);
    }

    /// Looks at a row as it was written.
    fn written(&mut self, line: &[u8]) {
        let Some(source) = self.sources.first() else { return };
        let id = source.dialect.row(line, &mut self.scratch).id;
        let Some(id) = id.filter(|id| self.ids.contains(&ids::key(id))) else { return };
        let all = self.values.range_mut((id.to_owned(), String::new())..);
        for ((_, key), value) in all.take_while(|((entry, _), _)| entry == id) {
            let json = edit::locate(line, key).map(|at| at.of(line));
            value.written |= json.is_some_and(|json| Record::digest(json) == value.placeholder);
        }
    }

    /// The values that were taken now, in their order.
    pub fn taken(&self) -> Vec<Record> {
        self.records(|value| value.fresh)
    }

    fn records(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Record> {
        let mut all: Vec<&Value> =
            self.values.values().filter(|value| value.written && wanted(value)).collect();
        all.sort_by_key(|value| value.number);
        all.into_iter().map(|value| value.record.clone()).collect()
    }

    /// Writes the ledger, before the session has its name.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep(&self) -> io::Result<()> {
        let mut records = self.records(|_| true);
        records.extend(self.sources.iter().flat_map(Source::said));
        for (extracted, at) in &self.extracted {
            for record in &mut records {
                if let Record::Extract { file, .. } | Record::Set { file, .. } = record {
                    file.clone_from(at);
                }
            }
            extracted.add(&records)?;
        }
        Ok(())
    }
}
