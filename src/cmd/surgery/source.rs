//! Finds the inputs of an operation: the store, its sessions, times, and split maps.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::cmd::selector::{NAMES, named};
use crate::cmd::{Failure, err, import};
use base::atomic;
use base::clock::Time;
use base::env::Env;
use base::paths::{config_folder, same_file};
use base::shown::local_minute;
use base::when::{InvalidWhen, When};
use chrono::{Local, TimeZone as _, Utc};
use sessions::operation::Map;
use sessions::round::Session;
use store::blocks::{self, Folder, Root};
use store::extracted::{Extracted, Ledger, Record};
use store::index::Index;
use surgery;

/// The store and its index.
#[derive(Debug)]
pub struct Store {
    /// The blocks.
    pub root: Root,
    /// The index.
    pub index: Index,
    /// The sessions that were loaded, with the identity of their blocks at that time.
    loaded: RefCell<Vec<(Folder, Option<u64>)>>,
    /// Notes about the sessions that were read.
    notes: RefCell<Vec<String>>,
}

impl Store {
    /// Opens the user's store without creating it.
    ///
    /// # Errors
    /// No valid location.
    pub fn open(env: &Env) -> anyhow::Result<Self> {
        let root = import::root(env)?;
        Ok(Self {
            index: Index::new(root.clone()),
            root,
            loaded: RefCell::default(),
            notes: RefCell::default(),
        })
    }

    /// Warns that a search may miss sessions that the index has lost.
    ///
    /// # Errors
    /// Databases that cannot be read.
    pub fn tell_unknown(&self) -> anyhow::Result<()> {
        let unknown = self.index.unknown()?;
        if unknown > 0 {
            err(format_args!(
                "{} in the store {} are not indexed, because databases were lost; `brain-guard doctor --fix` indexes them again",
                import::count(unknown, "session"),
                self.root.path().display()
            ));
        }
        Ok(())
    }

    /// Notes about the sessions that were read.
    pub fn notes(&self) -> Vec<String> {
        self.notes.borrow().clone()
    }

    /// Imports what is new in a session, and loads it.
    ///
    /// # Errors
    /// No match, several, a session that cannot be imported, or one without rounds.
    pub fn session(&self, env: &Env, name: Option<&str>) -> anyhow::Result<Session> {
        let folder = self.imported(env, &named(env, name)?)?;
        let session = self.load(&folder)?;
        if session.rounds.is_empty() {
            bail!("{} holds no round: nothing was said in it yet", session.id);
        }
        Ok(session)
    }

    /// The ledger of a session, with the records of the sessions it was forked from: a client
    /// copies rows with their ids.
    ///
    /// # Errors
    /// A ledger that cannot be read.
    pub fn extracted(&self, session: &Session) -> anyhow::Result<Ledger> {
        let mut ids = vec![session.id.clone()];
        let mut parent = session.parent.clone();
        while let Some(id) = parent.filter(|id| !ids.contains(id)) {
            parent = self
                .index
                .outline(&self.root.folder(&session.agent, &id))
                .ok()
                .and_then(|of| of.parent);
            ids.push(id);
        }
        let mut records = Vec::new();
        for id in ids.iter().rev() {
            let ledger = Extracted::for_session(&self.root, &session.agent, id)
                .ledger()
                .with_context(|| format!("could not read what was extracted of {id}"))?;
            // A record without a placeholder belongs to no row, so a fork does not inherit it.
            let stands =
                |r: &Record| r.extract().is_some_and(|extract| extract.placeholder.is_some());
            records.extend(ledger.records.into_iter().filter(|r| *id == session.id || stands(r)));
        }
        Ok(Ledger::of(records))
    }

    /// A session of which an index table names rounds, as the store has it.
    pub fn known(&self, id: &str) -> Option<Session> {
        let found = self.root.find(id).ok()?;
        let folder = found.iter().find(|folder| folder.session == id)?;
        self.load(folder).ok()
    }

    /// Loads a session and the identity of its blocks, consistently.
    ///
    /// # Errors
    /// An import that takes too long, or an unreadable index.
    fn load(&self, folder: &Folder) -> anyhow::Result<Session> {
        let _held = import::settled(folder)?;
        let session = self.index.outline(folder)?;
        self.loaded.borrow_mut().push((folder.clone(), blocks::identity(&folder.blocks())));
        Ok(session)
    }

    /// Checks that no loaded session was rewritten since: its rounds would differ.
    ///
    /// # Errors
    /// One was.
    pub fn unchanged(&self) -> anyhow::Result<()> {
        for (folder, blocks) in self.loaded.borrow().iter() {
            if blocks::identity(&folder.blocks()) != *blocks {
                let id = &folder.session;
                bail!("the file of {id} was rewritten while brain-guard read it; try again");
            }
        }
        Ok(())
    }

    /// Finds a session in the store by its file, id or id prefix, and imports what is new. A
    /// session whose file is gone stays as it was imported.
    ///
    /// # Errors
    /// No match, several, a session that cannot be imported, or one without rounds.
    pub fn imported(&self, env: &Env, name: &str) -> anyhow::Result<Folder> {
        if name.contains('/') || Path::new(name).extension().is_some() {
            return self.read(Path::new(name));
        }
        let mut kept = self.root.find(name)?;
        let file = import::find(env, name)?;
        let is = |path: &PathBuf, id: &str| import::ids(path).iter().any(|own| own == id);
        if let Some(path) = &file {
            // Other sessions in the store win, unless this one has exactly that id.
            if is(path, name) || kept.iter().all(|folder| is(path, &folder.session)) {
                let source =
                    |folder: &&Folder| self.source(folder).is_some_and(|s| same_file(&s, path));
                return match kept.iter().find(source) {
                    Some(known) => Ok(self.grown(known.clone())),
                    None => self.read(path),
                };
            }
            if kept.iter().all(|folder| folder.session != name) {
                bail!(
                    "several sessions begin with {name}; write more of it:\n  {}\n  {}",
                    path.display(),
                    ids(&kept)
                );
            }
        }
        match kept.len() {
            1 => Ok(self.grown(kept.remove(0))),
            0 => {
                let clients = config_folder(env).map(|config| config.join("projects"));
                let clients = clients.map(|folder| format!("\n  {}", folder.display()));
                bail!(
                    "no session {name} found in\n  {}{}\nor in the folders of pi and OpenClaw. `brain-guard sessions` lists the project's; or give the path of its file",
                    self.root.sessions().display(),
                    clients.unwrap_or_default()
                )
            }
            _ => bail!("several sessions begin with {name}; write more of it:\n  {}", ids(&kept)),
        }
    }

    /// Imports a session file.
    fn read(&self, file: &Path) -> anyhow::Result<Folder> {
        if file.is_dir() {
            bail!("{} is a folder; name a session's file in it", file.display());
        }
        if !file.is_file() {
            bail!("there is no file {}; {NAMES}", file.display());
        }
        let done = self.take(file, 0)?;
        if done.rounds == 0 {
            bail!("{} holds no round: nothing was said in it yet", file.display());
        }
        Ok(self.root.folder(&done.agent, &done.session))
    }

    fn take(&self, file: &Path, known: u64) -> anyhow::Result<import::Done> {
        let done = import::session(&self.root, &self.index, file, known)?;
        self.notes.borrow_mut().extend(done.unended());
        Ok(done)
    }

    /// Imports new rows from the session's file. If the file cannot be read, the stored rows are
    /// used.
    fn grown(&self, folder: Folder) -> Folder {
        if let Some(known) = self.index.progress(&folder).ok().flatten()
            && known.source.is_file()
            && let Err(e) = self.take(&known.source, known.bytes)
        {
            err(format_args!("{e:#}; what the store has is used"));
        }
        folder
    }

    /// The file that a session was imported from.
    fn source(&self, folder: &Folder) -> Option<PathBuf> {
        self.index.progress(folder).ok().flatten().map(|progress| progress.source)
    }

    /// The session's folder in the store.
    pub fn folder(&self, session: &Session) -> Folder {
        self.root.folder(&session.agent, &session.id)
    }
}

/// Lists sessions for a message.
fn ids(folders: &[Folder]) -> String {
    let shown = folders.iter().map(|folder| format!("{} ({})", folder.session, folder.agent));
    shown.collect::<Vec<_>>().join("\n  ")
}

/// Parses the point where a session is cut.
///
/// # Errors
/// An invalid text; the error lists the valid forms.
pub fn when(text: &str, now: Time) -> anyhow::Result<When> {
    let when = base::when::parse(text, now).map_err(Failure::usage)?;
    let When::At(moment) = when else { return Ok(when) };
    if moment.zoned {
        return Ok(when);
    }
    // In the hour that a clock is set back over, the first of both.
    let local = Local.from_local_datetime(&moment.at.naive_utc()).earliest();
    let at = local.map_or(moment.at, |local| local.with_timezone(&Utc));
    err(format_args!("{text} has no zone: read as {}", local_minute(Some(at))));
    Ok(When::from(at))
}

/// Reads the value of an option like `--since`.
///
/// # Errors
/// A text that is neither a time nor how long ago; a time that is too long ago.
pub fn since(option: &str, text: &str, now: Time) -> anyhow::Result<Time> {
    match base::when::parse(text, now) {
        Ok(When::At(_)) => {
            if let When::At(moment) = when(text, now)? {
                return Ok(moment.at);
            }
        }
        Err(e @ InvalidWhen::TooLongAgo(_)) => return Err(Failure::usage(e).into()),
        Ok(When::Round(_)) | Err(_) => {}
    }
    let why = format!("{option} takes a time or how long ago, not {text:?}");
    Err(Failure::usage(why).hint("write 2026-03-19, 2026-03-19T10:23, 2h or 3d").into())
}

/// Reads the map of a split; `-` is stdin.
///
/// # Errors
/// An unreadable map, or a faulty key.
pub fn map(path: &Path) -> anyhow::Result<Map> {
    let text = if path == Path::new("-") {
        crate::cmd::stdin_text()?
    } else {
        let shown = path.display();
        atomic::read_text(path)
            .with_context(|| format!("could not read {shown}"))?
            .with_context(|| {
                format!(
                    "there is no file {shown}; the map comes last: `brain-guard surgery split [SESSION] MAP.json`, or --by-tag instead"
                )
            })?
    };
    surgery::map::parse(&text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use testing::RECORDED;

    #[test]
    fn a_session_that_was_imported_anew_meanwhile_is_not_made_into_another() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path().join("store"));
        let index = Index::new(root.clone());
        let file = dir.path().join("0a1b2c3d-0000-4000-8000-000000000000.jsonl");
        fs::write(&file, RECORDED[2].1).unwrap();
        let done = import::session(&root, &index, &file, 0).unwrap();
        let store = Store { root, index, loaded: RefCell::default(), notes: RefCell::default() };
        let folder = store.root.folder(&done.agent, &done.session);
        store.load(&folder).unwrap();
        store.unchanged().unwrap();
        blocks::set_aside(&folder).unwrap();
        let why = store.unchanged().unwrap_err().to_string();
        assert!(why.contains("rewritten"), "{why}");
    }
}
