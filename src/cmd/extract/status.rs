//! `extract status`: what each session has in the store, and when tasks ran and run next.

use base::shown::size;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use chrono::Local;
use serde::Serialize;

use super::{read, source, watch};
use crate::cmd::err;
use crate::cmd::import::{self, count};
use base::clock::{self, Time};
use base::env::Env;
use base::shown::local_minute;
use store::blocks::Root;
use store::extracted::{self, Amount, Extracted, Record, State};

#[derive(Debug, Serialize)]
pub struct Status {
    /// The content's folder.
    store: PathBuf,
    objects: Amount,
    /// Sessions with extracted content.
    sessions: Vec<Session>,
    /// When sessions were last checked.
    last_run_at: Option<Time>,
    /// When unneeded content was last removed.
    last_retention_run_at: Option<Time>,
    /// Whether a watch is running on the store.
    watched: bool,
    /// Whether it may extract: `extract.enabled`.
    enabled: bool,
    /// The next check, if a cron expression sets it.
    next_look: Option<Time>,
}

#[derive(Debug, Serialize)]
struct Session {
    /// `agent/id`, as in the store.
    #[serde(rename = "session")]
    name: String,
    /// Its place at the last extraction.
    file: Option<PathBuf>,
    /// Its live placeholders; `None` if it cannot be read.
    live: Option<u64>,
    live_bytes: u64,
    /// Values ever extracted.
    extracted: u64,
    /// Bytes ever stored, each content once.
    stored_bytes: u64,
    /// Restores ever.
    restores: u64,
    /// The last extraction.
    last: Option<Time>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Status {
    /// Reads the whole store.
    pub fn of(env: &Env) -> anyhow::Result<Self> {
        let root = import::root(env)?;
        let now = clock::now();
        let settings = source::settings(env);
        let state = State::read(&root);
        let mut sessions = Vec::new();
        let all = extracted::find_ledgers(&root);
        for (path, why) in &all.unread {
            err(format_args!("{} can't be read: {why}", path.display()));
        }
        for extracted in all.found {
            sessions.push(session(&root, &extracted));
        }
        let last_look = state.last_run_at.unwrap_or(now);
        let watched = watch::is_running(&root);
        let cron = settings.auto_cron.is_some();
        let next_look = watch::next_look(&settings, Some(last_look.min(now)), now, &Local);
        let objects = extracted::count_objects(&root)?;
        Ok(Self {
            store: root.path().join("extracted"),
            objects,
            sessions,
            last_run_at: state.last_run_at,
            last_retention_run_at: state.last_retention_run_at,
            watched,
            enabled: settings.enabled,
            next_look: next_look.filter(|_| cron),
        })
    }
}

fn session(root: &Root, extracted: &Extracted) -> Session {
    let mut session = Session {
        name: extracted.name(),
        file: None,
        live: None,
        live_bytes: 0,
        extracted: 0,
        stored_bytes: 0,
        restores: 0,
        last: None,
        why: None,
    };
    let ledger = match extracted.ledger() {
        Ok(ledger) => ledger,
        Err(e) => {
            session.why = Some(e.to_string());
            return session;
        }
    };
    let (mut objects, mut file) = (BTreeMap::new(), None);
    for record in &ledger.records {
        match record {
            Record::Extract(extract) => {
                objects.insert(&extract.object, extract.bytes);
                session.extracted += 1;
                session.last = session.last.max(Some(extract.at));
                file = Some(&extract.file);
            }
            Record::Restore { .. } => session.restores += 1,
            Record::Set(set) => file = Some(&set.file),
        }
    }
    session.file = file.map(|file| file.to_path_buf());
    session.stored_bytes = objects.into_values().sum();
    let Some(file) = &session.file else { return session };
    let live = source::open(root, file).and_then(|source| read::session(&source));
    match live {
        Ok(read) => {
            session.live = Some(read.live.len() as u64);
            session.live_bytes = read.live.iter().map(|live| live.bytes).sum();
        }
        Err(e) => session.why = Some(format!("{e:#}")),
    }
    session
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for session in &self.sessions {
            let now = match (&session.live, &session.why) {
                (Some(live), _) => {
                    let values = count(*live as usize, "value");
                    format!("{values} extracted now, {}", size(session.live_bytes))
                }
                (None, why) => why.clone().unwrap_or_default(),
            };
            writeln!(
                f,
                "{}: {now}; {} ever, {} in the store; {}; last {}",
                session.name,
                count(session.extracted as usize, "value"),
                size(session.stored_bytes),
                count(session.restores as usize, "restore"),
                local_minute(session.last),
            )?;
            if let Some(file) = &session.file {
                writeln!(f, "  {}", file.display())?;
            }
        }
        let store = self.store.display();
        match (self.sessions.is_empty(), self.objects.bytes) {
            (false, _) => {}
            (true, 0) => writeln!(f, "nothing was extracted yet; the store is {store}")?,
            (true, bytes) => writeln!(
                f,
                "no ledger names the {} in the store {store}: if a ledger is lost, put it back; otherwise a killed run left them in {store}/objects",
                size(bytes)
            )?,
        }
        let ran = |at: Option<Time>| at.map_or("never".to_owned(), |at| local_minute(Some(at)));
        let watch = if self.watched { "running" } else { "not running" };
        writeln!(f, "last check of the sessions: {}; a watch is {watch}", ran(self.last_run_at))?;
        if let Some(next) = self.next_look {
            writeln!(f, "next check, if a watch runs: {}", local_minute(Some(next)))?;
        }
        let swept = ran(self.last_retention_run_at);
        write!(f, "`brain-guard extract gc` ran last: {swept}; nothing else removes content")
    }
}
