//! The other sessions of this user that are at work now, in any project. Two of them may use
//! working trees of one repository.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::path::PathBuf;

use super::repository;
use super::state::{self, Client, Seat};
use crate::session::Session;
use base::atomic;
use base::clock::Time;
use base::paths::Places;

/// A session at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// When its turn began; `None` if only its agents run.
    pub since: Option<Time>,
    /// The repository of its shell; `None` if unknown.
    pub repository: Option<repository::Repository>,
}

/// The sessions at work besides this one, whose client is `me`.
pub fn at_work(places: &Places, session: &str, me: Option<Client>) -> Vec<Neighbour> {
    let projects = places.state.parent().and_then(|all| fs::read_dir(all).ok());
    let projects = projects.into_iter().flatten().flatten().map(|entry| entry.path());
    projects
        .flat_map(|project| seats(&project).into_iter().map(move |seat| (project.clone(), seat)))
        .filter(|(_, seat)| seat.session != session && Some(seat.client) != me)
        .filter(|(_, seat)| state::client(seat.client.pid) == Some(seat.client))
        .filter_map(|(project, seat)| {
            let path = project.join("sessions").join(format!("{}.json", seat.session));
            let session: Session = serde_json::from_slice(&atomic::read(&path).ok()??).ok()?;
            let works = session.turn.is_some() || session.agents > 0;
            let folder = session.cwd.as_deref().map(PathBuf::from);
            let repository = folder.and_then(|folder| repository::find(&folder));
            works.then_some(Neighbour { since: session.turn, repository })
        })
        .collect()
}

fn seats(project: &std::path::Path) -> Vec<Seat> {
    let files = fs::read_dir(project.join("sessions")).into_iter().flatten().flatten();
    files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "seat"))
        .filter_map(|path| serde_json::from_slice(&atomic::read(&path).ok()??).ok())
        .collect()
}
