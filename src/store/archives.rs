//! What the seals took out of a job's file: kept beside the sealed versions, and in the
//! state's mirror, which outlives a cleaned checkout.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::paths::Places;

/// The archives of a job, oldest version first, each once.
pub fn removed(places: &Places, job: &str) -> Vec<PathBuf> {
    let mut found = BTreeMap::new();
    for dir in [places.job(job).join("sealed"), places.state.join("sealed").join(job)] {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.ends_with(".removed.md")) {
                found.entry(name).or_insert_with(|| entry.path());
            }
        }
    }
    found.into_values().collect()
}
