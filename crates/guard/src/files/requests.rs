//! Requests of the agent's verbs to the hooks: one list per session, in order. In the client's
//! sandbox a verb can write only in the project, and the hooks write the state.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use rustix::fs::RenameFlags;

use super::state;
use super::{jobs, origin};
use crate::session::SealAsked;
use base::beneath::Spot;
use base::clock::Time;
use base::paths::{Places, is_safe_name};
use base::{atomic, beneath};

/// One request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Request {
    /// A seal was made.
    Seal {
        /// Job of the file.
        job: String,
        /// Version of the sealed file.
        version: u64,
        /// Whether a boundary was requested explicitly (`--clear`) or refused.
        clear: Option<bool>,
        /// Whether the session wrote anything itself; without that there is no boundary.
        authored: bool,
        /// The agent was told that the session will be cleared.
        #[serde(default)]
        promised: bool,
        /// Words before and after.
        #[serde(default)]
        words: Option<(u64, u64)>,
        /// When.
        at: Time,
    },
    /// A seal asked the agent something and must not ask again.
    SealAsked(SealAsked),
    /// The session works on this job from now on. The job's record already says so.
    Focus {
        /// The job.
        job: String,
        /// The old name of the job whose file it took over; its folder was renamed.
        #[serde(default)]
        adopted: Option<String>,
        /// The job was created from the template.
        #[serde(default)]
        created: bool,
        /// Whether the session is cleared for it.
        clear: bool,
        /// When.
        at: Time,
    },
    /// The job was paused; the session gets a default job.
    Pause {
        /// The job.
        job: String,
        /// When.
        at: Time,
    },
    /// The job is closed; the session ends with its transition note.
    Complete {
        /// The job.
        job: String,
        /// Version of its sealed file.
        version: u64,
        /// When.
        at: Time,
    },
}

impl Request {
    /// Whether its job names are safe. Anybody can write the file in the project, and a job's name
    /// becomes a path.
    fn is_plain(&self) -> bool {
        let adopted = match self {
            Self::Focus { adopted, .. } => adopted.as_ref(),
            Self::Seal { .. } | Self::SealAsked(_) | Self::Pause { .. } | Self::Complete { .. } => {
                None
            }
        };
        is_safe_name(self.job()) && adopted.is_none_or(|name| is_safe_name(name))
    }

    /// The job it is about.
    fn job(&self) -> &str {
        match self {
            Self::Seal { job, .. }
            | Self::Focus { job, .. }
            | Self::Pause { job, .. }
            | Self::Complete { job, .. } => job,
            Self::SealAsked(asked) => &asked.job,
        }
    }

    /// The job after this request: `Some(None)` for the next default job, `None` if it does not
    /// change.
    pub fn moves_to(&self) -> Option<Option<&str>> {
        match self {
            Self::Seal { .. } | Self::SealAsked(_) => None,
            Self::Focus { job, .. } => Some(Some(job)),
            Self::Pause { .. } | Self::Complete { .. } => Some(None),
        }
    }
}

fn paths(places: &Places, session: &str) -> [PathBuf; 2] {
    places.requests().map(|folder| folder.join(format!("{session}.jsonl")))
}

/// Adds a request for the hooks.
pub fn add(places: &Places, session: &str, request: &Request) -> io::Result<()> {
    let mut line = serde_json::to_vec(request).map_err(io::Error::from)?;
    line.push(b'\n');
    places.write_request(|folder| atomic::append(&folder.join(format!("{session}.jsonl")), &line))
}

/// The requests that wait or are being handled, oldest first, without damaged lines.
pub fn waiting(places: &Places, session: &str) -> Vec<Request> {
    let files = paths(places, session).into_iter().flat_map(|path| {
        let mut files = taken(&path, session, |_| true);
        files.push(path);
        files
    });
    files
        .flat_map(|file| read(&file))
        .filter(|request| !is_about_found(places, session, request))
        .collect()
}

/// The last question of a seal that no hook has recorded yet.
pub fn seal_asked(places: &Places, session: &str) -> Option<SealAsked> {
    let asked = |request| match request {
        Request::SealAsked(asked) => Some(asked),
        _ => None,
    };
    waiting(places, session).into_iter().rev().find_map(asked)
}

/// Requests that one process has taken. They stay on disk until they are handled, so a killed hook
/// leaves them to the next one.
#[derive(Debug)]
pub struct Taken {
    /// The requests, oldest first.
    pub requests: Vec<Request>,
    files: Vec<PathBuf>,
}

impl Taken {
    /// Removes the requests after they are handled.
    pub fn done(self) {
        for file in self.files {
            let _ = atomic::remove(&file);
        }
    }
}

/// Takes the session's requests. Only one of several processes gets them.
pub fn take(places: &Places, session: &str) -> Taken {
    let mut files = Vec::new();
    for path in paths(places, session) {
        // Files of processes that have ended.
        files.extend(taken(&path, session, |pid| state::client(pid).is_none()));
        let own = path.with_extension(format!("{}.taken", std::process::id()));
        if rename(&path, &own).is_ok() {
            files.push(own);
        }
    }
    let requests = files.iter().flat_map(|file| read(file));
    let requests = requests.filter(|request| !is_about_found(places, session, request)).collect();
    Taken { requests, files }
}

/// The files that processes have taken, selected by process id.
fn taken(path: &Path, session: &str, by: impl Fn(u32) -> bool) -> Vec<PathBuf> {
    let Some(folder) = path.parent() else { return Vec::new() };
    let left = |name: &str| {
        let pid = name.strip_prefix(session)?.strip_prefix('.')?.strip_suffix(".taken")?;
        pid.parse().ok().filter(|pid| by(*pid))
    };
    let names = beneath::list(folder, 10_000).unwrap_or_default();
    let taken = names.iter().filter(|(name, _)| left(name).is_some());
    taken.map(|(name, _)| folder.join(name)).collect()
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    Spot::for_path(from)?.rename(&Spot::for_path(to)?, RenameFlags::empty())
}

fn read(path: &Path) -> Vec<Request> {
    let Ok(Some(bytes)) = atomic::read(path) else { return Vec::new() };
    let lines = bytes.split(|b| *b == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).filter(Request::is_plain).collect()
}

/// Whether a request is about a job from the checkout, which no verb takes. A job that this session
/// created while the state was not writable is its own.
fn is_about_found(places: &Places, session: &str, request: &Request) -> bool {
    let job = jobs::current_name(places, request.job());
    if !origin::is_found(places, &job) {
        return false;
    }
    let made = matches!(request, Request::Focus { created: true, .. })
        && jobs::record(places, &job).holder.is_some_and(|holder| holder.session == session);
    !(made && origin::record_created(places, &job).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    #[test]
    fn requests_are_taken_once_in_order_and_only_by_their_session() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        let seal = Request::Seal {
            job: "j".into(),
            version: 1,
            clear: None,
            authored: true,
            promised: false,
            words: None,
            at,
        };
        let focus =
            Request::Focus { job: "k".into(), adopted: None, created: false, clear: true, at };
        add(&places, "s", &seal).unwrap();
        add(&places, "s", &focus).unwrap();
        let out = Request::Pause { job: "../../src".into(), at };
        add(&places, "s", &out).unwrap();
        assert_eq!(take(&places, "other").requests, []);
        assert_eq!(waiting(&places, "s").len(), 2);
        let taken = take(&places, "s");
        assert_eq!(taken.requests, [seal.clone(), focus]);
        assert_eq!(take(&places, "s").requests, [], "its taker lives");
        assert_eq!(waiting(&places, "s").len(), 2, "and is not done");
        taken.done();
        assert_eq!(std::fs::read_dir(&places.requests()[0]).unwrap().count(), 0);
        // No process has this id. The project was not writable at that time.
        atomic::create_private_dir(&places.requests()[1]).unwrap();
        let mut line = serde_json::to_vec(&seal).unwrap();
        line.push(b'\n');
        std::fs::write(places.requests()[1].join("s.4194305.taken"), line).unwrap();
        let taken = take(&places, "s");
        assert_eq!(taken.requests, [seal]);
        taken.done();
        assert_eq!(take(&places, "s").requests, []);
    }
}
