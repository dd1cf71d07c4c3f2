//! Tracks which session a client is in, and whether the client is alive.

use std::io;

use serde::{Deserialize, Serialize};

use super::{Client, load};
use base::atomic;
use base::paths::Places;
use base::process;

/// The session that a client process is in. It links one session to the next across `/clear`, which
/// keeps the process and changes the id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The process.
    pub client: Client,
    /// Its session.
    pub session: String,
    /// The processes that its hooks see ([`process::namespace`]), if the system reports it.
    #[serde(default)]
    pub numbering: Option<String>,
}

/// Puts the client into `session` and returns its previous session.
pub fn take_seat(places: &Places, client: Client, session: &str) -> io::Result<Option<String>> {
    let before = seat_before(places, client, session);
    let path = places.session(&format!("client-{}", client.pid), "seat");
    let seat = Seat { client, session: session.to_owned(), numbering: process::namespace() };
    atomic::write_unsynced(&path, &serde_json::to_vec(&seat).map_err(io::Error::from)?)?;
    Ok(before)
}

/// The session the client was in before; `None` if it is already in this one.
pub fn seat_before(places: &Places, client: Client, session: &str) -> Option<String> {
    let before = seat_of(places, client.pid).filter(|seat| seat.client == client)?;
    (before.session != session).then_some(before.session)
}

fn seat_of(places: &Places, pid: u32) -> Option<Seat> {
    let bytes = atomic::read(&places.session(&format!("client-{pid}"), "seat")).ok()??;
    serde_json::from_slice(&bytes).ok()
}

/// The session that a client process is in.
pub fn seat(places: &Places, pid: u32) -> Option<String> {
    seat_of(places, pid).map(|seat| seat.session)
}

/// Whether a process is a client with a seat here.
pub fn seated(places: &Places, pid: u32) -> bool {
    seat_of(places, pid).is_some_and(|seat| client(pid) == Some(seat.client))
}

/// Whether a client is alive. The client's sandbox hides other processes, so there it counts as
/// alive until its session ends.
pub fn lives(places: &Places, who: Client) -> bool {
    let there = seat_of(places, who.pid).filter(|seat| seat.client == who);
    let Some(hidden) =
        there.filter(|s| s.numbering.is_some() && s.numbering != process::namespace())
    else {
        return client(who.pid) == Some(who);
    };
    load(places, &hidden.session).ok().flatten().is_some_and(|s| s.ended.is_none())
}

/// Sessions whose client still runs and is still in them.
///
/// # Errors
/// A state folder that cannot be read.
pub fn live(places: &Places) -> io::Result<Vec<String>> {
    let mut all = super::all(places)?;
    all.retain(|id| {
        let session = load(places, id).ok().flatten();
        let here = session.and_then(|session| session.client);
        here.is_some_and(|here| {
            seat(places, here.pid).as_ref() == Some(id) && client(here.pid) == Some(here)
        })
    });
    Ok(all)
}

/// The live client that has a session open, as its hooks recorded it.
pub fn open_in(places: &Places, session: &str) -> Option<Client> {
    let known = load(places, session).ok().flatten().filter(|known| known.ended.is_none())?;
    let here = known.client.filter(|it| client(it.pid) == Some(*it))?;
    (seat(places, here.pid).as_deref() == Some(session)).then_some(here)
}

/// The client with this process id; `None` if it is gone.
pub fn client(pid: u32) -> Option<Client> {
    Some(Client { pid, start: process::start_time(pid)? })
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::super::update;
    use super::*;
    use base::clock::Time;

    #[test]
    fn a_client_out_of_sight_lives_until_its_session_ends() {
        let (_dir, places) = places();
        places.ensure_state().unwrap();
        let gone = Client { pid: 4_194_305, start: 1 };
        take_seat(&places, gone, "s").unwrap();
        assert!(!lives(&places, gone), "it would be seen");
        let path = places.session("client-4194305", "seat");
        let elsewhere = Some("pid:[1]".to_owned());
        let seat = Seat { client: gone, session: "s".into(), numbering: elsewhere };
        std::fs::write(&path, serde_json::to_vec(&seat).unwrap()).unwrap();
        update(&places, "s", |s| s.job = "j".into()).unwrap();
        assert!(lives(&places, gone));
        let later: Time = "2026-01-01T00:00:00Z".parse().unwrap();
        update(&places, "s", |s| s.ended = Some(later)).unwrap();
        assert!(!lives(&places, gone));
    }

    #[test]
    fn a_seat_belongs_to_one_process() {
        let (_dir, places) = places();
        places.ensure_state().unwrap();
        let me = client(std::process::id()).unwrap();
        assert_eq!(take_seat(&places, me, "one").unwrap(), None);
        assert_eq!(take_seat(&places, me, "one").unwrap(), None);
        assert_eq!(take_seat(&places, me, "two").unwrap().as_deref(), Some("one"));
        let other = Client { start: me.start + 1, ..me };
        assert_eq!(take_seat(&places, other, "three").unwrap(), None);
    }
}
