//! Who works on a job: one live session at a time.

use std::io;
use std::time::Duration;

use super::{change_record, lock, record};
use crate::files::state;
use crate::job::{Holder, Record};
use base::beneath;
use base::lock as locks;
use base::paths::Places;

/// The session that works on a job now, if its client lives and is still in it.
pub fn holder(places: &Places, job: &str) -> Option<Holder> {
    record(places, job).holder.filter(|holder| {
        let Some(client) = holder.client else { return false };
        if !state::lives(places, client) {
            return false;
        }
        let Some(seated) = state::seat(places, client.pid) else { return false };
        let works_on = |id: &str| state::load(places, id).ok().flatten().map(|s| s.job);
        // Right after a focus the hooks have not written down the session's new job.
        seated == holder.session || works_on(&seated).as_deref() == Some(job)
    })
}

/// Takes a job for a session. Refused, with its holder, while another one that
/// lives has it. A job that is no more than a claimed name needs no holder.
///
/// # Errors
/// The lock stayed taken, or what the system says.
pub fn hold(places: &Places, job: &str, me: &Holder) -> io::Result<Result<(), Holder>> {
    if !beneath::is_dir(&places.job(job)) {
        return Ok(Ok(()));
    }
    let _held = lock(places, job)?;
    hold_locked(places, job, me)
}

/// [`hold`] by who has the job's lock already.
pub(super) fn hold_locked(
    places: &Places,
    job: &str,
    me: &Holder,
) -> io::Result<Result<(), Holder>> {
    if let Some(other) = holder(places, job).filter(|other| !other.is(me)) {
        return Ok(Err(other));
    }
    change_record(places, job, |record| record.holder = Some(me.clone())).map(Ok)
}

/// Takes the dead, and those who went on, out of the records: a verb in the client's
/// sandbox sees no process but its own, and can't tell. Who is busy is left for later.
pub fn free_dead(places: &Places) -> io::Result<()> {
    for job in super::all(places) {
        let left = |record: &Record| record.holder.is_some();
        if !left(&record(places, &job)) || holder(places, &job).is_some() {
            continue;
        }
        let path = places.job(&job).join(".lock");
        let Ok(_held) = locks::acquire(&path, Duration::ZERO) else { continue };
        if holder(places, &job).is_none() {
            change_record(places, &job, |record| record.holder = None)?;
        }
    }
    Ok(())
}

/// Lets go of a job; one that somebody else holds stays theirs.
///
/// # Errors
/// The lock stayed taken, or what the system says.
pub fn release(places: &Places, job: &str, me: &Holder) -> io::Result<()> {
    if record(places, job).holder.is_none_or(|holder| !holder.is(me)) {
        return Ok(());
    }
    let _held = lock(places, job)?;
    change_record(places, job, |record| release_locked(record, me))
}

/// [`release`] in a record that is being changed.
pub(super) fn release_locked(record: &mut Record, me: &Holder) {
    record.holder = record.holder.take().filter(|holder| !holder.is(me));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::Client;
    use crate::files::origin;
    use base::env::Env;

    fn places() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::of([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::of(&env, dir.path()).unwrap();
        places.ensure_state().unwrap();
        (dir, places)
    }

    fn seated(places: &Places, session: &str) -> Holder {
        let me = state::client(std::process::id()).unwrap();
        state::take_seat(places, me, session).unwrap();
        Holder { session: session.to_owned(), client: Some(me) }
    }

    #[test]
    fn one_live_session_holds_a_job_and_only_it_lets_go() {
        let (_dir, places) = places();
        places.ensure_job("j").unwrap();
        let me = seated(&places, "s");
        hold(&places, "j", &me).unwrap().unwrap();
        let other = Holder { session: "t".into(), client: None };
        assert_eq!(hold(&places, "j", &other).unwrap(), Err(me.clone()));
        release(&places, "j", &other).unwrap();
        assert_eq!(holder(&places, "j"), Some(me.clone()));
        // `/clear` changes the id and keeps the client.
        let cleared = Holder { session: "u".into(), ..me };
        hold(&places, "j", &cleared).unwrap().unwrap();
        release(&places, "j", &cleared).unwrap();
        assert_eq!(record(&places, "j").holder, None);
    }

    #[test]
    fn the_dead_and_those_who_left_hold_nothing() {
        let (_dir, places) = places();
        places.ensure_job("j").unwrap();
        let me = seated(&places, "s");
        let other = Holder { session: "t".into(), client: None };
        let gone = Client { start: me.client.unwrap().start + 1, ..me.client.unwrap() };
        hold(&places, "j", &Holder { client: Some(gone), ..me.clone() }).unwrap().unwrap();
        hold(&places, "j", &other).unwrap().unwrap();
        hold(&places, "j", &me).unwrap().unwrap();
        seated(&places, "next");
        assert_eq!(holder(&places, "j"), None, "the client is in another session");
        state::update(&places, "next", |s| s.job = "j".into()).unwrap();
        assert_eq!(holder(&places, "j"), Some(me), "which works on the job");
    }

    #[test]
    fn only_the_dead_are_freed() {
        let (_dir, places) = places();
        let me = seated(&places, "s");
        let gone = Client { start: me.client.unwrap().start + 1, ..me.client.unwrap() };
        let dead = Holder { session: "t".into(), client: Some(gone) };
        for (job, by) in [("mine", &me), ("theirs", &dead)] {
            origin::made(&places, job).unwrap();
            places.ensure_job(job).unwrap();
            hold(&places, job, by).unwrap().unwrap();
        }
        free_dead(&places).unwrap();
        let holders = ["mine", "theirs"].map(|job| record(&places, job).holder);
        assert_eq!(holders, [Some(me), None]);
    }

    #[test]
    fn a_name_without_a_folder_needs_no_holder() {
        let (_dir, places) = places();
        let me = seated(&places, "s");
        hold(&places, "j", &me).unwrap().unwrap();
        release(&places, "j", &me).unwrap();
        assert!(!places.job("j").exists());
    }
}
