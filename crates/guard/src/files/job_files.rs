//! The job files in the project, no matter who put them there. [`super::origin`] decides which of
//! them have an effect.

use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::job::{Prompt, Record};
use base::beneath::Spot;
use base::paths::{Places, is_safe_name};
use base::{atomic, beneath};

pub(super) fn record_path(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("job.json")
}

/// A job's record; the default if it is missing or unreadable. The compaction file matters more
/// than the record.
pub fn record(places: &Places, job: &str) -> Record {
    let bytes = atomic::read(&record_path(places, job)).ok().flatten();
    let record = bytes.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok());
    record.unwrap_or_default().into_plain()
}

/// Whether the job exists. A name that was only claimed or locked does not count.
pub fn exists(places: &Places, job: &str) -> bool {
    beneath::exists(&places.compaction(job)) || beneath::exists(&record_path(places, job))
}

/// The maximum number of names read from a folder, because a checkout may contain any number.
pub(super) const MOST: usize = 2_000;

/// All jobs with files, including those that came with the checkout.
pub fn on_disk(places: &Places) -> Vec<String> {
    let mut names: Vec<String> = [places.top().join("jobs"), places.state.join("jobs")]
        .iter()
        .flat_map(|dir| beneath::list(dir, MOST).unwrap_or_default())
        .filter(|(_, kind)| *kind == FileType::Directory)
        .map(|(name, _)| name)
        .filter(|name| is_safe_name(name) && exists(places, name))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The current name of a job; a renamed one is still found by its old name. The link is read but
/// never followed, so it can only name a job in the same folder.
pub fn current_name(places: &Places, job: &str) -> String {
    let path = places.job(job);
    let target = Spot::for_path(&path).ok().and_then(|spot| spot.link_target());
    target.filter(|name| is_safe_name(name)).unwrap_or_else(|| job.to_owned())
}

/// The job's prompts, oldest first.
pub fn prompts(places: &Places, job: &str) -> Vec<Prompt> {
    read_prompts(&places.job(job).join("prompts.jsonl"))
}

pub(super) fn read_prompts(path: &Path) -> Vec<Prompt> {
    let bytes = atomic::read(path).ok().flatten().unwrap_or_default();
    bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}
