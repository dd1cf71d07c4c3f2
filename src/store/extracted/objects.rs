//! Objects: content by its digest, written once and never changed.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Record, digest, make, named, settle};
use crate::clock;
use crate::store::atomic::NO_WAIT;

/// The folder of the objects below that of what is extracted.
pub const NAME: &str = "objects";

/// Up to so many objects are synced one by one; more with all else on their file system, once.
const ONE_BY_ONE: usize = 16;

/// Bytes that are compared at once.
const BUFFER: usize = 64 * 1024;

/// Where an object lies; `None` for what is no id.
pub fn path(root: &Path, id: &str) -> Option<PathBuf> {
    let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    (id.len() == 64 && id.bytes().all(digit)).then(|| root.join(NAME).join(&id[..2]).join(id))
}

/// [`super::Extracted::put`].
pub fn put(root: &Path, content: &[u8]) -> io::Result<String> {
    let id = digest(content);
    let path = path(root, &id).ok_or(io::ErrorKind::InvalidInput)?;
    let there = match open(&path) {
        Ok(mut file) => {
            // It counts as used from now on: its retention begins again.
            let used = file.set_modified(clock::now().into());
            used.is_ok() && same(&mut file, content)?
        }
        // None, or none that can be read: what is written takes its place, or says why not.
        Err(_) => false,
    };
    if !there {
        write(&path, content).map_err(|e| named(&path, &e))?;
    }
    Ok(id)
}

/// [`super::Extracted::get`].
pub fn get(root: &Path, id: &str) -> io::Result<Vec<u8>> {
    let Some(path) = path(root, id) else {
        let why = format!("`{id}` names no extracted content: 64 hex digits do");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    };
    let mut content = Vec::new();
    let read = open(&path).and_then(|mut file| file.read_to_end(&mut content));
    read.map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => {
            let why = format!("{}: this extracted content is gone", path.display());
            io::Error::new(e.kind(), why)
        }
        _ => named(&path, &e),
    })?;
    if digest(&content) == id {
        return Ok(content);
    }
    let why = format!(
        "{}: damaged: it is not what its name says; a copy from a backup heals it",
        path.display()
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Waits until the objects that the records name are on the disk.
pub fn sync(root: &Path, records: &[Record]) -> io::Result<()> {
    let mut paths = BTreeSet::new();
    for record in records {
        if let Record::Extract { object, .. } = record {
            paths.insert(path(root, object).ok_or(io::ErrorKind::InvalidInput)?);
        }
    }
    if paths.len() > ONE_BY_ONE {
        if let Some(gone) = paths.iter().find(|path| !path.is_file()) {
            return Err(named(gone, &io::ErrorKind::NotFound.into()));
        }
        let folder = File::open(root.join(NAME))?;
        return Ok(rustix::fs::syncfs(&folder)?);
    }
    for path in &paths {
        open(path).and_then(|file| file.sync_all()).map_err(|e| named(path, &e))?;
    }
    let folders: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
    folders.into_iter().try_for_each(settle)
}

fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(NO_WAIT).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a regular file"));
    }
    Ok(file)
}

/// Whether that is what the file holds.
fn same(file: &mut File, content: &[u8]) -> io::Result<bool> {
    if file.metadata()?.len() != content.len() as u64 {
        return Ok(false);
    }
    let mut buffer = vec![0; BUFFER.min(content.len())];
    for piece in content.chunks(BUFFER) {
        let read = &mut buffer[..piece.len()];
        match file.read_exact(read) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            other => other?,
        }
        if read != piece {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes beside, reads back, renames.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    /// Threads of a process may keep the same content at the same time.
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let (temp, mut file) = loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temp = folder.join(format!(".{}.{number}.tmp", std::process::id()));
        match options.open(&temp) {
            Ok(file) => break (temp, file),
            Err(e) if e.kind() == io::ErrorKind::NotFound && !folder.is_dir() => make(folder)?,
            // One that was killed had this number.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    };
    let written = file.write_all(content).and_then(|()| {
        file.seek(SeekFrom::Start(0))?;
        if same(&mut file, content)? {
            return fs::rename(&temp, path);
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "what was written is not what is read back"))
    });
    if written.is_err() {
        // The error that counts is the one above.
        let _ = fs::remove_file(&temp);
    }
    written
}
