//! Finds rows that were copied from another session. A plain placeholder contains only an entry id,
//! so any session may contain such a text by chance.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::cmd::extract::source::{self, Source};
use extract::entry::Entries;
use extract::placeholder;
use sessions::span;
use store::blocks::Root;
use store::extracted::{Extract, Kin, Record, Shared};

/// Row ids with their timestamps.
pub type Rows = HashMap<String, Option<String>>;

/// A row's timestamp, exactly as written: copies keep it.
pub fn row_time(line: &[u8]) -> Option<String> {
    let time = span::find(line, "timestamp")?;
    std::str::from_utf8(time).ok().map(ToOwned::to_owned)
}

/// Keeps the records that surely apply to `rows`. A plain placeholder's record applies if its
/// session's file has the row with that id and time, or is gone. If that file is unreadable, the
/// row is marked as unsure.
pub fn retain_proven(source: &Source, rows: &Rows, kin: &mut Kin) {
    let plain = |record: &Record| {
        let of = record.extract()?;
        let put = placeholder::plain(&of.entry).map(|json| Record::digest(&json));
        of.placeholder.is_some_and(|of| put.contains(&of)).then(|| of.clone())
    };
    let place = source.place();
    let mut proven: BTreeMap<Shared<Path>, Proven> = BTreeMap::new();
    let mut sure = |of: &Shared<Extract>| {
        let proven = proven.entry(of.file.clone()).or_insert_with(|| {
            if *of.file == *place {
                return Proven::All;
            }
            find_copied_rows(source, &of.file, rows)
                .unwrap_or_else(|e| Proven::Unread(e.to_string()))
        });
        match proven {
            Proven::All => true,
            Proven::Rows(ids) => ids.contains(of.row()),
            Proven::Unread(why) => {
                kin.unsure.insert(of.row().to_owned(), why.clone());
                false
            }
        }
    };
    kin.records.retain(|record| plain(record).is_none_or(|of| sure(&of)));
}

/// The rows that are confirmed to be copies.
enum Proven {
    /// All, because nothing can contradict it.
    All,
    /// The rows with these ids.
    Rows(HashSet<String>),
    /// Unknown, because the file cannot be read.
    Unread(String),
}

fn find_copied_rows(source: &Source, file: &Path, rows: &Rows) -> io::Result<Proven> {
    if source::is_gone(file) {
        return Ok(Proven::All);
    }
    let named = |why: String| io::Error::other(format!("{}: {why}", file.display()));
    let root = source.extracted.root.parent().unwrap_or(&source.extracted.root);
    let other = match source::open(&Root::new(root.to_path_buf()), file, false) {
        Ok(other) => other,
        Err(e) => {
            let gone = e.chain().filter_map(|e| e.downcast_ref::<io::Error>());
            let mut gone = gone.filter(|e| e.kind() == ErrorKind::NotFound);
            return gone.next().map(|_| Proven::All).ok_or_else(|| named(format!("{e:#}")));
        }
    };
    let (mut entries, mut found) = (Entries::default(), HashSet::new());
    let read = other.file.rows(&mut |row, line| {
        entries.row(row, line);
        for entry in entries.found.drain(..) {
            let here = rows.get(&entry.id).and_then(Option::as_ref);
            if here.is_some_and(|here| row_time(line).as_ref() == Some(here)) {
                found.insert(entry.id);
            }
        }
        Ok(())
    });
    read.map_err(|e| named(e.to_string()))?;
    Ok(Proven::Rows(found))
}
