//! A job's files: the compaction file and its record. Its sealed versions are in
//! `sealed`, who works on it in `holders`, what the verbs do to it in `moves`, how its
//! file is opened to write in `writing`.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

mod adopt;
mod asker;
mod holders;
mod moves;
mod sealed;
mod usable;
mod writing;

use std::io;
use std::time::Duration;

use super::job_files::record_path;
use super::origin;
use crate::compaction::{self, Document};
use crate::job::{self, Record, Summed, default_name};
use base::beneath::Spot;
use base::lock::{self, Lock};
use base::paths::Places;
use base::{atomic, beneath};

pub use super::job_files::{exists, name_now, on_disk, record};
pub use asker::Asker;
pub use holders::{free_dead, hold, holder, release};
pub use moves::{auto, run, seen, situation};
pub use sealed::{
    Version, is_as_sealed, last_version, mirror, restore, sealed_path, version, versions,
    write_sealed,
};
pub use usable::{check, check_writable};
pub use writing::{Open, begin, make_file, open};

/// Gives a session its default job: the first number of the day nobody has.
///
/// # Errors
/// What the system says.
pub fn claim_default(places: &Places, date: &str) -> io::Result<String> {
    places.ensure_state()?;
    let project = places.project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1..10_000 {
        let name = default_name(&project, date, number);
        if !taken(places, &name)? && atomic::claim(&places.state.join("claims").join(&name))? {
            origin::made(places, &name)?;
            return Ok(name);
        }
    }
    Err(io::Error::other("no free default job"))
}

/// Whether anything lies under a job's name, a link among others.
///
/// # Errors
/// What the system says.
pub(super) fn taken(places: &Places, job: &str) -> io::Result<bool> {
    match Spot::of(&places.job(job)) {
        Ok(spot) => Ok(spot.stat()?.is_some()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Whether a job's name is one that the guard gives by itself.
pub fn is_default(places: &Places, job: &str) -> bool {
    let project = places.project.file_name().unwrap_or_default().to_string_lossy();
    job.starts_with("session-") || job::is_default(&project, job)
}

/// Holds the job's lock; it lies in the job's folder, which is made if need be.
///
/// # Errors
/// `WouldBlock` when another process keeps it for two seconds; what the system says.
pub fn lock(places: &Places, job: &str) -> io::Result<Lock> {
    let dir = places.ensure_job(job)?;
    lock::acquire(&dir.join(".lock"), Duration::from_secs(2))
}

/// The compaction file's text; `None` where there is none yet.
///
/// # Errors
/// What the system says.
pub fn read(places: &Places, job: &str) -> io::Result<Option<String>> {
    atomic::read_text(&places.compaction(job))
}

/// Changes a job's record and hands on what `change` returns; nothing is written if
/// nothing changed. The caller holds the job's lock.
///
/// # Errors
/// What the system says.
pub fn change_record<T>(
    places: &Places,
    job: &str,
    change: impl FnOnce(&mut Record) -> T,
) -> io::Result<T> {
    let before = record(places, job);
    let mut after = before.clone();
    let result = change(&mut after);
    if after != before {
        let bytes = within_bound(&mut after)?;
        keep_damaged(places, job)?;
        // In the client's sandbox the state can't be written: there the hooks remember it,
        // right before the verb and behind it.
        let _ = origin::look(places, job);
        let _ = origin::writing(places, job, None, Some(&after));
        atomic::write(&record_path(places, job), &bytes)?;
        let _ = origin::written(places, job);
    }
    Ok(result)
}

/// A record as it is written. What it says of long past sessions and phases goes where it
/// would be larger than what is read.
fn within_bound(record: &mut Record) -> io::Result<Vec<u8>> {
    loop {
        let bytes = serde_json::to_vec_pretty(record).map_err(io::Error::from)?;
        let (links, phases) = (record.lineage.len() / 2, record.phases.len() / 2);
        if bytes.len() as u64 <= atomic::MAX_JOB || links + phases == 0 {
            return Ok(bytes);
        }
        record.lineage.drain(..links);
        record.phases.drain(..phases);
    }
}

/// Writes a job's compaction file.
///
/// # Errors
/// More than is read of one; what the system says.
pub fn write_live(places: &Places, job: &str, text: &str) -> io::Result<()> {
    if text.len() as u64 > atomic::MAX_NOTES {
        let (has, most) = (text.len() / 1024, atomic::MAX_NOTES / 1024);
        let why = format!("the notes would have {has} KB; at most {most} KB are read");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let _ = origin::look(places, job);
    let _ = origin::writing(places, job, Some(text.as_bytes()), None);
    atomic::write(&places.compaction(job), text.as_bytes())?;
    let _ = origin::written(places, job);
    Ok(())
}

/// Puts a record that can't be read beside the one that takes its place: people write
/// coaching into it by hand, and a comma too many must not cost them that.
fn keep_damaged(places: &Places, job: &str) -> io::Result<()> {
    let path = record_path(places, job);
    let Some(bytes) = atomic::read(&path)? else { return Ok(()) };
    if bytes.is_empty() || serde_json::from_slice::<Record>(&bytes).is_ok() {
        return Ok(());
    }
    let free = |number: u32| {
        let kept = path.with_extension(format!("damaged-{number}.json"));
        (!beneath::exists(&kept)).then_some(kept)
    };
    let kept = (1..10_000).find_map(free).unwrap_or_else(|| path.with_extension("damaged.json"));
    atomic::write(&kept, &bytes)
}

/// Remembers whose work a job's Prior Summary is, and the version it is first sealed
/// in. The caller holds the job's lock.
///
/// # Errors
/// As [`change_record`].
pub fn summed(places: &Places, job: &str, session: &str, version: u64) -> io::Result<()> {
    let session = session.to_owned();
    change_record(places, job, |record| record.summary = Some(Summed { session, version }))
}

/// The jobs there are and that have an effect, by name. One that got its name later is listed
/// once, by that name.
pub fn all(places: &Places) -> Vec<String> {
    if places.trusted {
        return on_disk(places);
    }
    let mut jobs = origin::known_jobs(places);
    jobs.retain(|job| exists(places, job));
    jobs.sort();
    jobs
}

/// Ids of the entries in the sections a session writes.
pub fn authored_ids(document: &Document) -> Vec<compaction::EntryId> {
    let shape = document.shape();
    shape.authored().flat_map(|index| document.section(index)).map(|e| e.id).collect()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use base::env::Env;

    #[test]
    fn a_record_that_cannot_be_read_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::of([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::of(&env, dir.path()).unwrap();
        let folder = places.ensure_job("j").unwrap();
        let by_hand = "{\"coaching\": {\"design\": \"look twice\",}}";
        fs::write(folder.join("job.json"), by_hand).unwrap();
        change_record(&places, "j", |record| record.auto = true).unwrap();
        change_record(&places, "j", |record| record.auto = false).unwrap();
        assert_eq!(fs::read_to_string(folder.join("job.damaged-1.json")).unwrap(), by_hand);
        assert!(!folder.join("job.damaged-2.json").exists());
    }

    #[test]
    fn default_jobs_are_given_once() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("app");
        fs::create_dir(&project).unwrap();
        let places =
            Places::of(&Env::of([("HOME", dir.path().to_str().unwrap())]), &project).unwrap();
        assert_eq!(claim_default(&places, "20260101").unwrap(), "app-20260101-1");
        places.ensure_job("app-20260101-2").unwrap();
        assert_eq!(claim_default(&places, "20260101").unwrap(), "app-20260101-3");
    }
}
