//! The ledger of a session: what was extracted and restored, a line of JSON each, append-only.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{digest, named, settle};
use crate::clock::Time;
use crate::store::atomic::NO_WAIT;

/// Its file in the session's folder.
pub const NAME: &str = "ledger.jsonl";

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "kebab-case")]
pub enum Record {
    /// A value went into the store.
    Extract {
        /// Its entry.
        entry: String,
        /// Its key.
        key: String,
        /// The id of the object: the SHA-256 of its raw JSON, and where that is kept.
        object: String,
        /// Bytes of it.
        bytes: u64,
        /// SHA-256 of the raw JSON that was put in its place: [`Record::digest`].
        placeholder: String,
        /// Its tool, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// `thinking`, `tool_result`, …
        trigger: String,
        /// When.
        at: Time,
        /// The session's file.
        file: PathBuf,
        /// The row it is in, where that has another id than the entry: placeholders that a new
        /// session of Claude Code's takes over name the rows of the sessions before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row: Option<String>,
    },
    /// Values came back.
    Restore {
        /// Their entry.
        entry: String,
        /// Their keys.
        keys: Vec<String>,
        /// When.
        at: Time,
        /// The call that asked was redacted.
        redacted: bool,
    },
    /// Somebody said of an entry whether it may be extracted, while its row could not be written.
    Set {
        /// The entry, by the id of its row.
        entry: String,
        /// What `_extractable` would be in the row: true, false, a number of messages; null takes
        /// back what was said.
        value: Value,
        /// When.
        at: Time,
        /// The session's file.
        file: PathBuf,
        /// The row says it itself now, or what holds: what was said before is over.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_row: bool,
    },
}

impl Record {
    /// What a record says of a placeholder's JSON.
    pub fn digest(json: &[u8]) -> String {
        digest(json)
    }

    /// The entry it is about.
    pub fn entry(&self) -> &str {
        match self {
            Self::Extract { entry, .. } | Self::Restore { entry, .. } | Self::Set { entry, .. } => {
                entry
            }
        }
    }

    /// When it was.
    pub fn at(&self) -> Time {
        match self {
            Self::Extract { at, .. } | Self::Restore { at, .. } | Self::Set { at, .. } => *at,
        }
    }
}

/// What a ledger says of each value.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// In their order.
    pub records: Vec<Record>,
    /// Where in `records` those of an entry are.
    by_entry: HashMap<String, Vec<usize>>,
}

impl Ledger {
    /// One that says this.
    pub fn of(records: Vec<Record>) -> Self {
        let mut by_entry: HashMap<String, Vec<usize>> = HashMap::new();
        for (n, record) in records.iter().enumerate() {
            match by_entry.get_mut(record.entry()) {
                Some(places) => places.push(n),
                None => drop(by_entry.insert(record.entry().to_owned(), vec![n])),
            }
        }
        Self { records, by_entry }
    }

    /// The extraction that put this JSON at (entry, key), where one did: then it is a placeholder.
    pub fn placeholder(&self, entry: &str, key: &str, json: &[u8]) -> Option<&Record> {
        let of_key =
            |record: &&Record| matches!(record, Record::Extract { key: of, .. } if of == key);
        let mut there = self.newest_first(entry).filter(of_key).peekable();
        there.peek()?;
        let put = digest(json);
        there.find(
            |record| matches!(record, Record::Extract { placeholder, .. } if *placeholder == put),
        )
    }

    /// The last extraction of each value of an entry, in the order of the keys. Whether its
    /// placeholder still is in the session only [`Ledger::placeholder`] says.
    pub fn of_entry(&self, entry: &str) -> Vec<&Record> {
        let mut last: Vec<(&str, &Record)> = Vec::new();
        for record in self.newest_first(entry) {
            if let Record::Extract { key, .. } = record
                && last.iter().all(|(of, _)| of != key)
            {
                last.push((key, record));
            }
        }
        last.sort_by_key(|(key, _)| *key);
        last.into_iter().map(|(_, record)| record).collect()
    }

    /// When an entry was restored last.
    pub fn restored(&self, entry: &str) -> Option<Time> {
        self.newest_first(entry).find_map(|record| match record {
            Record::Restore { at, .. } => Some(*at),
            Record::Extract { .. } | Record::Set { .. } => None,
        })
    }

    /// What was said last of whether an entry may be extracted, where its row doesn't say it
    /// itself: null takes back what that says.
    pub fn said(&self, entry: &str) -> Option<&Value> {
        let last = self.newest_first(entry).find_map(|record| match record {
            Record::Set { value, in_row, .. } => Some((value, *in_row)),
            Record::Extract { .. } | Record::Restore { .. } => None,
        });
        last.filter(|(_, in_row)| !in_row).map(|(value, _)| value)
    }

    fn newest_first(&self, entry: &str) -> impl Iterator<Item = &Record> {
        let places = self.by_entry.get(entry).map(Vec::as_slice).unwrap_or_default();
        places.iter().rev().filter_map(|n| self.records.get(*n))
    }
}

/// The objects that records name.
pub fn objects(records: &[Record]) -> impl Iterator<Item = &str> {
    records.iter().filter_map(|record| match record {
        Record::Extract { object, .. } => Some(object.as_str()),
        Record::Restore { .. } | Record::Set { .. } => None,
    })
}

/// [`super::Extracted::ledger`].
pub fn read(folder: &Path) -> io::Result<Ledger> {
    let path = folder.join(NAME);
    let file = match OpenOptions::new().read(true).custom_flags(NO_WAIT).open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Ledger::default()),
        Err(e) => return Err(named(&path, &e)),
    };
    let mut reader = BufReader::new(file);
    let (mut records, mut line) = (Vec::new(), Vec::new());
    for number in 1_u64.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(|e| named(&path, &e))? == 0 {
            break;
        }
        match serde_json::from_slice(&line) {
            Ok(record) => records.push(record),
            Err(_) if line.last() != Some(&b'\n') => break,
            Err(e) => {
                let why = format!(
                    "{}: line {number} is no record of the ledger ({e}); repair or remove that line",
                    path.display()
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        }
    }
    Ok(Ledger::of(records))
}

/// Appends records, synced. Whoever does it holds the session's lock.
pub fn append(folder: &Path, records: &[Record]) -> io::Result<()> {
    let path = folder.join(NAME);
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)?;
        lines.push(b'\n');
    }
    let new = !path.exists();
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(NO_WAIT);
    let mut file = options.open(&path).map_err(|e| named(&path, &e))?;
    let before = mend(&mut file).map_err(|e| named(&path, &e))?;
    let written = file.write_all(&lines).and_then(|()| file.sync_all());
    if let Err(e) = written {
        // Half a record would be passed over as well; the error that counts is the one above.
        let _ = file.set_len(before);
        return Err(named(&path, &e));
    }
    if new { settle(folder) } else { Ok(()) }
}

/// Makes the file end with a line break, and gives its length: a last line that is a whole
/// record gets one, one that is torn is cut off.
fn mend(file: &mut File) -> io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    if length == 0 {
        return Ok(0);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    if last == [b'\n'] {
        return Ok(length);
    }
    file.rewind()?;
    let (mut reader, mut line, mut begins) = (BufReader::new(&mut *file), Vec::new(), 0);
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)? as u64;
        if line.last() != Some(&b'\n') {
            break;
        }
        begins += read;
    }
    if serde_json::from_slice::<Record>(&line).is_ok() {
        file.write_all(b"\n")?;
        return Ok(length + 1);
    }
    file.set_len(begins)?;
    Ok(begins)
}
