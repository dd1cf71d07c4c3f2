//! What lies of jobs in the project, whoever put it there. Which of them have an effect is
//! [`super::origin`]'s to say.

use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::job::{Prompt, Record};
use base::beneath::Spot;
use base::paths::{Places, safe_name};
use base::{atomic, beneath};

pub(super) fn record_path(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("job.json")
}

/// A job's record; the default where there is none. One that can't be read is
/// begun anew: what counts of a job is its file.
pub fn record(places: &Places, job: &str) -> Record {
    let bytes = atomic::read(&record_path(places, job)).ok().flatten();
    let record = bytes.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok());
    record.unwrap_or_default().into_plain()
}

/// Whether there is such a job: a name that was only claimed or locked is none yet.
pub fn exists(places: &Places, job: &str) -> bool {
    beneath::exists(&places.compaction(job)) || beneath::exists(&record_path(places, job))
}

/// Names in the folder of jobs that are looked at: a checkout may bring any number.
pub(super) const MOST: usize = 2_000;

/// All jobs whose files are there, those among them that came with the checkout.
pub fn on_disk(places: &Places) -> Vec<String> {
    let mut names: Vec<String> = [places.top().join("jobs"), places.state.join("jobs")]
        .iter()
        .flat_map(|dir| beneath::list(dir, MOST).unwrap_or_default())
        .filter(|(_, kind)| *kind == FileType::Directory)
        .map(|(name, _)| name)
        .filter(|name| safe_name(name) && exists(places, name))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The name that a job goes by now: an adopted one is still found by its old name. The link
/// is read and never followed, and leads to another name in the same folder or nowhere.
pub fn name_now(places: &Places, job: &str) -> String {
    let path = places.job(job);
    let target = Spot::of(&path).ok().and_then(|spot| spot.link());
    target.filter(|name| safe_name(name)).unwrap_or_else(|| job.to_owned())
}

/// The job's prompts, oldest first.
pub fn prompts(places: &Places, job: &str) -> Vec<Prompt> {
    read_prompts(&places.job(job).join("prompts.jsonl"))
}

pub(super) fn read_prompts(path: &Path) -> Vec<Prompt> {
    let bytes = atomic::read(path).ok().flatten().unwrap_or_default();
    bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}
