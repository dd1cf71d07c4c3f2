//! What a session's name means: a file of pi, `OpenClaw` or Claude Code, or a session in an
//! `OpenClaw` database.

mod heirs;
mod kind;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::cmd::inscribe;
use crate::cmd::selector::{NAMES, named};
use base::env::Env;
use base::paths::{Places, project_root};
use guard::hook::facts::read_settings;
use sessions::files::{Jsonl, SessionFile};
use sessions::settings::ExtractSettings;
use store::blocks::Root;
use store::extracted::{self, Extracted, Record};
use store::openclaw::Database;

pub use heirs::held;
pub use kind::Kind;

/// A session that was found.
pub struct Source {
    /// Whose it is.
    pub kind: Kind,
    /// Its agent, as the store calls it.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// Its file.
    pub path: PathBuf,
    /// Its rows.
    pub file: Box<dyn SessionFile>,
    /// What was extracted of it.
    pub extracted: Extracted,
    /// Of several contents that a placeholder may be of, the one that is meant, from 1.
    pub meant: Option<usize>,
}

impl Source {
    /// As [`open`] takes it again: the file; of a database, `FILE:ID`.
    pub fn place(&self) -> PathBuf {
        match self.kind {
            Kind::Database => {
                let mut place = self.path.clone().into_os_string();
                place.push(":");
                place.push(&self.session);
                place.into()
            }
            Kind::Jsonl | Kind::Claude => self.path.clone(),
        }
    }

    /// `agent/session`, as the log names it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.agent, self.session)
    }
}

/// Whether a file is called as `OpenClaw` calls the database of an agent.
pub fn is_database_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "openclaw-agent.sqlite")
}

/// The user's settings of extraction.
pub fn settings(env: &Env) -> ExtractSettings {
    let project = project_root(env, &env.cwd().unwrap_or_default());
    let places = Places::of(env, &project);
    places.map(|places| read_settings(&places, env).0.extract).unwrap_or_default()
}

/// The session of that name: a file, an id or how one begins, `FILE:ID` of a database, or
/// `this`. With `offline`, a database may be written.
///
/// # Errors
/// None, or several; a file that is no session; one of which something was extracted, and
/// whose file is gone.
pub fn find(env: &Env, root: &Root, name: Option<&str>, offline: bool) -> anyhow::Result<Source> {
    let name = named(env, name)?;
    let path = Path::new(&name);
    if name.contains('/') || path.extension().is_some() || path.symlink_metadata().is_ok() {
        if is_gone(path) {
            bail!("there is no file {}; {NAMES}", path.display());
        }
        return open(root, path, offline);
    }
    let mut found = known(env, &name);
    if found.is_empty() {
        found = kept(root, &name)?;
        if let [(id, place)] = found.as_slice()
            && is_gone(place)
        {
            bail!(
                "the file of the session {id} is gone: {}; what was extracted from it is in the store. Give the path of its file",
                place.display()
            );
        }
    }
    if found.iter().any(|(id, _)| *id == name) {
        found.retain(|(id, _)| *id == name);
    }
    let places: BTreeSet<PathBuf> = found.into_iter().map(|(_, place)| place).collect();
    match places.len() {
        1 => open(root, places.first().context("one place")?, offline),
        0 => {
            let looked = inscribe::shown(&inscribe::homes(env));
            bail!("no session {name} found in\n  {looked}\nGive the path of its file")
        }
        _ => {
            let list = inscribe::shown(&Vec::from_iter(places));
            bail!("several sessions begin with {name}; name one of\n  {list}")
        }
    }
}

/// Sessions that clients keep whose id begins so: id and place.
fn known(env: &Env, name: &str) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for home in inscribe::homes(env) {
        for path in inscribe::below(&home, &mut |_, _| {}) {
            if let Some(id) = inscribe::ids(&path).into_iter().find(|id| id.starts_with(name)) {
                found.push((id, path.clone()));
            }
        }
        for agent in fs::read_dir(&home).into_iter().flatten().flatten() {
            let path = agent.path().join("agent/openclaw-agent.sqlite");
            if !path.is_file() {
                continue;
            }
            // One that can't be read is told when it is named.
            for listed in Database::sessions(&path).unwrap_or_default() {
                if listed.session.starts_with(name) {
                    let place = PathBuf::from(format!("{}:{}", path.display(), listed.session));
                    found.push((listed.session, place));
                }
            }
        }
    }
    found
}

/// Sessions of which something was extracted, by where they were last.
fn kept(root: &Root, name: &str) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let all = extracted::all(root);
    for extracted in all.found {
        let id = extracted.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if id.starts_with(name) {
            let ledger = extracted.ledger()?;
            let last = ledger.records.iter().rev().find_map(|record| match record {
                Record::Extract(extract) => Some(&extract.file),
                Record::Set(set) => Some(&set.file),
                Record::Restore { .. } => None,
            });
            found.extend(last.map(|file| (id, file.to_path_buf())));
        }
    }
    match all.unread.into_iter().next() {
        Some((path, why)) if found.is_empty() => {
            Err(io::Error::new(why.kind(), format!("{}: {why}", path.display())))
        }
        _ => Ok(found),
    }
}

/// The session in a file, or at `FILE:ID`.
///
/// # Errors
/// A file that can't be read, or is no session.
pub fn open(root: &Root, place: &Path, offline: bool) -> anyhow::Result<Source> {
    if let Err(e) = fs::symlink_metadata(place) {
        if let Some((file, id)) = inside(place) {
            return database(root, &file, Some(&id), offline);
        }
        if e.kind() == io::ErrorKind::NotFound {
            bail!("its file is gone: {}", place.display());
        }
    }
    let (kind, header) = kind::of(place)?;
    if kind == Kind::Database {
        return database(root, place, None, offline);
    }
    let mut known = inscribe::Source::of(place, None)?;
    known.begun(kind == Kind::Jsonl, header.as_deref());
    // By the name that was given: a link's is locked, too.
    let jsonl = Jsonl::new(&std::path::absolute(place)?);
    let file: Box<dyn SessionFile> = match kind {
        Kind::Claude => Box::new(kind::Untouched(jsonl)),
        Kind::Jsonl | Kind::Database => Box::new(jsonl),
    };
    let extracted = Extracted::of(root, &known.agent, &known.session);
    let inscribe::Source { agent, session, path, .. } = known;
    Ok(Source { kind, agent, session, path, file, extracted, meant: None })
}

/// Whether nothing is there, no session in a database either.
pub fn is_gone(place: &Path) -> bool {
    let missing = |e: io::Error| e.kind() == io::ErrorKind::NotFound;
    fs::symlink_metadata(place).is_err_and(missing) && inside(place).is_none()
}

/// `FILE:ID` taken apart, where there is that file.
fn inside(place: &Path) -> Option<(PathBuf, String)> {
    let (file, id) = place.to_str()?.rsplit_once(':')?;
    Path::new(file).is_file().then(|| (PathBuf::from(file), id.to_owned()))
}

/// A session in a database; one whose id begins so.
fn database(root: &Root, file: &Path, id: Option<&str>, offline: bool) -> anyhow::Result<Source> {
    let path = fs::canonicalize(file).with_context(|| file.display().to_string())?;
    let file = Database::find(&path, id, offline)?;
    // `agents/<agent>/` holds sessions of both kinds: a session's ledger is the same before and
    // after OpenClaw took it over from its file.
    let above = |n: usize| path.ancestors().nth(n).and_then(Path::file_name);
    let agent = match (above(2), above(3)) {
        (Some(agent), Some(agents)) if agents == "agents" => agent.to_string_lossy().into_owned(),
        _ => file.agent().to_owned(),
    };
    let session = file.session().to_owned();
    let extracted = Extracted::of(root, &agent, &session);
    let file = Box::new(file);
    Ok(Source { kind: Kind::Database, agent, session, path, file, extracted, meant: None })
}
