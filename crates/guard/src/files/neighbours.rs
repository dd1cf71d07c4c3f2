//! Other sessions of this user in the same worktree, in any project.

use std::fs;
use std::path::Path;

use super::repository::{self, Repository};
use super::state::{self, Seat};
use crate::session::Session;
use base::atomic;
use base::clock::Time;
use base::paths::Places;

/// Whether another client worked in this worktree since the session began, as far as its seat is
/// still there.
pub fn worked_beside(places: &Places, id: &str, me: &Session, tree: &Repository) -> bool {
    let beside = |project: Places, seat: Seat| {
        let Ok(Some(other)) = state::load(&project, &seat.session) else { return false };
        let lives = state::client(seat.client.pid) == Some(seat.client);
        let written = atomic::stat(&project.session(&seat.session, "json"));
        let last = other.ended.or(written.map(|(at, _)| Time::from_timestamp_nanos(at)));
        let over = last.is_some_and(|last| me.started.is_none_or(|began| last < began));
        let folder = other.cwd.as_deref().map_or(project.project.as_path(), Path::new);
        (lives || !over) && repository::find(folder).is_some_and(|there| there.own == tree.own)
    };
    places.all_states().iter().any(|state| {
        let others = seats(state).into_iter();
        let mut others = others.filter(|s| s.session != id && Some(s.client) != me.client);
        others.any(|seat| beside(places.for_state(state), seat))
    })
}

/// Whether a client has a session of the project open.
pub fn is_open(places: &Places) -> bool {
    let lives = |seat: &Seat| state::lives(places, seat.client);
    seats(&places.state).iter().any(lives)
}

fn seats(project: &Path) -> Vec<Seat> {
    let files = fs::read_dir(project.join("sessions")).into_iter().flatten().flatten();
    files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "seat"))
        .filter_map(|path| serde_json::from_slice(&atomic::read(&path).ok()??).ok())
        .collect()
}
