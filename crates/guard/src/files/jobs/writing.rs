//! Opens a job's file for writing. The first note creates the file, and only the session that holds
//! the job writes.

use std::io;
use std::path::Path;

use rustix::fs::Mode;

use super::asker::{Asker, lock_jobs};
use super::holders::take_locked;
use super::{change_record, exists, is_default, lock, read, record, write_live};
use crate::compaction;
use crate::files::commits;
use crate::files::origin;
use crate::files::prune;
use crate::files::requests::{self, Request};
use crate::job::refusal::Refusal;
use crate::job::{State, default_name};
use base::beneath::Spot;
use base::lock::Lock;
use base::paths::Places;

/// A job's file, locked for writing.
#[derive(Debug)]
pub struct Open {
    /// The job.
    pub job: String,
    /// The file's text.
    pub text: String,
    /// Why a new default job is used instead of the session's job.
    pub instead: Option<Refusal>,
    _lock: Lock,
}

/// Opens the file of the session's job. Uses a new default job after the session left its job, or
/// if another live session holds it. Refuses a completed job. Fails while another process holds the
/// lock.
pub fn open(asker: &Asker) -> io::Result<Result<Open, Refusal>> {
    let mut instead = None;
    if let Some(job) = asker.job() {
        match open_own(asker, &job)? {
            Err(refusal @ Refusal::Held { .. }) => instead = Some(refusal),
            other => return Ok(other),
        }
    }
    // Only one of several parallel calls creates the job. The others find its request.
    let _moving = lock_jobs(asker.places)?;
    if let Some(job) = asker.job().filter(|job| instead.is_none() || is_new(asker, job)) {
        return open_own(asker, &job);
    }
    let job = claim(asker)?;
    let opened = open_own(asker, &job)?;
    let at = asker.now;
    let request = Request::Focus { job, adopted: None, created: true, clear: false, at };
    requests::add(asker.places, asker.id, &request)?;
    Ok(opened.map(|open| Open { instead, ..open }))
}

/// Whether a parallel call has already moved the session.
fn is_new(asker: &Asker, job: &str) -> bool {
    super::holder(asker.places, job).is_none_or(|holder| holder.is_same_worker(&asker.holder()))
}

/// Records that a job is created here, before anything is written into it. In the client's sandbox
/// the hook does that after the call.
pub(super) fn remember(places: &Places, job: &str) {
    if !exists(places, job) {
        let _ = origin::record_created(places, job);
    }
}

fn open_own(asker: &Asker, job: &str) -> io::Result<Result<Open, Refusal>> {
    remember(asker.places, job);
    let held = lock(asker.places, job)?;
    let name = super::current_name(asker.places, job);
    if name != job {
        // The job was renamed while this call waited for the lock.
        drop(held);
        return open_own(asker, &name);
    }
    // Files that a killed verb left.
    let _ = prune::remove_leftovers(&asker.places.job(job), asker.now);
    if record(asker.places, job).state == State::Completed {
        return Ok(Err(Refusal::Completed { job: job.to_owned() }));
    }
    if let Err(by) = take_locked(asker.places, job, &asker.holder())? {
        return Ok(Err(Refusal::Held { job: job.to_owned(), by, own: None }));
    }
    let text = begin(asker, job, is_default(asker.places, job))?;
    let job = job.to_owned();
    Ok(Ok(Open { job, text, instead: None, _lock: held }))
}

/// Creates a job's file and takes the job if nobody else holds it. Fails while another process
/// holds the lock.
pub fn make_file(asker: &Asker, job: &str) -> io::Result<()> {
    remember(asker.places, job);
    let _held = lock(asker.places, job)?;
    // The verb that writes reports another holder.
    let _other = take_locked(asker.places, job, &asker.holder())?;
    begin(asker, job, is_default(asker.places, job)).map(drop)
}

/// The text of a job's file. Creates file and record if needed. The caller holds the job's lock.
pub fn begin(asker: &Asker, job: &str, auto: bool) -> io::Result<String> {
    let Asker { places, settings, .. } = asker;
    let shape = &settings.file.shape;
    let new = !exists(places, job);
    let found = read(places, job)?;
    let is_there = found.is_some();
    let text = found.unwrap_or_else(|| {
        let text = compaction::template(&asker.template, shape, job, asker.now);
        // A template without a place for the commits is used without them.
        commits::filled(places, job, &text, settings).unwrap_or(text)
    });
    change_record(places, job, |record| {
        if record.created.is_none() {
            let document = compaction::parse(&text, shape);
            let born = document.front().created.as_deref().and_then(|at| at.parse().ok());
            record.created = Some(born.filter(|_| !new).unwrap_or(asker.now));
            record.auto = auto;
        }
        if record.state == State::Paused {
            (record.state, record.paused_by) = (State::Active, None);
        }
    })?;
    // The file comes last: if it exists, all of this was done.
    if !is_there {
        write_live(places, job, &text)?;
    }
    Ok(text)
}

/// Creates the folder of the day's next default job. In the client's sandbox only this claims a
/// name.
fn claim(asker: &Asker) -> io::Result<String> {
    let project = asker.places.project.file_name().unwrap_or_default().to_string_lossy();
    let folder = asker.places.ensure_jobs()?;
    for number in 1..10_000 {
        let name = default_name(&project, &asker.date, number);
        let claimed = asker.places.state.join("claims").join(&name).exists();
        if claimed || super::is_taken(asker.places, &name)? {
            continue;
        }
        match make_dir(&folder.join(&name)) {
            Ok(()) => return Ok(name),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("no free default job"))
}

/// Creates a folder and fails if it exists.
fn make_dir(path: &Path) -> io::Result<()> {
    let spot = Spot::for_path(path)?;
    Ok(rustix::fs::mkdirat(spot.folder(), spot.name(), Mode::from_raw_mode(0o755))?)
}
