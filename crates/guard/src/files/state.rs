//! A session's state: one small file by session id, and two append-only sidecars that parallel
//! calls cannot race on.

mod seats;
mod sidecars;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access, statvfs};
use serde_json::Value;

pub use crate::boundary::Client;
use crate::session::Session;
use base::atomic;
use base::lock;
use base::paths::Places;

pub use seats::{Seat, client, live, lives, open_in, seat, seat_before, seated, take_seat};
pub use sidecars::{calls, count_call, knows_file, remember_file};

/// Reads a session's state; `None` if it does not exist. Fails if the file is not readable.
pub fn load(places: &Places, id: &str) -> io::Result<Option<Session>> {
    let Some(bytes) = atomic::read_record(&places.session(id, "json"))? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(io::Error::from)
}

/// Changes a session's state under its lock and returns the result of `change`. Writes only if
/// something changed. Unreadable state is replaced, because a wrong tier is better than a failed
/// run.
pub fn update<T>(
    places: &Places,
    id: &str,
    change: impl FnOnce(&mut Session) -> T,
) -> io::Result<T> {
    changed(places, id, change).map(|(_, result)| result)
}

/// Like [`update`], and also returns the new session.
pub fn changed<T>(
    places: &Places,
    id: &str,
    change: impl FnOnce(&mut Session) -> T,
) -> io::Result<(Session, T)> {
    let dir = places.state.join("sessions");
    let lock_path = dir.join(format!("{id}.lock"));
    let held = match lock::acquire(&lock_path, Duration::from_millis(500)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            places.ensure_state()?;
            lock::acquire(&lock_path, Duration::from_millis(500))
        }
        other => other,
    }?;
    let before = load(places, id).ok().flatten();
    let mut session = before.clone().unwrap_or_default();
    let result = change(&mut session);
    if before.as_ref() != Some(&session) {
        let bytes = serde_json::to_vec(&written(&session)?)?;
        atomic::write_unsynced(&places.session(id, "json"), &bytes)?;
    }
    drop(held);
    Ok((session, result))
}

/// A session's fields but those without a value: every call reads them, and most have none.
fn written(session: &Session) -> io::Result<Value> {
    fn drop_nulls(value: &mut Value) {
        if let Some(fields) = value.as_object_mut() {
            fields.values_mut().for_each(drop_nulls);
            fields.retain(|_, value| !value.is_null());
        }
    }
    let mut fields = serde_json::to_value(session)?;
    drop_nulls(&mut fields);
    Ok(fields)
}

/// Why the state can't be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The folder, or the nearest one above it that exists.
    pub near: PathBuf,
    /// What is wrong.
    pub why: String,
    /// Whether there is too little space, and not a missing right.
    pub is_full: bool,
}

/// Below this an atomic write of a session's state or of a saved output may fail.
const TIGHT: u64 = 20_000_000;

/// What keeps the guard from its state, if anything does. Writes nothing.
pub fn obstacle(places: &Places) -> Option<Obstacle> {
    let folder = &places.state;
    let near = folder.ancestors().find(|dir| dir.exists()).unwrap_or(folder).to_path_buf();
    let shown = folder.display();
    if let Err(e) = access(&near, Access::WRITE_OK | Access::EXEC_OK) {
        return Some(Obstacle {
            near,
            why: format!("{shown} can't be written ({e})"),
            is_full: false,
        });
    }
    let free = statvfs(&near).map_or(u64::MAX, |fs| fs.f_bavail.saturating_mul(fs.f_frsize));
    let why = || format!("{} MB free at {}, for {shown}", free / 1_000_000, near.display());
    (free < TIGHT).then(|| Obstacle { why: why(), near: near.clone(), is_full: true })
}

/// Ids of the sessions with state here.
pub fn all(places: &Places) -> io::Result<Vec<String>> {
    let dir = match std::fs::read_dir(places.state.join("sessions")) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut ids: Vec<String> = dir
        .flatten()
        .filter_map(|e| Some(Path::new(&e.file_name()).to_str()?.strip_suffix(".json")?.to_owned()))
        .collect();
    ids.sort();
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    pub(super) fn places() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        (dir, places)
    }

    #[test]
    fn updates_are_kept_and_damage_is_begun_anew() {
        let (_dir, places) = places();
        update(&places, "s", |s| s.job = "j".into()).unwrap();
        assert_eq!(load(&places, "s").unwrap().unwrap().job, "j");
        std::fs::write(places.session("s", "json"), "{\"job\":").unwrap();
        assert!(load(&places, "s").is_err());
        update(&places, "s", |s| s.stop_blocks += 1).unwrap();
        assert_eq!(load(&places, "s").unwrap().unwrap().stop_blocks, 1);
        assert_eq!(all(&places).unwrap(), ["s"]);
    }

    #[test]
    fn parallel_updates_all_land() {
        let (_dir, places) = places();
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    update(&places, "s", |s| s.stop_blocks += 1).unwrap();
                    count_call(&places, "s").unwrap();
                });
            }
        });
        assert_eq!(load(&places, "s").unwrap().unwrap().stop_blocks, 20);
        assert_eq!(calls(&places, "s"), 20);
    }
}
