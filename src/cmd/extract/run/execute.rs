//! Runs an extraction: content goes into the store, then the ledger, then the session changes. Each
//! step is on disk before the next. One pass writes the new session beside the old one, and the
//! last step replaces it.

use std::cell::{Cell, RefCell};
use std::io;

use crate::cmd::extract::planned::{Done, Planned};
use crate::cmd::extract::redact::Asked;
use crate::cmd::extract::source::Source;
use crate::cmd::extract::{read, record, report_left_rows};
use crate::cmd::progress;
use base::clock::Time;
use extract::edit;
use extract::placeholder::{self, About, Names};
use extract::plan::Item;
use sessions::files::Refused;
use sessions::settings::ExtractSettings;
use sessions::span::Span;
use store::extracted::{Digest, Extract, Ledger, Object, Record, Shared, Word};

/// Extracts what was planned.
///
/// # Errors
/// A [`Refused`] to downcast to: the session is unchanged.
pub fn execute(
    source: &Source,
    settings: &ExtractSettings,
    now: Time,
    planned: &Planned,
) -> anyhow::Result<Done> {
    let plan = &planned.plan;
    if !planned.read.live.is_empty() {
        read::adopt_records(source, &planned.read);
    }
    if plan.items.is_empty() {
        return Ok(Done::default());
    }
    let work = Work {
        source,
        now,
        items: &plan.items,
        asked: Asked::of(&planned.read.ledger, settings),
        names: RefCell::new(planned.read.ledger.entries().collect()),
        ledger: &planned.read.ledger,
        put: RefCell::new(Vec::with_capacity(plan.items.len())),
        moved: Cell::new(false),
    };
    // No sweep may remove content before the session has its placeholders.
    let _held = source.extracted.hold()?;
    let bar = progress::of_file(&source.path);
    let mut at = 0;
    let edited = source.file.edit(planned.read.stamp, &mut |row, line| {
        bar.inc(line.len() as u64);
        work.row(row, line, &mut at)
    });
    bar.finish_and_clear();
    if edited.is_err() {
        source.extracted.discard_unnamed();
    }
    match edited {
        // Another process has written the session since it was planned.
        Err(Refused::Io(_)) if work.moved.get() => {
            Err(Refused::Changed(source.path.display().to_string()).into())
        }
        Err(refused) => Err(refused.into()),
        Ok(edited) => {
            report_left_rows(edited.left);
            Ok(work.tell())
        }
    }
}

/// What replaces a value.
struct Put {
    /// The stored content.
    object: Object,
    placeholder: Digest,
    /// Bytes of the placeholder.
    bytes: u64,
}

struct Work<'a> {
    source: &'a Source,
    now: Time,
    items: &'a [Item],
    asked: Asked,
    ledger: &'a Ledger,
    names: RefCell<Names>,
    /// One per item; `None` if the value stays after all.
    put: RefCell<Vec<Option<Put>>>,
    moved: Cell<bool>,
}

impl Work<'_> {
    /// The row with placeholders, if it gets some; `at` is the next item. The content is then in
    /// the store. After the last item, content and ledger are on disk, before the session is
    /// replaced.
    fn row(&self, row: u64, line: &[u8], at: &mut usize) -> io::Result<Option<Vec<u8>>> {
        let mut put = self.put.borrow_mut();
        let before = put.len();
        let mut places: Vec<(Span, Vec<u8>)> = Vec::new();
        let mut last: Option<(&[u8], Object)> = None;
        while let Some(item) = self.items.get(*at).filter(|item| item.row == row) {
            *at += 1;
            // The stamp proves that the file is the same, so the value need not be parsed again.
            let json = line.get(item.span.start..item.span.end).unwrap_or_default();
            if !edit::is_whole(json) {
                return Err(self.is_moved());
            }
            let Some(placeholder) = self.placeholder(item, json) else {
                put.push(None);
                continue;
            };
            // A row often holds a tool's output twice.
            let known = last.take().filter(|(same, _)| *same == json).map(|(_, id)| id);
            let known = known.or_else(|| self.kept(item, &placeholder, json));
            let object = known.map_or_else(|| self.source.extracted.put(json), Ok)?;
            last = Some((json, object.clone()));
            put.push(Some(Put {
                object,
                placeholder: Record::digest(&placeholder),
                bytes: placeholder.len() as u64,
            }));
            places.push((item.span, placeholder));
        }
        if put.len() > before && *at == self.items.len() {
            self.keep(&put)?;
        }
        if places.is_empty() {
            return Ok(self.asked.row(row, line));
        }
        places.sort_by_key(|(span, _)| span.start);
        let lean = edit::replaced(line, &places);
        Ok(Some(self.asked.row(row, &lean).unwrap_or(lean)))
    }

    /// Finds the value's object if an earlier run stored it: the session could not be written then,
    /// or the value was restored since.
    fn kept(&self, item: &Item, placeholder: &[u8], json: &[u8]) -> Option<Object> {
        let fitting = self.ledger.find_placeholders(&item.entry, &item.key, placeholder);
        let object = &fitting.first()?.object;
        self.source.extracted.has(object, json).then(|| object.clone())
    }

    /// Commits the content to disk, then the ledger.
    fn keep(&self, put: &[Option<Put>]) -> io::Result<()> {
        let mut objects = put.iter().flatten().map(|put| &put.object);
        let file = Shared::from(self.source.place());
        let mut records = self.items.iter().zip(put).filter_map(|(item, put)| {
            let put = put.as_ref()?;
            Some(Record::from(Extract {
                entry: item.entry.as_str().into(),
                key: item.key.as_str().into(),
                object: put.object.clone(),
                bytes: (item.span.end - item.span.start) as u64,
                placeholder: Some(put.placeholder),
                tool: item.tool.as_deref().map(Word::from),
                trigger: item.trigger.name().into(),
                at: self.now,
                file: file.clone(),
                row: None,
            }))
        });
        self.source.extracted.add_all(&mut objects, &mut records)
    }

    fn placeholder(&self, item: &Item, json: &[u8]) -> Option<Vec<u8>> {
        let mut names = self.names.borrow_mut();
        let about = About { entry: names.of(&item.entry), tool: item.tool.as_deref(), json };
        placeholder::json(&about, item.whole)
    }

    fn is_moved(&self) -> io::Error {
        self.moved.set(true);
        io::Error::other("it changed after it was read")
    }

    /// Counts what was done, and logs it by entry.
    fn tell(&self) -> Done {
        let put = self.put.borrow();
        let mut done = Done::default();
        let items: Vec<_> = self.items.iter().zip(put.iter()).collect();
        for of_entry in items.chunk_by(|(a, _), (b, _)| a.row == b.row) {
            let mut values = Vec::new();
            for (item, put) in of_entry {
                let Some(put) = put else { continue };
                let bytes = (item.span.end - item.span.start) as u64;
                values.push((item.key.as_str(), bytes));
                done.bytes += bytes;
                done.freed += bytes.saturating_sub(put.bytes);
            }
            if let Some((first, _)) = of_entry.first().filter(|_| !values.is_empty()) {
                done.entries += 1;
                done.values += values.len() as u64;
                record::extracted(&self.source.name(), &first.entry, &values);
            }
        }
        let (redacted, shorter) = self.asked.done();
        done.redacted = redacted;
        done.freed = done.freed.saturating_add_signed(shorter);
        done
    }
}
