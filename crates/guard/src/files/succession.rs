//! Successions on disk: the last one of each session, changed under a lock.

use std::io;
use std::time::Duration;

use super::state;
use crate::boundary::Client;
use crate::succession::Succession;
use base::atomic;
use base::clock::Time;
use base::lock;
use base::paths::Places;

/// Reads the last succession of a session.
///
/// # Errors
/// What the system or the parser says.
pub fn load(places: &Places, session: &str) -> io::Result<Option<Succession>> {
    let path = places.session(session, "succession");
    let Some(bytes) = atomic::read_record(&path)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(io::Error::from)
}

/// Writes a new succession in place of the last one.
///
/// # Errors
/// What the system says.
pub fn create(places: &Places, succession: &Succession) -> io::Result<()> {
    places.ensure_state()?;
    write(places, succession)
}

fn write(places: &Places, succession: &Succession) -> io::Result<()> {
    let bytes = serde_json::to_vec(succession).map_err(io::Error::from)?;
    atomic::write(&places.session(&succession.from, "succession"), &bytes)
}

/// Changes the last succession of a session under its lock; `None` if there is none.
///
/// # Errors
/// Another process holds the lock; what the system says.
pub fn update<T>(
    places: &Places,
    session: &str,
    change: impl FnOnce(&mut Succession) -> T,
) -> io::Result<Option<T>> {
    let path = places.session(session, "succession.lock");
    let _held = lock::acquire(&path, Duration::from_secs(1))?;
    let Some(mut succession) = load(places, session)? else { return Ok(None) };
    let before = succession.clone();
    let result = change(&mut succession);
    if succession != before {
        write(places, &succession)?;
    }
    Ok(Some(result))
}

/// The succession of a session that waits or runs in this client.
pub fn open(
    places: &Places,
    session: &str,
    client: Option<Client>,
    now: Time,
) -> Option<Succession> {
    let found = load(places, session).ok().flatten()?;
    let is_alive = found.client.is_none_or(|of| state::lives(places, of));
    let is_here = client.is_none() || found.client.is_none() || found.client == client;
    found.is_open(now, is_alive && is_here).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::succession::testing::token;
    use crate::succession::{Step, Succession};
    use base::env::Env;

    #[test]
    fn a_session_has_one_and_another_client_ends_it() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        assert_eq!(load(&places, "old").unwrap(), None);
        let me = state::client(std::process::id());
        let made = Succession { client: me, ..token(Step::Agreed) };
        create(&places, &made).unwrap();
        let now = made.since;
        assert!(open(&places, "old", me, now).is_some());
        let gone = Client { pid: 4_194_305, start: 1 };
        assert!(open(&places, "old", Some(gone), now).is_none());
        let moved = update(&places, "old", |s| s.advance(Step::Operating, now)).unwrap();
        assert_eq!(moved, Some(true));
        update(&places, "old", |s| s.fail("why", now)).unwrap();
        assert!(open(&places, "old", me, now).is_none());
    }
}
