//! An extraction: content into the store, the ledger, then the session; each is on the disk
//! before the next is touched.

use std::cell::{Cell, RefCell};
use std::io;

use super::{Done, Planned};
use crate::clock::Time;
use crate::cmd::extract::redact::Asked;
use crate::cmd::extract::source::Source;
use crate::cmd::extract::{progress, read, record};
use crate::extract::edit;
use crate::extract::plan::Item;
use crate::settings::ExtractSettings;
use crate::store::extracted::Record;
use crate::store::sessions::Refused;
use crate::transcript::span::Span;

/// Records that are kept in memory before they go into the ledger.
const RECORDS: usize = 4_096;

/// Extracts what was planned.
///
/// # Errors
/// A [`Refused`], to be downcast to: the session is as it was.
pub fn execute(
    source: &Source,
    settings: &ExtractSettings,
    now: Time,
    planned: &Planned,
) -> anyhow::Result<Done> {
    let plan = &planned.plan;
    if plan.items.is_empty() {
        return Ok(Done::default());
    }
    let work = Work {
        source,
        settings,
        now,
        items: &plan.items,
        asked: Asked::of(&planned.read.ledger, settings),
        put: RefCell::new(Vec::with_capacity(plan.items.len())),
        moved: Cell::new(false),
    };
    // No content may be removed between the store and the session.
    let _held = source.extracted.hold()?;
    let bar = progress::bar(&source.path);
    let mut at = 0;
    let edited = source.file.edit(planned.read.stamp, &mut || work.store(), &mut |row, line| {
        bar.inc(line.len() as u64);
        work.row(row, line, &mut at)
    });
    bar.finish_and_clear();
    match edited {
        // What was planned is not what is there: somebody wrote it since.
        Err(Refused::Io(_)) if work.moved.get() => {
            Err(Refused::Changed(source.path.display().to_string()).into())
        }
        Err(refused) => Err(refused.into()),
        Ok(()) => Ok(work.tell()),
    }
}

/// What was put in a value's place.
struct Put {
    /// Digest of its JSON; empty where the value stays after all.
    digest: String,
    /// Bytes of it.
    bytes: u64,
}

struct Work<'a> {
    source: &'a Source,
    settings: &'a ExtractSettings,
    now: Time,
    items: &'a [Item],
    asked: Asked,
    put: RefCell<Vec<Put>>,
    moved: Cell<bool>,
}

impl Work<'_> {
    /// Keeps everything that is planned, then says so in the ledger.
    fn store(&self) -> io::Result<()> {
        let mut put = self.put.borrow_mut();
        put.clear();
        let mut records = Vec::new();
        let mut items = self.items.iter().peekable();
        let extracted = &self.source.extracted;
        self.source.file.rows(&mut |row, line| {
            while let Some(item) = items.next_if(|item| item.row == row) {
                let json = item.span.of(line);
                // Only what can be found again by its key may leave the session.
                let there = edit::locate(line, &item.key) == Some(item.span);
                let placeholder = self.placeholder(item, json).filter(|_| there);
                let Some(placeholder) = placeholder else {
                    put.push(Put { digest: String::new(), bytes: 0 });
                    continue;
                };
                let digest = Record::digest(&placeholder);
                records.push(Record::Extract {
                    entry: item.entry.clone(),
                    key: item.key.clone(),
                    object: extracted.put(json)?,
                    bytes: json.len() as u64,
                    placeholder: digest.clone(),
                    tool: item.tool.clone(),
                    trigger: item.trigger.name().to_owned(),
                    at: self.now,
                    file: self.source.place(),
                    row: None,
                });
                put.push(Put { digest, bytes: placeholder.len() as u64 });
                if records.len() >= RECORDS {
                    extracted.add(&std::mem::take(&mut records))?;
                }
            }
            Ok(())
        })?;
        if items.next().is_some() {
            return Err(self.is_moved());
        }
        extracted.add(&records)
    }

    /// The row with its placeholders, where it gets some; `at` is the next item.
    fn row(&self, row: u64, line: &[u8], at: &mut usize) -> io::Result<Option<Vec<u8>>> {
        let put = self.put.borrow();
        let mut places: Vec<(Span, Vec<u8>)> = Vec::new();
        while let Some(item) = self.items.get(*at).filter(|item| item.row == row) {
            let planned = &put[*at];
            *at += 1;
            if planned.digest.is_empty() {
                continue;
            }
            // Only what went into the store may leave the session.
            let placeholder = self
                .placeholder(item, item.span.of(line))
                .filter(|json| Record::digest(json) == planned.digest)
                .ok_or_else(|| self.is_moved())?;
            places.push((item.span, placeholder));
        }
        if places.is_empty() {
            return Ok(self.asked.row(row, line));
        }
        places.sort_by_key(|(span, _)| span.start);
        let lean = edit::replaced(line, &places);
        Ok(Some(self.asked.row(row, &lean).unwrap_or(lean)))
    }

    fn placeholder(&self, item: &Item, json: &[u8]) -> Option<Vec<u8>> {
        read::put(self.source, item, json, self.settings.placeholder)
    }

    fn is_moved(&self) -> io::Error {
        self.moved.set(true);
        io::Error::other("it is not what was read")
    }

    /// Counts what was done, and logs it by entry.
    fn tell(&self) -> Done {
        let put = self.put.borrow();
        let mut done = Done::default();
        let items: Vec<(&Item, &Put)> = self.items.iter().zip(put.iter()).collect();
        for of_entry in items.chunk_by(|(a, _), (b, _)| a.row == b.row) {
            let mut values = Vec::new();
            for (item, put) in of_entry.iter().filter(|(_, put)| !put.digest.is_empty()) {
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
