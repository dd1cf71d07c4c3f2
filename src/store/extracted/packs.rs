//! Packs: the content that one run extracted, one value behind the other. A file for each value
//! would cost a hundred times what its bytes do. A pack is written by one process and never
//! again but by a sweep, which makes holes in it: what stays keeps its place.
//!
//! An object's id says where it is: `<sha256>-<pack>-<offset>-<length>`.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{digest, make, named, settle};
use crate::clock;
use crate::store::atomic::NO_WAIT;

/// The folder of the packs below that of what is extracted.
pub const NAME: &str = "objects";

/// Bytes that are written at once where holes can't be made.
const BUFFER: usize = 1024 * 1024;

/// An object's id, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id {
    /// SHA-256 of its content, in hex.
    pub digest: String,
    /// Its pack: when that was begun, in nanoseconds since 1970, so that none is ever named twice.
    pub pack: u64,
    /// Where in the pack it begins.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
}

impl FromStr for Id {
    type Err = io::Error;

    fn from_str(id: &str) -> io::Result<Self> {
        let mut parts = id.split('-');
        let mut read = || {
            let digest = parts.next().filter(|d| d.len() == 64)?.to_owned();
            let mut number = || parts.next()?.parse().ok();
            let found = Self { digest, pack: number()?, offset: number()?, length: number()? };
            (parts.next().is_none() && found.offset.checked_add(found.length).is_some())
                .then_some(found)
        };
        read().ok_or_else(|| {
            let why = format!("`{id}` names no extracted content");
            io::Error::new(io::ErrorKind::InvalidData, why)
        })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { digest, pack, offset, length } = self;
        write!(f, "{digest}-{pack}-{offset}-{length}")
    }
}

/// Where a pack lies.
pub fn path(root: &Path, pack: u64) -> PathBuf {
    root.join(NAME).join(format!("{pack}.pack"))
}

/// A pack that is being written.
#[derive(Debug)]
pub struct Pack {
    number: u64,
    file: File,
    length: u64,
    /// Content that is in it already, by its digest: copies are kept once.
    there: HashMap<String, (u64, u64)>,
}

impl Pack {
    /// Begins a pack.
    pub fn begin(root: &Path) -> io::Result<Self> {
        make(&root.join(NAME))?;
        let mut number = clock::now().timestamp_nanos_opt().unwrap_or_default().unsigned_abs();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        loop {
            let path = path(root, number);
            match options.open(&path) {
                Ok(file) => return Ok(Self { number, file, length: 0, there: HashMap::new() }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(e) => return Err(named(&path, &e)),
            }
        }
    }

    /// Appends content.
    pub fn put(&mut self, content: &[u8]) -> io::Result<Id> {
        let (digest, pack) = (digest(content), self.number);
        if let Some((offset, length)) = self.there.get(&digest).copied() {
            return Ok(Id { digest, pack, offset, length });
        }
        let named = |e: io::Error| io::Error::new(e.kind(), format!("{pack}.pack: {e}"));
        self.file.write_all(content).map_err(named)?;
        let (offset, length) = (self.length, content.len() as u64);
        self.length += length;
        self.there.insert(digest.clone(), (offset, length));
        Ok(Id { digest, pack, offset, length })
    }
}

/// Content, verified.
pub fn get(root: &Path, id: &Id) -> io::Result<Vec<u8>> {
    let path = path(root, id.pack);
    let gone = || {
        let why = format!("{}: this extracted content is gone", path.display());
        io::Error::new(io::ErrorKind::NotFound, why)
    };
    let file = match open(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(gone()),
        other => other.map_err(|e| named(&path, &e))?,
    };
    let within = file.metadata()?.len() >= id.offset + id.length;
    let mut content = vec![0; if within { id.length as usize } else { 0 }];
    file.read_exact_at(&mut content, id.offset).map_err(|e| named(&path, &e))?;
    if within && digest(&content) == id.digest {
        return Ok(content);
    }
    if within && content.iter().all(|byte| *byte == 0) {
        return Err(gone());
    }
    let why = format!(
        "{}: damaged: what is at {} is not what was extracted; a copy from a backup heals it",
        path.display(),
        id.offset
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Whether an object still is where it was put, by its first byte: no JSON begins with
/// zero.
pub fn is_there(file: &File, id: &Id) -> bool {
    let mut first = [0];
    id.length > 0 && file.read_exact_at(&mut first, id.offset).is_ok() && first != [0]
}

/// Makes sure that objects are there, and waits until they are on the disk.
pub fn sync(root: &Path, ids: &[Id]) -> io::Result<()> {
    let mut packs: HashMap<u64, Vec<&Id>> = HashMap::new();
    for id in ids {
        packs.entry(id.pack).or_default().push(id);
    }
    for (pack, ids) in &packs {
        let path = path(root, *pack);
        let file = open(&path).map_err(|e| named(&path, &e))?;
        let end = file.metadata()?.len();
        let whole = |id: &&Id| id.offset + id.length <= end;
        if !ids.iter().all(|id| whole(id) && (id.length == 0 || is_there(&file, id))) {
            return Err(named(&path, &io::ErrorKind::NotFound.into()));
        }
        file.sync_all().map_err(|e| named(&path, &e))?;
    }
    if packs.is_empty() { Ok(()) } else { settle(&root.join(NAME)) }
}

/// The packs there are: number and path. One that can't be looked at is an error: it may be one.
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

/// Gives back to the system what lies outside of `kept`, ranges of offset and length: reads as
/// zeros from then on.
pub fn punch(path: &Path, kept: &mut [(u64, u64)]) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    let file = OpenOptions::new().write(true).custom_flags(NO_WAIT).open(path)?;
    let end = file.metadata()?.len();
    kept.sort_unstable();
    let mut from = 0;
    for (offset, length) in kept.iter().copied().chain([(end, 0)]) {
        if offset > from {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            if fallocate(&file, flags, from, offset - from).is_err() {
                // A file system without holes: the content goes all the same.
                zeros(&file, from, offset)?;
            }
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
