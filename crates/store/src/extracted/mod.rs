//! Extracted content: objects, verified by their SHA-256, and a ledger per session that says where
//! each value came from and what replaced it. Both are on disk before a session changes.
//!
//! Paths: `<root>/extracted/objects/<n>.pack` and
//! `<root>/extracted/sessions/<agent>/<session>/ledger.jsonl`. To keep [`sweep()`] out, a caller
//! keeps [`Extracted::hold`] from the first [`Extracted::put`] until the session's file is written.
#![allow(clippy::disallowed_methods, reason = "it owns what was extracted")]

mod file;
mod ledger;
mod list;
mod object;
mod packs;
mod record;
mod spelling;
mod state;
mod sweep;
#[cfg(test)]
mod tests;
mod words;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use ledger::Ledger;
pub use list::{All, Kin, find_ledgers};
pub use object::{Digest, Object};
use packs::Pack;
pub use record::{Extract, Record, Set, Shared, Word};
pub use state::State;
pub use sweep::{Amount, GiveUp, SessionNeeds, Swept, count_objects, forget, sweep};
pub use words::Words;

use crate::blocks::{Root, folder_name};
use base::lock::{self, Lock};

/// How long to wait for another process.
const PATIENCE: Duration = Duration::from_secs(10);

/// The extracted content of a session.
#[derive(Debug, Clone)]
pub struct Extracted {
    /// `<root>/extracted`.
    pub root: PathBuf,
    /// `<root>/extracted/sessions/<agent>/<session>`.
    pub folder: PathBuf,
    /// The pack being written; `None` until there is content.
    pack: Arc<Mutex<Option<Pack>>>,
    /// The pack that was last read.
    open: Arc<Mutex<packs::Open>>,
}

impl Extracted {
    /// The content of a session; creates nothing.
    pub fn for_session(root: &Root, agent: &str, session: &str) -> Self {
        let root = place(root);
        let folder = root.join("sessions").join(folder_name(agent)).join(folder_name(session));
        Self::at(root, folder)
    }

    fn at(root: PathBuf, folder: PathBuf) -> Self {
        Self { root, folder, pack: Arc::default(), open: Arc::default() }
    }

    /// `agent/session`, by the folders' names.
    pub fn name(&self) -> String {
        let name = self.folder.strip_prefix(self.root.join("sessions")).unwrap_or(&self.folder);
        name.display().to_string()
    }

    /// Keeps [`sweep()`] out of the store, while others can extract at the same time.
    ///
    /// # Errors
    /// `WouldBlock` while content is being removed.
    pub fn hold(&self) -> io::Result<Lock> {
        make(&self.root)?;
        lock::share(&sweep::lock(&self.root), PATIENCE)
            .map_err(|e| busy(&e, &self.root, "extracted content is being removed"))
    }

    /// Stores content, some JSON, and returns its id; duplicates are stored once. It is on disk,
    /// and visible to others, only after [`Extracted::add`] adds a record that names it. A sync for
    /// each of thousands of values would take minutes.
    pub fn put(&self, content: &[u8]) -> io::Result<Object> {
        let mut pack = self.pack();
        let put = match pack.as_mut() {
            Some(pack) => pack.put(content),
            None => pack.insert(Pack::begin(&self.root)?).put(content),
        };
        if put.is_err() {
            // A failed write leaves the length of the pack unknown.
            let torn = pack.take();
            drop(pack);
            self.unless_named(torn);
        }
        put.map(Object::In)
    }

    /// Whether an object from the ledger still has this content, so that it need not be stored
    /// again.
    pub fn has(&self, object: &Object, content: &[u8]) -> bool {
        self.get(object).is_ok_and(|kept| kept == content)
    }

    /// Removes what was put but named by no record, after the session could not be written. It
    /// would stay otherwise: sweeps keep content that no ledger names. The caller still holds the
    /// store.
    pub fn discard_unnamed(&self) {
        let pack = self.pack().take();
        self.unless_named(pack);
    }

    /// Removes a pack, unless the ledger names it or is unreadable; no other ledger names it.
    fn unless_named(&self, pack: Option<Pack>) {
        let (Some(pack), Ok(ledger)) = (pack, self.ledger()) else { return };
        let objects = ledger.records.iter().filter_map(Record::object);
        if !objects.filter_map(|of| of.id().ok()).any(|id| id.pack == pack.number()) {
            // A failure only leaves an unused pack.
            let _ = fs::remove_file(packs::path(&self.root, pack.number()));
        }
    }

    /// Reads content by its id, and verifies it.
    ///
    /// # Errors
    /// `NotFound` if a sweep removed it; `InvalidData` if it does not match its id.
    pub fn get(&self, object: &Object) -> io::Result<Vec<u8>> {
        let id = object.id()?;
        if let Some(own) = self.pack().as_mut().filter(|pack| pack.number() == id.pack) {
            own.flush()?;
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        packs::get(&self.root, &mut open, &id)
    }

    /// Appends records to the ledger. First syncs the objects that they name.
    ///
    /// # Errors
    /// `NotFound` if an object is missing. The ledger is unchanged then.
    pub fn add(&self, records: &[Record]) -> io::Result<()> {
        let objects = records.iter().filter_map(Record::object);
        self.add_all(&mut objects.into_iter(), &mut records.iter().cloned())
    }

    /// Like [`Extracted::add`], for records that are made one by one; `objects` are those they
    /// name.
    pub fn add_all(
        &self,
        objects: &mut dyn Iterator<Item = &Object>,
        records: &mut dyn Iterator<Item = Record>,
    ) -> io::Result<()> {
        let mut records = records.peekable();
        if records.peek().is_none() {
            return Ok(());
        }
        let _held = self.hold()?;
        let own = self.pack().as_mut().map(|pack| pack.flush().map(|()| pack.number()));
        let mut wrong = Ok(());
        let mut ids = objects.map_while(|object| object.id().map_err(|e| wrong = Err(e)).ok());
        packs::sync(&self.root, own.transpose()?, &mut ids)?;
        wrong?;
        make(&self.folder)?;
        let _own = lock::acquire(&self.folder.join(".lock"), PATIENCE)
            .map_err(|e| busy(&e, &self.folder, "the ledger is being written"))?;
        file::append(&self.folder, &mut records)
    }

    /// Reads the ledger; a torn last line is ignored.
    ///
    /// # Errors
    /// `InvalidData`, with the line, for a line that is not a record.
    pub fn ledger(&self) -> io::Result<Ledger> {
        file::read(&self.folder)
    }

    fn pack(&self) -> MutexGuard<'_, Option<Pack>> {
        self.pack.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of everything extracted.
fn place(root: &Root) -> PathBuf {
    root.path().join("extracted")
}

/// Creates a folder and its parents, private to the user, and syncs them.
fn make(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make(above)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        // Another process created it first.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        other => other.map_err(|e| Root::folder_error(folder, &e))?,
    }
    folder.parent().map_or(Ok(()), settle)
}

/// Syncs the names in a folder.
fn settle(folder: &Path) -> io::Result<()> {
    // Some file systems cannot sync a folder; the names in it are still there.
    File::open(folder).map(|folder| drop(folder.sync_all()))
}

/// The paths in a folder; empty if it does not exist.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(named(folder, &e)),
    }
}

fn named(path: &Path, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("{}: {why}", path.display()))
}

fn busy(why: &io::Error, path: &Path, what: &str) -> io::Error {
    if why.kind() != io::ErrorKind::WouldBlock {
        return named(path, why);
    }
    let why = format!("{}: {what} by another process; try again", path.display());
    io::Error::new(io::ErrorKind::WouldBlock, why)
}
