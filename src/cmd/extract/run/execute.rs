//! An extraction: content into the store, the ledger, then the session; each is on the disk
//! before the next is touched. One way through the session: what is written of it meanwhile lies
//! beside it, and takes its place behind all that.

use std::cell::{Cell, RefCell};
use std::io;

use crate::cmd::extract::planned::{Done, Planned};
use crate::cmd::extract::redact::Asked;
use crate::cmd::extract::source::Source;
use crate::cmd::extract::{placeholder_lookup, progress, read, record, told};
use base::clock::Time;
use extract::edit;
use extract::plan::Item;
use sessions::files::Refused;
use sessions::settings::ExtractSettings;
use sessions::span::Span;
use store::extracted::{Digest, Extract, Ledger, Object, Record, Shared, Word};

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
    if !planned.read.live.is_empty() {
        read::adopt(source, &planned.read);
    }
    if plan.items.is_empty() {
        return Ok(Done::default());
    }
    let work = Work {
        source,
        settings,
        now,
        items: &plan.items,
        asked: Asked::of(&planned.read.ledger, settings),
        ledger: &planned.read.ledger,
        put: RefCell::new(Vec::with_capacity(plan.items.len())),
        moved: Cell::new(false),
    };
    // No content may be removed between the store and the session.
    let _held = source.extracted.hold()?;
    let bar = progress::bar(&source.path);
    let mut at = 0;
    let edited = source.file.edit(planned.read.stamp, &mut |row, line| {
        bar.inc(line.len() as u64);
        work.row(row, line, &mut at)
    });
    bar.finish_and_clear();
    if edited.is_err() {
        source.extracted.forsake();
    }
    match edited {
        // What was planned is not what is there: somebody wrote it since.
        Err(Refused::Io(_)) if work.moved.get() => {
            Err(Refused::Changed(source.path.display().to_string()).into())
        }
        Err(refused) => Err(refused.into()),
        Ok(edited) => {
            told(edited.left);
            Ok(work.tell())
        }
    }
}

/// What was put in a value's place.
struct Put {
    /// Where the value is.
    object: Object,
    placeholder: Digest,
    /// Bytes of the placeholder.
    bytes: u64,
}

struct Work<'a> {
    source: &'a Source,
    settings: &'a ExtractSettings,
    now: Time,
    items: &'a [Item],
    asked: Asked,
    ledger: &'a Ledger,
    /// Of each item; none where the value stays after all.
    put: RefCell<Vec<Option<Put>>>,
    moved: Cell<bool>,
}

impl Work<'_> {
    /// The row with its placeholders, where it gets some; `at` is the next item. What they
    /// stand for is in the store then, and with the last item all of it is on the disk and in
    /// the ledger: the session is replaced behind its last row.
    fn row(&self, row: u64, line: &[u8], at: &mut usize) -> io::Result<Option<Vec<u8>>> {
        let mut put = self.put.borrow_mut();
        let before = put.len();
        let mut places: Vec<(Span, Vec<u8>)> = Vec::new();
        let mut last: Option<(&[u8], Object)> = None;
        while let Some(item) = self.items.get(*at).filter(|item| item.row == row) {
            *at += 1;
            // Planning found a value there, and by its stamp the file is the same: that it is one
            // still need not be read again, as what a row must keep is seen to once more.
            let json = line.get(item.span.start..item.span.end).unwrap_or_default();
            if !edit::is_whole(json) {
                return Err(self.is_moved());
            }
            let Some(placeholder) = self.placeholder(item, json) else {
                put.push(None);
                continue;
            };
            // What a tool printed mostly stands in the row twice.
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

    /// The object of this value, where an earlier run put it: one whose session could not be
    /// written, or what was restored since.
    fn kept(&self, item: &Item, placeholder: &[u8], json: &[u8]) -> Option<Object> {
        let fitting = self.ledger.fitting(&item.entry, &item.key, placeholder);
        let object = &fitting.first()?.object;
        self.source.extracted.has(object, json).then(|| object.clone())
    }

    /// Content on the disk, then the ledger.
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
        let put = read::put(self.source, item, json, self.settings.placeholder)?;
        Some(placeholder_lookup::apart(self.ledger, &item.entry, &item.key, put, json))
    }

    fn is_moved(&self) -> io::Error {
        self.moved.set(true);
        io::Error::other("it is not what was read")
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
