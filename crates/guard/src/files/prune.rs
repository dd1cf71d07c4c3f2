//! Removes what the state keeps of sessions that ended long ago, and what killed programs left.
//! It never removes notes or sealed versions; the user does that with `purge`.

mod leftovers;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{boundary, job_files, state};
use crate::session::Session;
use base::clock::Time;
use base::paths::Places;
use base::{atomic, lock};

pub use leftovers::{leftovers, remove_leftovers};

/// Age at which a session's state is removed, if its transcript is gone too. The client removes its
/// own sessions after 30 days, or after its setting `cleanupPeriodDays`. Until then they can be
/// resumed.
const AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Age at which a snapshot counts as abandoned.
const LEFT: Duration = Duration::from_secs(24 * 60 * 60);

/// How often the end of a session looks for old state.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum sessions that one session's end removes, because the client waits for it.
const AT_ONCE: usize = 50;

/// State that is no longer needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Old {
    /// Sessions that ended, or whose client is gone, more than 30 days ago.
    pub sessions: Vec<String>,
    /// Boundaries that ended just as long ago.
    pub boundaries: Vec<String>,
    /// Folders of jobs without notes, unused for just as long.
    pub jobs: Vec<PathBuf>,
    /// Seats of clients that are gone, and unfinished files.
    pub left: Vec<PathBuf>,
}

/// Finds old state, for at most `at_most` sessions.
fn find_old(places: &Places, now: Time, at_most: usize) -> Old {
    let clock = SystemTime::from(now);
    let older = |path: &Path, age| {
        let modified = fs::symlink_metadata(path).and_then(|meta| meta.modified());
        modified.is_ok_and(|at| clock.duration_since(at).is_ok_and(|passed| passed > age))
    };
    let old = |path: &PathBuf| older(path, AGE);
    let name = |path: &PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let sessions =
        files(&places.state.join("sessions"), "json").filter(old).filter_map(|p| name(&p));
    let boundaries =
        files(&places.state.join("boundary"), "json").filter(old).filter_map(|p| name(&p));
    let seats = files(&places.state.join("sessions"), "seat").filter(|path| gone(places, path));
    let torn = left_in_state(places, now);
    let snapshots = ["json", "agreed", "strip"].map(|kind| files(&places.snapshots(), kind));
    let snapshots = snapshots.into_iter().flatten().filter(|path| older(path, LEFT));
    let jobs = fs::read_dir(places.jobs()).into_iter().flatten().flatten().map(|job| job.path());
    let empty = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| !job_files::exists(places, name)) && path.is_dir()
    };
    Old {
        jobs: jobs.filter(old).filter(empty).take(at_most).collect(),
        sessions: sessions.filter(|id| is_removable(places, id)).take(at_most).collect(),
        boundaries: boundaries.filter(|id| ended(places, id)).take(at_most).collect(),
        left: seats.chain(snapshots).chain(torn).collect(),
    }
}

/// The temporary files that killed programs left in the state.
pub fn left_in_state(places: &Places, now: Time) -> Vec<PathBuf> {
    leftovers::below(&places.state, now)
}

/// Removes the old state, except what is in use at this moment. Returns the first error, after
/// trying all files.
fn remove(places: &Places, old: &Old) -> io::Result<()> {
    let sessions = places.state.join("sessions");
    let mut result = Ok(());
    for id in &old.sessions {
        let Ok(held) = lock::acquire(&places.session(id, "lock"), Duration::ZERO) else { continue };
        // It may have been resumed in the meantime.
        if !is_removable(places, id) {
            continue;
        }
        let all = all_of(&sessions, id);
        result = all.iter().map(|path| atomic::remove(path)).fold(result, io::Result::and);
        let outputs = places.outputs(id);
        if outputs.is_dir() {
            result = result.and(fs::remove_dir_all(outputs));
        }
        drop(held);
    }
    for id in &old.boundaries {
        let all = all_of(&places.state.join("boundary"), id);
        result = all.iter().map(|path| atomic::remove(path)).fold(result, io::Result::and);
    }
    for path in &old.jobs {
        result = result.and(fs::remove_dir_all(path));
    }
    for path in &old.left {
        result = result.and(atomic::remove(path));
    }
    result
}

/// Removes some old state at a session's end, at most once a day.
pub fn prune_daily(places: &Places, now: Time) -> io::Result<()> {
    let mark = places.state.join("sessions").join(".pruned");
    let looked = fs::metadata(&mark).and_then(|meta| meta.modified());
    // A mark from this moment may be younger than `now`.
    let lately = |at| match SystemTime::from(now).duration_since(at) {
        Ok(passed) => passed < EVERY,
        Err(ahead) => ahead.duration() < EVERY,
    };
    if looked.is_ok_and(lately) {
        return Ok(());
    }
    atomic::write_unsynced(&mark, b"")?;
    remove(places, &find_old(places, now, AT_ONCE))
}

fn files(folder: &Path, kind: &'static str) -> impl Iterator<Item = PathBuf> + use<> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    all.filter(move |path| path.extension().is_some_and(|e| e == kind))
}

/// Every file of a session or boundary. Their names are its id, a dot, and the content.
fn all_of(folder: &Path, id: &str) -> Vec<PathBuf> {
    let of_it = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'))
    };
    let all = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    all.filter(of_it).collect()
}

/// Whether an old session can be removed: nobody has it open, and the client cannot resume it
/// without a transcript.
fn is_removable(places: &Places, id: &str) -> bool {
    match state::load(places, id) {
        Ok(Some(session)) => {
            is_closed(places, &session)
                && !session.transcript.is_some_and(|path| Path::new(&path).exists())
        }
        Ok(None) => false,
        Err(_) => true,
    }
}

/// Whether nobody has the session open: it ended, or its client is gone.
pub fn is_closed(places: &Places, session: &Session) -> bool {
    session.ended.is_some() || !session.client.is_some_and(|c| state::lives(places, c))
}

fn ended(places: &Places, id: &str) -> bool {
    boundary::load(places, id).map_or(true, |token| token.is_some_and(|t| !t.live()))
}

/// Whether the client of a seat is gone.
fn gone(places: &Places, seat: &Path) -> bool {
    let seat = atomic::read(seat).ok().flatten();
    let seat = seat.and_then(|bytes| serde_json::from_slice::<state::Seat>(&bytes).ok());
    seat.is_none_or(|seat| !state::lives(places, seat.client))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    fn places() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        places.ensure_state().unwrap();
        (dir, places)
    }

    fn age(path: &Path, days: u64) {
        let at = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
        fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    }

    fn session(places: &Places, id: &str, days: u64, client: Option<state::Client>) {
        state::update(places, id, |s| (s.job, s.client) = ("j".into(), client)).unwrap();
        state::count_call(places, id).unwrap();
        age(&places.session(id, "json"), days);
    }

    #[test]
    fn only_what_is_long_over_goes_and_all_of_it() {
        let (_dir, places) = places();
        let me = state::client(std::process::id()).unwrap();
        session(&places, "old", 31, None);
        session(&places, "young", 29, None);
        session(&places, "open", 31, Some(me));
        session(&places, "older", 31, Some(state::Client { start: me.start + 1, ..me }));
        // Another session's name may begin like this one's.
        session(&places, "old-2", 1, None);
        fs::create_dir_all(places.state.join("outputs/old")).unwrap();
        fs::write(places.state.join("outputs/old/x.txt"), "x").unwrap();
        let now = base::clock::now();
        let mut old = find_old(&places, now, 10);
        old.sessions.sort();
        assert_eq!(old.sessions, ["old", "older"]);
        remove(&places, &old).unwrap();
        assert_eq!(state::all(&places).unwrap(), ["old-2", "open", "young"]);
        assert!(
            !places.state.join("outputs/old").exists() && !places.session("old", "calls").exists()
        );
        assert_eq!(find_old(&places, now, 10), Old::default());
    }

    #[test]
    fn what_can_be_resumed_stays() {
        let (dir, places) = places();
        let transcript = dir.path().join("t.jsonl");
        fs::write(&transcript, "{}").unwrap();
        for id in ["kept", "resumed"] {
            session(&places, id, 31, None);
        }
        state::update(&places, "kept", |s| s.transcript = transcript.to_str().map(Into::into))
            .unwrap();
        age(&places.session("kept", "json"), 31);
        let now = base::clock::now();
        let old = find_old(&places, now, 10);
        assert_eq!(old.sessions, ["resumed"]);
        let me = state::client(std::process::id());
        state::update(&places, "resumed", |s| s.client = me).unwrap();
        remove(&places, &old).unwrap();
        assert_eq!(state::all(&places).unwrap(), ["kept", "resumed"]);
        fs::remove_file(transcript).unwrap();
        assert_eq!(find_old(&places, now, 10).sessions, ["kept"]);
    }

    #[test]
    fn a_session_end_looks_once_a_day_and_takes_a_part() {
        let (_dir, places) = places();
        let now = base::clock::now();
        for n in 0..=AT_ONCE {
            session(&places, &format!("s{n}"), 31, None);
        }
        prune_daily(&places, now).unwrap();
        assert_eq!(state::all(&places).unwrap().len(), 1);
        prune_daily(&places, now).unwrap();
        assert_eq!(state::all(&places).unwrap().len(), 1, "it looked just now");
        prune_daily(&places, now + chrono::TimeDelta::days(2)).unwrap();
        assert_eq!(state::all(&places).unwrap().len(), 0);
    }

    #[test]
    fn seats_of_the_gone_and_what_was_left_go() {
        let (_dir, places) = places();
        let me = state::client(std::process::id()).unwrap();
        state::take_seat(&places, me, "s").unwrap();
        state::take_seat(&places, state::Client { pid: 4_194_305, start: 1 }, "t").unwrap();
        let [torn, fresh] = ["toolu_1.json", "toolu_2.json"].map(|n| places.snapshots().join(n));
        for path in [&torn, &fresh] {
            fs::write(path, "{}").unwrap();
        }
        age(&torn, 2);
        let old = find_old(&places, base::clock::now(), 10);
        assert_eq!(old.left, [places.session("client-4194305", "seat"), torn]);
        remove(&places, &old).unwrap();
        assert_eq!(state::seat(&places, me.pid).as_deref(), Some("s"));
        assert!(fresh.exists());
    }
}
