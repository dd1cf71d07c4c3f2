//! The files in a job's folder: compaction file, record and prompts.

use std::fs;
use std::io;
use std::path::PathBuf;

use base::atomic;
use base::paths::{Places, is_safe_name};
use notes::job::{Prompt, Record};

pub(super) fn record_path(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("job.json")
}

/// A job's record; the default if it is missing or unreadable. The compaction file matters more
/// than the record.
pub fn record(places: &Places, job: &str) -> Record {
    let bytes = atomic::read_within(&record_path(places, job), atomic::MAX_JOB).ok().flatten();
    bytes.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok()).unwrap_or_default()
}

/// Whether the job exists. A name that was only claimed or locked does not count.
pub fn exists(places: &Places, job: &str) -> bool {
    places.compaction(job).exists() || record_path(places, job).exists()
}

/// The project's jobs, sorted by name. A renamed job appears once, under its new name.
pub fn all(places: &Places) -> Vec<String> {
    let entries = fs::read_dir(places.jobs()).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_safe_name(name) && exists(places, name))
        .collect();
    names.sort();
    names
}

/// The current name of a job; a renamed one is still found by its old name.
pub fn current_name(places: &Places, job: &str) -> String {
    let target = fs::read_link(places.job(job)).ok();
    let name = target.and_then(|target| target.to_str().map(str::to_owned));
    name.filter(|name| is_safe_name(name)).unwrap_or_else(|| job.to_owned())
}

/// The file with the prompts of a job.
pub fn prompts_path(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("prompts.jsonl")
}

/// Saves a prompt of the user's with the job.
pub fn keep_prompt(places: &Places, job: &str, prompt: &Prompt) -> io::Result<()> {
    let mut line = serde_json::to_vec(prompt).map_err(io::Error::from)?;
    line.push(b'\n');
    places.ensure_job(job)?;
    atomic::append(&prompts_path(places, job), &line)
}

/// The job's prompts, oldest first.
pub fn prompts(places: &Places, job: &str) -> Vec<Prompt> {
    let bytes = atomic::read(&prompts_path(places, job)).ok().flatten().unwrap_or_default();
    bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}
