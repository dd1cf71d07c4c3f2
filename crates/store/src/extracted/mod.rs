//! What was extracted: objects, verified by the SHA-256 of their content, and a ledger a session
//! that says which value each came from and what was put there. Both are on the disk before a
//! session is touched.
//!
//! `<root>/extracted/objects/<n>.pack` and
//! `<root>/extracted/sessions/<agent>/<session>/ledger.jsonl`. Whoever extracts or restores
//! keeps [`Extracted::hold`] from the first [`Extracted::put`] until the session's file is
//! written, so that no [`sweep()`] comes between.
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
pub use list::{All, Kin, all};
pub use object::{Digest, Object};
use packs::Pack;
pub use record::{Extract, Record, Set, Shared, Word};
pub use state::State;
pub use sweep::{Amount, GiveUp, Held, Swept, forget, held, sweep};
pub use words::Words;

use crate::blocks::{Root, folder_name};
use base::lock::{self, Lock};

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// The extracted content of a session.
#[derive(Debug, Clone)]
pub struct Extracted {
    /// `<root>/extracted`.
    pub root: PathBuf,
    /// `<root>/extracted/sessions/<agent>/<session>`.
    pub folder: PathBuf,
    /// The pack that is written, once there is something to keep.
    pack: Arc<Mutex<Option<Pack>>>,
    /// The pack that is read.
    open: Arc<Mutex<packs::Open>>,
}

impl Extracted {
    /// That of a session; nothing is made.
    pub fn of(root: &Root, agent: &str, session: &str) -> Self {
        let root = place(root);
        let folder = root.join("sessions").join(folder_name(agent)).join(folder_name(session));
        Self::at(root, folder)
    }

    fn at(root: PathBuf, folder: PathBuf) -> Self {
        Self { root, folder, pack: Arc::default(), open: Arc::default() }
    }

    /// `agent/session`, as the folders are called.
    pub fn name(&self) -> String {
        let name = self.folder.strip_prefix(self.root.join("sessions")).unwrap_or(&self.folder);
        name.display().to_string()
    }

    /// Holds the store against [`sweep()`], and lets others extract at the same time.
    ///
    /// # Errors
    /// `WouldBlock` while content is being removed; what the system says.
    pub fn hold(&self) -> io::Result<Lock> {
        make(&self.root)?;
        lock::share(&sweep::lock(&self.root), PATIENCE)
            .map_err(|e| busy(&e, &self.root, "extracted content is being removed"))
    }

    /// Keeps content, some JSON; what this value put before is kept once. Gives its id. It is on
    /// the disk once [`Extracted::add`] has added a record that names it, and for others to be
    /// found from then on: a write and a sync for each of thousands would take minutes.
    ///
    /// # Errors
    /// What the system says.
    pub fn put(&self, content: &[u8]) -> io::Result<Object> {
        let mut pack = self.pack();
        let put = match pack.as_mut() {
            Some(pack) => pack.put(content),
            None => pack.insert(Pack::begin(&self.root)?).put(content),
        };
        if put.is_err() {
            // Nobody knows how far it was written.
            let torn = pack.take();
            drop(pack);
            self.unless_named(torn);
        }
        put.map(Object::In)
    }

    /// Content that the ledger says was put there before, where it still is that: it needs not
    /// be kept once more.
    pub fn has(&self, object: &Object, content: &[u8]) -> bool {
        self.get(object).is_ok_and(|kept| kept == content)
    }

    /// Removes what was put and what no record came to name, as the session could not be
    /// written: retention alone would let go of it otherwise. Whoever asks for it still holds
    /// the store.
    pub fn forsake(&self) {
        let pack = self.pack().take();
        self.unless_named(pack);
    }

    /// Removes a pack unless the ledger names it, or can't be read: no other one does.
    fn unless_named(&self, pack: Option<Pack>) {
        let (Some(pack), Ok(ledger)) = (pack, self.ledger()) else { return };
        let objects = ledger.records.iter().filter_map(Record::object);
        if !objects.filter_map(|of| of.id().ok()).any(|id| id.pack == pack.number()) {
            // What stays goes with its retention.
            let _ = fs::remove_file(packs::path(&self.root, pack.number()));
        }
    }

    /// Content by its id, verified.
    ///
    /// # Errors
    /// `NotFound` for what a sweep removed; `InvalidData` where it is not what its id says.
    pub fn get(&self, object: &Object) -> io::Result<Vec<u8>> {
        let id = object.id()?;
        if let Some(own) = self.pack().as_mut().filter(|pack| pack.number() == id.pack) {
            own.flush()?;
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        packs::get(&self.root, &mut open, &id)
    }

    /// Adds to the ledger. The objects that the records name are synced first, then the ledger.
    ///
    /// # Errors
    /// `NotFound` where an object is not there; what the system says. The ledger is as it was
    /// then.
    pub fn add(&self, records: &[Record]) -> io::Result<()> {
        let objects = records.iter().filter_map(Record::object);
        self.add_all(&mut objects.into_iter(), &mut records.iter().cloned())
    }

    /// The same of many records, made one by one; `objects` are those that they name.
    ///
    /// # Errors
    /// As [`Extracted::add`].
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

    /// The ledger; a torn last line is passed over.
    ///
    /// # Errors
    /// What the system says; `InvalidData`, by line, for what is no record.
    pub fn ledger(&self) -> io::Result<Ledger> {
        file::read(&self.folder)
    }

    fn pack(&self) -> MutexGuard<'_, Option<Pack>> {
        self.pack.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where everything extracted lies.
fn place(root: &Root) -> PathBuf {
    root.path().join("extracted")
}

/// Makes a folder and those above it, private to the user and on the disk.
fn make(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make(above)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        // Another process was quicker.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        other => other.map_err(|e| Root::unusable(folder, &e))?,
    }
    folder.parent().map_or(Ok(()), settle)
}

/// Waits until the names in a folder are on the disk.
fn settle(folder: &Path) -> io::Result<()> {
    // Some file systems refuse to sync a folder; the names themselves stand.
    File::open(folder).map(|folder| drop(folder.sync_all()))
}

/// What is in a folder; nothing where there is none.
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
