//! Packs: the values that one run extracted, back to back in one file. A file per value would cost
//! a hundred times its bytes. One process writes a pack once; only a sweep changes it, by making
//! holes, so what stays keeps its offset.
//!
//! An object's id is its location: `<sha256>-<pack>-<offset>-<length>`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::object::{Digest, Id};
use super::{make, named, settle};
use base::atomic::NO_WAIT;
use base::clock;
use base::disk;

/// The folder of the packs, inside that of extracted content.
pub const NAME: &str = "objects";

/// Bytes to write at a time.
const BUFFER: usize = 256 * 1024;

pub fn path(root: &Path, pack: u64) -> PathBuf {
    root.join(NAME).join(format!("{pack}.pack"))
}

/// A pack that is being written.
#[derive(Debug)]
pub struct Pack {
    number: u64,
    out: BufWriter<File>,
    length: u64,
    /// Offset and length of the content already in it, by digest: duplicates are stored once.
    there: HashMap<Digest, (u64, u64)>,
}

impl Pack {
    /// Creates a pack.
    pub fn begin(root: &Path) -> io::Result<Self> {
        make(&root.join(NAME))?;
        let mut number = clock::now().timestamp_nanos_opt().unwrap_or_default().unsigned_abs();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        loop {
            let path = path(root, number);
            match options.open(&path) {
                Ok(file) => {
                    let out = BufWriter::with_capacity(BUFFER, file);
                    return Ok(Self { number, out, length: 0, there: HashMap::new() });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(e) => return Err(named(&path, &e)),
            }
        }
    }

    /// Appends content, unless the pack already has it.
    pub fn put(&mut self, content: &[u8]) -> io::Result<Id> {
        let (digest, pack) = (Digest::of(content), self.number);
        let (offset, length) = match self.there.entry(digest) {
            Entry::Occupied(there) => *there.get(),
            Entry::Vacant(new) => {
                self.out.write_all(content).map_err(|e| failed(pack, &e))?;
                let place = (self.length, content.len() as u64);
                self.length += place.1;
                *new.insert(place)
            }
        };
        Ok(Id { digest, pack, offset, length })
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// Flushes the buffer to the operating system.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|e| failed(self.number, &e))
    }
}

fn failed(pack: u64, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("{pack}.pack: {why}"))
}

/// The pack that was last read, with its number: most values of a session are in one.
pub type Open = Option<(u64, File)>;

/// Reads content and verifies it; its pack stays open.
pub fn get(root: &Path, known: &mut Open, id: &Id) -> io::Result<Vec<u8>> {
    let path = path(root, id.pack);
    let gone = || {
        let why = format!("{}: this extracted content is gone", path.display());
        io::Error::new(io::ErrorKind::NotFound, why)
    };
    if known.as_ref().is_none_or(|(pack, _)| *pack != id.pack) {
        let file = match open(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(gone()),
            other => other.map_err(|e| named(&path, &e))?,
        };
        *known = Some((id.pack, file));
    }
    let Some((_, file)) = known else { return Err(gone()) };
    let meta = file.metadata()?;
    if meta.nlink() == 0 {
        // A sweep removed the pack, or somebody replaced it.
        *known = None;
        return if path.exists() { get(root, known, id) } else { Err(gone()) };
    }
    let within = meta.len() >= id.offset + id.length;
    let mut content = vec![0; if within { id.length as usize } else { 0 }];
    file.read_exact_at(&mut content, id.offset).map_err(|e| named(&path, &e))?;
    if within && Digest::of(&content) == id.digest {
        return Ok(content);
    }
    if within && content.iter().all(|byte| *byte == 0) {
        return Err(gone());
    }
    let why = format!(
        "{}: damaged: the content at byte {} does not match its digest; restore this file from a backup",
        path.display(),
        id.offset
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Whether an object is still there, by its first byte: JSON never begins with a zero byte.
pub fn is_there(file: &File, id: &Id) -> bool {
    let mut first = [0];
    id.length > 0 && file.read_exact_at(&mut first, id.offset).is_ok() && first != [0]
}

/// Checks that objects exist, and syncs their packs. For the pack `own`, which was just written,
/// its length is enough.
pub fn sync(root: &Path, own: Option<u64>, ids: &mut dyn Iterator<Item = Id>) -> io::Result<()> {
    let mut packs: HashMap<u64, (PathBuf, File, u64)> = HashMap::new();
    for id in ids {
        let (path, file, end) = match packs.entry(id.pack) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let path = path(root, id.pack);
                let file = open(&path).map_err(|e| named(&path, &e))?;
                let end = file.metadata()?.len();
                new.insert((path, file, end))
            }
        };
        let whole = id.offset + id.length <= *end;
        let there = || own == Some(id.pack) || id.length == 0 || is_there(file, &id);
        if !whole || !there() {
            return Err(named(path, &io::ErrorKind::NotFound.into()));
        }
    }
    for (path, file, _) in packs.values() {
        file.sync_all().map_err(|e| named(path, &e))?;
    }
    if packs.is_empty() { Ok(()) } else { settle(&root.join(NAME)) }
}

/// All packs, by number and path. An unreadable path is an error, because it may be a pack.
pub fn all(root: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for path in super::entries(&root.join(NAME))? {
        let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".pack"));
        let Some(number) = name.and_then(|name| name.parse().ok()) else { continue };
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_file() => found.push((number, path)),
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(named(&path, &e)),
            _ => {}
        }
    }
    Ok(found)
}

/// Opens a pack for reading.
pub fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(NO_WAIT).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a regular file"));
    }
    Ok(file)
}

/// Frees the disk space outside of `kept`, ranges of offset and length. It reads as zeros then.
pub fn punch(path: &Path, kept: &mut [(u64, u64)]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).custom_flags(NO_WAIT).open(path)?;
    let end = file.metadata()?.len();
    kept.sort_unstable();
    let mut from = 0;
    for (offset, length) in kept.iter().copied().chain([(end, 0)]) {
        if offset > from && disk::punch_hole(&file, from, offset - from).is_err() {
            // The file system has no holes: overwrite the content instead.
            zeros(&file, from, offset)?;
        }
        from = from.max(offset + length);
    }
    file.sync_all()
}

fn zeros(file: &File, mut from: u64, to: u64) -> io::Result<()> {
    let zeros = vec![0; BUFFER];
    while from < to {
        let piece = zeros.len().min((to - from) as usize);
        file.write_all_at(&zeros[..piece], from)?;
        from += piece as u64;
    }
    Ok(())
}
