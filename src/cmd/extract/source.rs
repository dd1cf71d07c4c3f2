//! Finds a session by name: a file of pi, `OpenClaw` or Claude Code, or a session in an `OpenClaw`
//! database.

mod heirs;
mod kind;
mod masked;
mod projected;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use self::masked::Masked;
use self::projected::Projected;
use crate::cmd::import;
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
    /// The format.
    pub kind: Kind,
    /// The agent, by its name in the store.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// Its file.
    pub path: PathBuf,
    /// Its rows.
    pub file: Box<dyn SessionFile>,
    /// Its extracted content.
    pub extracted: Extracted,
    /// The number, from 1, of the content to restore if several match a placeholder.
    pub meant: Option<usize>,
}

impl Source {
    /// The path that [`open`] takes: the file; for a database, `FILE:ID`.
    pub fn place(&self) -> PathBuf {
        match self.kind {
            Kind::Database => place_in(&self.path, &self.session),
            Kind::Jsonl | Kind::Claude => self.path.clone(),
        }
    }

    /// `agent/session`, as the log names it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.agent, self.session)
    }
}

/// `FILE:ID`
fn place_in(database: &Path, session: &str) -> PathBuf {
    let mut place = database.as_os_str().to_owned();
    place.push(":");
    place.push(session);
    place.into()
}

/// Whether the file has the name of an `OpenClaw` agent database.
pub fn is_database_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "openclaw-agent.sqlite")
}

/// The user's extraction settings.
pub fn settings(env: &Env) -> ExtractSettings {
    let project = project_root(env, &env.cwd().unwrap_or_default());
    let places = Places::for_project(env, &project);
    places.map(|places| read_settings(&places, env).0.extract).unwrap_or_default()
}

/// Finds a session: a file, an id or id prefix, `FILE:ID` of a database, or `this`.
///
/// # Errors
/// No match or several, a file that is not a session, or a session whose file is gone.
pub fn find(env: &Env, root: &Root, name: Option<&str>) -> anyhow::Result<Source> {
    let name = named(env, name)?;
    let path = Path::new(&name);
    if name.contains('/') || path.extension().is_some() || path.symlink_metadata().is_ok() {
        if is_gone(path) {
            bail!("there is no file {}; {NAMES}", path.display());
        }
        return open(root, path);
    }
    let mut found = known(env, &name);
    if found.is_empty() {
        found = stored_sessions(root, &name)?;
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
        1 => open(root, places.first().context("one place")?),
        0 => {
            let looked = import::join_paths(&import::homes(env));
            bail!("no session {name} found in\n  {looked}\nGive the path of its file")
        }
        _ => {
            let list = import::join_paths(&Vec::from_iter(places));
            bail!("several sessions begin with {name}; name one of\n  {list}")
        }
    }
}

/// The clients' sessions whose id starts with `name`: id and place.
fn known(env: &Env, name: &str) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for home in import::homes(env) {
        for path in import::below(&home, &mut |_, _| {}) {
            if let Some(id) = import::ids(&path).into_iter().find(|id| id.starts_with(name)) {
                found.push((id, path.clone()));
            }
        }
        for agent in fs::read_dir(&home).into_iter().flatten().flatten() {
            let path = agent.path().join("agent/openclaw-agent.sqlite");
            if !path.is_file() {
                continue;
            }
            // An unreadable database is reported when it is named.
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

/// The last places of sessions with extracted content, by id prefix.
fn stored_sessions(root: &Root, name: &str) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let all = extracted::find_ledgers(root);
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

/// Opens the session in a file, or at `FILE:ID`.
///
/// # Errors
/// A file that cannot be read, or is not a session.
pub fn open(root: &Root, place: &Path) -> anyhow::Result<Source> {
    if let Err(e) = fs::symlink_metadata(place) {
        if let Some((file, id)) = split_place(place) {
            return database(root, &file, Some(&id));
        }
        if e.kind() == io::ErrorKind::NotFound {
            bail!("its file is gone: {}", place.display());
        }
    }
    let (kind, header) = kind::detect(place)?;
    if kind == Kind::Database {
        return database(root, place, None);
    }
    let mut known = import::Source::of(place, None)?;
    known.begun(kind == Kind::Jsonl, header.as_deref());
    // By the given name, so that a link is locked, too.
    let jsonl = Jsonl::new(&std::path::absolute(place)?);
    let file: Box<dyn SessionFile> = match kind {
        Kind::Claude => Box::new(kind::Untouched(jsonl)),
        Kind::Jsonl | Kind::Database => Box::new(Projected::now(jsonl)),
    };
    let extracted = Extracted::for_session(root, &known.agent, &known.session);
    let import::Source { agent, session, path, .. } = known;
    Ok(Source { kind, agent, session, path, file, extracted, meant: None })
}

/// [`open`], to find what it may need: a session of pi has placeholders on other branches, too, and
/// one of `OpenClaw` where an entry is whole for now.
pub(super) fn open_for_needs(root: &Root, place: &Path) -> anyhow::Result<Source> {
    let source = open(root, place)?;
    if source.kind == Kind::Database {
        let file = Database::find(&source.path, Some(&source.session))?;
        let masked = Masked::now(file, source.place(), source.extracted.clone()).ever();
        return Ok(Source { file: Box::new(masked), ..source });
    }
    if source.kind != Kind::Jsonl {
        return Ok(source);
    }
    let jsonl = Jsonl::new(&std::path::absolute(place)?);
    Ok(Source { file: Box::new(Projected::ever(jsonl)), ..source })
}

/// Whether nothing exists there, not even a database.
pub fn is_gone(place: &Path) -> bool {
    let missing = |e: io::Error| e.kind() == io::ErrorKind::NotFound;
    fs::symlink_metadata(place).is_err_and(missing) && split_place(place).is_none()
}

/// Splits `FILE:ID`, if that file exists.
fn split_place(place: &Path) -> Option<(PathBuf, String)> {
    let (file, id) = place.to_str()?.rsplit_once(':')?;
    Path::new(file).is_file().then(|| (PathBuf::from(file), id.to_owned()))
}

/// Opens a session in a database, by its id or id prefix.
fn database(root: &Root, file: &Path, id: Option<&str>) -> anyhow::Result<Source> {
    let path = fs::canonicalize(file).with_context(|| file.display().to_string())?;
    let file = Database::find(&path, id)?;
    // `agents/<agent>/` holds sessions of both formats. The ledger is the same before and after
    // OpenClaw imports the session's file.
    let above = |n: usize| path.ancestors().nth(n).and_then(Path::file_name);
    let agent = match (above(2), above(3)) {
        (Some(agent), Some(agents)) if agents == "agents" => agent.to_string_lossy().into_owned(),
        _ => file.agent().to_owned(),
    };
    let session = file.session().to_owned();
    let extracted = Extracted::for_session(root, &agent, &session);
    let place = place_in(&path, &session);
    let file = Box::new(Masked::now(file, place, extracted.clone()));
    Ok(Source { kind: Kind::Database, agent, session, path, file, extracted, meant: None })
}
