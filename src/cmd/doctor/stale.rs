//! Checks for leftovers: boundaries, jobs and locks of clients that are gone. Also reports what
//! lifts the guard now.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::mend::Mend;
use super::{FIX, Finding, World};
use base::paths::Places;
use base::shown::count_with_noun;
use base::{lock, process};
use guard::boundary::Token;
use guard::files::{boundary, jobs, state};
use guard::job::Record;

/// Longer than any lock of ours is held, unless its process hangs.
const PATIENCE: Duration = Duration::from_secs(2);

pub fn look(world: &World) -> Vec<Finding> {
    let mut found = vec![boundaries(world), holders(&world.places), locks(&world.places)];
    found.extend(lifted(world));
    found
}

fn boundaries(world: &World) -> Finding {
    let folder = world.places.state.join("boundary");
    let all: Vec<Token> = names(&folder, "json")
        .filter_map(|id| boundary::load(&world.places, &id).ok().flatten())
        .filter(Token::live)
        .collect();
    let alive = |token: &&Token| token.client.is_some_and(|c| state::lives(&world.places, c));
    let (under_way, stale): (Vec<&Token>, Vec<&Token>) = all.iter().partition(alive);
    let Some(first) = stale.first() else {
        let seen = count_with_noun(under_way.len(), "boundary is", "boundaries are");
        return Finding::ok("boundaries", format!("{seen} under way, none was left"));
    };
    let seen = format!(
        "{} whose client is gone never ended; first that of job {} ({} since {})",
        count_with_noun(stale.len(), "boundary", "boundaries"),
        first.job,
        format!("{:?}", first.step).to_lowercase(),
        first.since.format("%Y-%m-%d %H:%M UTC")
    );
    let ids = stale.iter().map(|token| token.id.clone()).collect();
    Finding::problem("boundaries", seen, FIX).mended_by(Mend::Boundaries(ids))
}

fn holders(places: &Places) -> Finding {
    let held: Vec<(String, Record)> = jobs::all(places)
        .into_iter()
        .map(|job| (job.clone(), jobs::record(places, &job)))
        .filter(|(_, record)| record.holder.is_some())
        .collect();
    let dead = held.iter().filter(|(job, _)| jobs::holder(places, job).is_none());
    let dead: Vec<&str> = dead.map(|(job, _)| job.as_str()).collect();
    if dead.is_empty() {
        return Finding::ok("jobs", format!("{} held by a session that is there", held.len()));
    }
    let seen = format!("held by sessions that are gone: {}", dead.join(", "));
    Finding::note("jobs", seen, format!("nothing, the next session takes them; or {FIX}"))
        .mended_by(Mend::Holders)
}

/// A lock ends with its process, so a lock that stays taken belongs to a process that hangs.
fn locks(places: &Places) -> Finding {
    let mut paths: Vec<PathBuf> = ["sessions", "boundary"]
        .into_iter()
        .flat_map(|folder| {
            let folder = places.state.join(folder);
            names(&folder, "lock").map(move |name| folder.join(format!("{name}.lock")))
        })
        .collect();
    paths.extend(jobs::all(places).iter().map(|job| places.job(job).join(".lock")));
    paths.retain(|path| path.exists());
    let busy: Vec<&PathBuf> = paths.iter().filter(|path| !free(path, Duration::ZERO)).collect();
    let Some(stuck) = busy.iter().find(|path| !free(path, PATIENCE)) else {
        return Finding::ok(
            "locks",
            format!("{} and none is stuck", count_with_noun(paths.len(), "lock", "locks")),
        );
    };
    let who =
        process::lock_holder(stuck).map_or("a process".to_owned(), |pid| format!("process {pid}"));
    let way = process::lock_holder(stuck)
        .map_or("end the process that holds it".to_owned(), |pid| {
            format!("look at it with `ps -fp {pid}`, and end it with `kill {pid}` if it hangs")
        });
    Finding::problem(
        "locks",
        format!("{} is held by {who} for over {} s", stuck.display(), PATIENCE.as_secs()),
        way,
    )
}

fn free(path: &Path, patience: Duration) -> bool {
    lock::acquire(path, patience).is_ok()
}

/// What lifts the guard in the current session.
fn lifted(world: &World) -> Option<Finding> {
    let session = world.session.as_ref()?;
    if session.override_.is_some() {
        let calls = || state::calls(&world.places, &world.session_id);
        if session.overridden(world.now, calls) {
            let seen = "an override is active in this project's session: nothing is blocked";
            return Some(Finding::note("override", seen, "`brain-guard override --off`"));
        }
    }
    let (until, why) = session.lifted.as_ref().filter(|(until, _)| *until > world.now)?;
    let seen = format!("nothing is blocked until {}: {why}", until.format("%H:%M UTC"));
    Some(Finding::note("override", seen, "`brain-guard explain` says more"))
}

fn names(folder: &Path, kind: &'static str) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .filter(move |path| path.extension().is_some_and(|e| e == kind))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
}
