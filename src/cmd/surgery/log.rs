//! `surgery log`: lists what surgery has made.

use std::fmt;
use std::path::Path;

use serde::{Serialize, Serializer};

use super::source::Store;
use crate::cmd::Failure;
use crate::cmd::selector::Name;
use base::clock::Time;
use base::env::Env;
use base::shown::local_minute;
use store::index::Export;
use surgery::table::short;

/// What surgery has made, newest first.
#[derive(Debug)]
pub struct Log(Vec<Export>);

impl Log {
    /// All, or what is, or was made from, this session.
    ///
    /// # Errors
    /// An unreadable database, or a session without successors.
    pub fn of(env: &Env, session: Option<&str>) -> anyhow::Result<Self> {
        let store = Store::open(env)?;
        let mut all = store.index.exports()?;
        all.reverse();
        if let Some(text) = session {
            let name = Name::parse(env, text)?;
            let made = all.len();
            all.retain(|export| {
                let of = |(_, session): &(String, String)| name.fits(session);
                name.fits(&export.id) || export.detail.sources.iter().any(of)
            });
            if all.is_empty() && made > 0 {
                let what = format!("surgery has made nothing from {text}, nor {text} itself");
                let hint = format!(
                    "without an id, `brain-guard surgery log` lists all that it made ({made})"
                );
                return Err(Failure::not_found(what).hint(hint).into());
            }
        }
        Ok(Self(all))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|export| writeln!(f, "{}", line(export)))
    }
}

impl Serialize for Log {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sessions = self.0.iter().map(Entry::of).collect();
        Entries { sessions }.serialize(serializer)
    }
}

#[derive(Serialize)]
struct Entries<'a> {
    sessions: Vec<Entry<'a>>,
}

/// The fields that are not only for `remove`.
#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    made: Time,
    operation: &'a str,
    path: &'a str,
    bytes: u64,
    removed: Option<Time>,
    state: &'static str,
    sources: Vec<Source<'a>>,
    indexed: Vec<Indexed>,
    companions: Vec<Companion<'a>>,
}

#[derive(Serialize)]
struct Source<'a> {
    agent: &'a str,
    session: &'a str,
}

#[derive(Serialize)]
struct Indexed {
    session: String,
    round: u32,
}

#[derive(Serialize)]
struct Companion<'a> {
    path: &'a str,
    bytes: u64,
}

impl<'a> Entry<'a> {
    fn of(export: &'a Export) -> Self {
        let Export { id, made, operation, path, bytes, removed, detail, .. } = export;
        let indexed = detail.tables.iter().flat_map(|numbers| {
            let rounds = numbers.rounds.iter().flat_map(|(from, to)| *from..=*to);
            rounds.map(move |round| Indexed { session: numbers.session.clone(), round })
        });
        Self {
            id,
            made: *made,
            operation,
            path,
            bytes: *bytes,
            removed: *removed,
            state: state(export),
            sources: detail
                .sources
                .iter()
                .map(|(agent, session)| Source { agent, session })
                .collect(),
            indexed: indexed.collect(),
            companions: detail
                .companions
                .iter()
                .map(|file| Companion { path: &file.path, bytes: file.bytes })
                .collect(),
        }
    }
}

/// Whether the file still exists or was removed.
fn state(export: &Export) -> &'static str {
    match export.removed {
        Some(_) => "removed",
        None if Path::new(&export.path).exists() => "there",
        None => "gone",
    }
}

fn line(export: &Export) -> String {
    let sources: Vec<&str> = export.detail.sources.iter().map(|(_, id)| short(id)).collect();
    let state = match state(export) {
        "there" => String::new(),
        other => format!(" ({other})"),
    };
    format!(
        "{}  {}  {} of {}{state}\n  {}",
        local_minute(Some(export.made)),
        short(&export.id),
        export.operation,
        sources.join(" and "),
        export.path
    )
}
