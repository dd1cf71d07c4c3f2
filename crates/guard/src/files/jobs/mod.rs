//! A job's files: the compaction file and its record. The submodules handle sealed versions
//! (`sealed`), holders (`holders`), verbs (`moves`) and opening for writing (`writing`).

mod adopt;
mod asker;
mod holders;
mod moves;
mod sealed;
mod usable;
mod writing;

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::time::Duration;

use super::job_files::record_path;
use base::atomic;
use base::lock::{self, Lock};
use base::paths::Places;
use notes::compaction::{self, Document};
use notes::job::{self, Record, Summed, default_name};

pub use super::job_files::{all, current_name, exists, record};
pub use asker::Asker;
pub use holders::{holder, release, take_job};
pub use moves::{auto, inspect_job, run, situation, steps};
pub use sealed::{Version, last_version, restore, sealed_path, version, versions, write_sealed};
pub use usable::check_writable;
pub use writing::{Open, begin, make_file, open};

/// How long to wait for the lock of a job. A hook that executes a verb has three seconds in all.
const PATIENCE: Duration = Duration::from_secs(1);

/// Gives a session a default job: the first free number of the day.
pub fn claim_default(places: &Places, date: &str) -> io::Result<String> {
    atomic::create_private_dir(&places.jobs())?;
    let project = places.project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1..10_000 {
        let name = default_name(&project, date, number);
        match std::fs::DirBuilder::new().mode(0o700).create(places.job(&name)) {
            Ok(()) => return Ok(name),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("no free default job"))
}

/// Whether the guard gave the job its name.
pub fn is_default(places: &Places, job: &str) -> bool {
    let project = places.project.file_name().unwrap_or_default().to_string_lossy();
    job.starts_with("session-") || job::is_default(&project, job)
}

/// Locks the job. The lock file is in the job's folder, which is created if needed. Fails with
/// `WouldBlock` after a second.
pub fn lock(places: &Places, job: &str) -> io::Result<Lock> {
    let dir = places.ensure_job(job)?;
    lock::acquire(&dir.join(".lock"), PATIENCE)
}

/// The compaction file's text; `None` if it does not exist. An agent's shell may have put a link to
/// another file there; that is an error, so that no verb writes to it.
pub fn read(places: &Places, job: &str) -> io::Result<Option<String>> {
    atomic::read_no_follow(&places.compaction(job), atomic::MAX_READ)
}

/// Changes a job's record and returns the result of `change`. Writes only if something changed. The
/// caller holds the job's lock.
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
        atomic::write(&record_path(places, job), &bytes)?;
    }
    Ok(result)
}

/// Serializes a record. Drops old sessions and phases until it is small enough to be read again.
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

/// Writes a job's compaction file. Fails if it is larger than the program reads.
pub fn write_live(places: &Places, job: &str, text: &str) -> io::Result<()> {
    if text.len() as u64 > atomic::MAX_NOTES {
        let (has, most) = (text.len() / 1024, atomic::MAX_NOTES / 1024);
        let why = format!("the notes would have {has} KB; at most {most} KB are read");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    atomic::write(&places.compaction(job), text.as_bytes())
}

/// Saves an unreadable record next to its replacement. People write coaching into it by hand, and a
/// stray comma must not lose that.
fn keep_damaged(places: &Places, job: &str) -> io::Result<()> {
    let path = record_path(places, job);
    let Some(bytes) = atomic::read(&path)? else { return Ok(()) };
    if bytes.is_empty() || serde_json::from_slice::<Record>(&bytes).is_ok() {
        return Ok(());
    }
    let free = |number: u32| {
        let kept = path.with_extension(format!("damaged-{number}.json"));
        (!kept.exists()).then_some(kept)
    };
    let kept = (1..10_000).find_map(free).unwrap_or_else(|| path.with_extension("damaged.json"));
    atomic::write(&kept, &bytes)
}

/// Records which session wrote a job's Prior Summary, and the version that first seals it. The
/// caller holds the job's lock.
pub fn record_summary(places: &Places, job: &str, session: &str, version: u64) -> io::Result<()> {
    let session = session.to_owned();
    change_record(places, job, |record| record.summary = Some(Summed { session, version }))
}

/// Ids of the entries in the sections that a session writes.
pub fn authored_ids(document: &Document) -> Vec<compaction::EntryId> {
    let shape = document.shape();
    shape.authored().flat_map(|index| document.section(index)).map(|e| e.id).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use base::env::Env;

    #[test]
    fn a_record_that_cannot_be_read_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
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
        let places = Places::for_project(
            &Env::from_pairs([("HOME", dir.path().to_str().unwrap())]),
            &project,
        )
        .unwrap();
        assert_eq!(claim_default(&places, "20260101").unwrap(), "app-20260101-1");
        places.ensure_job("app-20260101-2").unwrap();
        assert_eq!(claim_default(&places, "20260101").unwrap(), "app-20260101-3");
    }
}
