//! Ensures that only one live session works on a job.

use std::io;

use super::{change_record, lock, record};
use crate::files::state;
use base::paths::Places;
use notes::job::{Holder, Record};

/// The session that works on a job now, if its client is alive and still in that session.
pub fn holder(places: &Places, job: &str) -> Option<Holder> {
    record(places, job).holder.filter(|holder| {
        let Some(client) = holder.client else { return false };
        if !state::lives(places, client) {
            return false;
        }
        let Some(seated) = state::seat(places, client.pid) else { return false };
        let works_on = |id: &str| state::load(places, id).ok().flatten().map(|s| s.job);
        // In the middle of a focus, the session's state does not name its new job yet.
        seated == holder.session || works_on(&seated).as_deref() == Some(job)
    })
}

/// Takes a job for a session. Returns the holder if another live session has it. A name without
/// notes needs no holder. Fails while another process holds the lock.
pub fn take_job(places: &Places, job: &str, me: &Holder) -> io::Result<Result<(), Holder>> {
    if !super::exists(places, job) {
        return Ok(Ok(()));
    }
    let _held = lock(places, job)?;
    take_locked(places, job, me)
}

/// Like [`take_job`], for a caller that has the job's lock.
pub(super) fn take_locked(
    places: &Places,
    job: &str,
    me: &Holder,
) -> io::Result<Result<(), Holder>> {
    if let Some(other) = holder(places, job).filter(|other| !other.is_same_worker(me)) {
        return Ok(Err(other));
    }
    change_record(places, job, |record| record.holder = Some(me.clone())).map(Ok)
}

/// Releases a job if this session holds it. Fails while another process holds the lock.
pub fn release(places: &Places, job: &str, me: &Holder) -> io::Result<()> {
    if record(places, job).holder.is_none_or(|holder| !holder.is_same_worker(me)) {
        return Ok(());
    }
    let _held = lock(places, job)?;
    change_record(places, job, |record| release_locked(record, me))
}

/// Like [`release`], for a record that is being changed.
pub(super) fn release_locked(record: &mut Record, me: &Holder) {
    record.holder = record.holder.take().filter(|holder| !holder.is_same_worker(me));
}

#[cfg(test)]
mod tests {
    use super::super::exists;
    use super::*;
    use crate::boundary::Client;
    use base::env::Env;

    fn places() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        places.ensure_state().unwrap();
        (dir, places)
    }

    fn begun(places: &Places) {
        let _held = lock(places, "j").unwrap();
        change_record(places, "j", |record| record.auto = true).unwrap();
    }

    fn seated(places: &Places, session: &str) -> Holder {
        let me = state::client(std::process::id()).unwrap();
        state::take_seat(places, me, session).unwrap();
        Holder { session: session.to_owned(), client: Some(me) }
    }

    #[test]
    fn one_live_session_holds_a_job_and_only_it_lets_go() {
        let (_dir, places) = places();
        begun(&places);
        let me = seated(&places, "s");
        take_job(&places, "j", &me).unwrap().unwrap();
        let other = Holder { session: "t".into(), client: None };
        assert_eq!(take_job(&places, "j", &other).unwrap(), Err(me.clone()));
        release(&places, "j", &other).unwrap();
        assert_eq!(holder(&places, "j"), Some(me.clone()));
        // `/clear` changes the session id and keeps the client.
        let cleared = Holder { session: "u".into(), ..me };
        take_job(&places, "j", &cleared).unwrap().unwrap();
        release(&places, "j", &cleared).unwrap();
        assert_eq!(record(&places, "j").holder, None);
    }

    #[test]
    fn the_dead_and_those_who_left_hold_nothing() {
        let (_dir, places) = places();
        begun(&places);
        let me = seated(&places, "s");
        let other = Holder { session: "t".into(), client: None };
        let gone = Client { start: me.client.unwrap().start + 1, ..me.client.unwrap() };
        take_job(&places, "j", &Holder { client: Some(gone), ..me.clone() }).unwrap().unwrap();
        take_job(&places, "j", &other).unwrap().unwrap();
        take_job(&places, "j", &me).unwrap().unwrap();
        seated(&places, "next");
        assert_eq!(holder(&places, "j"), None, "the client is in another session");
        state::update(&places, "next", |s| s.job = "j".into()).unwrap();
        assert_eq!(holder(&places, "j"), Some(me), "which works on the job");
    }

    #[test]
    fn a_name_without_notes_needs_no_holder() {
        let (_dir, places) = places();
        let me = seated(&places, "s");
        take_job(&places, "j", &me).unwrap().unwrap();
        release(&places, "j", &me).unwrap();
        assert!(!exists(&places, "j"));
    }
}
