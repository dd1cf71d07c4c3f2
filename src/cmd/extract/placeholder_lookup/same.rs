//! Which rows are the same rows as another session's. A plain placeholder names an entry and
//! nothing else: any session may have a text like it in an entry of that id.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::cmd::extract::source::{self, Source};
use extract::entry::Entries;
use extract::placeholder;
use sessions::span;
use store::blocks::Root;
use store::extracted::{Extract, Kin, Record, Shared};

/// Rows by their ids, each with what [`written`] says of it.
pub type Rows = HashMap<String, Option<String>>;

/// When a row was written, as it says itself: what is copied keeps it, to the letter.
pub fn written(line: &[u8]) -> Option<String> {
    let time = span::find(line, "timestamp")?;
    std::str::from_utf8(time).ok().map(ToOwned::to_owned)
}

/// Leaves of what other ledgers say of `rows` what is sure to be of them. Of a plain placeholder
/// that is: its session's file has the row with that id and time, or is gone. Where such a file
/// can't be read, that is told with the rows.
pub fn leave(source: &Source, rows: &Rows, kin: &mut Kin) {
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
            look(source, &of.file, rows).unwrap_or_else(|e| Proven::Unread(e.to_string()))
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

/// Rows that are in another file, too.
enum Proven {
    /// There is nothing that could speak against it.
    All,
    /// These.
    Rows(HashSet<String>),
    /// It can't be read.
    Unread(String),
}

fn look(source: &Source, file: &Path, rows: &Rows) -> io::Result<Proven> {
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
            if here.is_some_and(|here| written(line).as_ref() == Some(here)) {
                found.insert(entry.id);
            }
        }
        Ok(())
    });
    read.map_err(|e| named(e.to_string()))?;
    Ok(Proven::Rows(found))
}
