//! A project, and which of its sessions and jobs are in use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::stored::KeepReason;
use base::atomic;
use base::paths::Places;
use guard::files::state::{self, Seat};
use guard::files::{boundary, prune};

/// A project's state.
pub struct Project {
    pub places: Places,
    /// Its sessions, each with its job.
    pub sessions: BTreeMap<String, String>,
    /// Sessions that are open or have a boundary under way.
    busy: BTreeMap<String, KeepReason>,
    /// Jobs of the busy sessions.
    jobs: BTreeSet<String>,
}

impl Project {
    /// Reads its sessions, and which of them are open.
    pub fn of(places: Places) -> Self {
        let mut project = Self {
            places,
            sessions: BTreeMap::new(),
            busy: BTreeMap::new(),
            jobs: BTreeSet::new(),
        };
        let places = &project.places;
        for id in state::all(places).unwrap_or_default() {
            let Ok(Some(session)) = state::load(places, &id) else { continue };
            if !prune::is_closed(places, &session) {
                project.busy.insert(id.clone(), KeepReason::Open);
                project.jobs.insert(session.job.clone());
            }
            project.sessions.insert(id, session.job);
        }
        let sessions = places.state.join("sessions");
        for name in names(&sessions, ".seat") {
            let seat = seat(&sessions.join(format!("{name}.seat")));
            if let Some(seat) = seat.filter(|seat| state::lives(places, seat.client)) {
                project.busy.insert(seat.session, KeepReason::Open);
            }
        }
        for id in names(&places.state.join("boundary"), ".json") {
            let Ok(Some(token)) = boundary::load(places, &id) else { continue };
            if token.live() {
                project.jobs.insert(token.job);
                for session in token.child.into_iter().chain([token.parent]) {
                    project.busy.entry(session).or_insert(KeepReason::UnderWay);
                }
            }
        }
        project
    }

    /// Why data of this session or job stays. Data that belongs to no session or job stays while
    /// anything is open.
    pub fn keep_reason(&self, session: Option<&str>, job: Option<&str>) -> Option<KeepReason> {
        match (session, job) {
            (Some(session), _) => self.busy.get(session).copied(),
            (None, Some(job)) => self.jobs.contains(job).then_some(KeepReason::Open),
            (None, None) => self.busy.values().next().copied(),
        }
    }
}

/// The client's session from a seat's file; `None` for any other file.
pub fn seat(path: &Path) -> Option<Seat> {
    let is_seat = path.extension().is_some_and(|end| end == "seat") && !is_link(path);
    let bytes = is_seat.then(|| atomic::read_record(path).ok().flatten()).flatten()?;
    serde_json::from_slice(&bytes).ok()
}

pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink())
}

/// Names in a folder with this ending, without it and sorted; empty if the folder is a link.
pub fn names(folder: &Path, end: &str) -> Vec<String> {
    if is_link(folder) {
        return Vec::new();
    }
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = all.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(end)?.to_owned())).collect();
    names.sort();
    names
}
