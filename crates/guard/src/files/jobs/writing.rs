//! Opens a job's file for writing. The first note creates the file, and only the session that holds
//! the job writes.

use std::io;

use super::asker::Asker;
use super::holders::take_locked;
use super::{change_record, exists, is_default, lock, read, record, write_live};
use crate::files::{commits, prune};
use base::lock::Lock;
use notes::compaction;
use notes::job::State;
use notes::job::refusal::Refusal;

/// A job's file, locked for writing.
#[derive(Debug)]
pub struct Open {
    /// The job.
    pub job: String,
    /// The file's text.
    pub text: String,
    _lock: Lock,
}

/// Opens the file of a job for the session that asks. Refuses a completed job, and one that another
/// live session holds. Fails while another process holds the lock.
pub fn open(asker: &Asker, job: &str) -> io::Result<Result<Open, Refusal>> {
    let held = lock(asker.places, job)?;
    let name = super::current_name(asker.places, job);
    if name != job {
        // The job was renamed while this call waited for the lock.
        drop(held);
        return open(asker, &name);
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
    Ok(Ok(Open { job: job.to_owned(), text, _lock: held }))
}

/// Creates a job's file and takes the job if nobody else holds it. Fails while another process
/// holds the lock.
pub fn make_file(asker: &Asker, job: &str) -> io::Result<()> {
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
