//! Writes the session's commits into the job's list and its compaction file.

use std::io;

use serde_json::json;

use crate::files::commits;
use crate::git::Change;
use crate::hook::facts::Facts;
use base::log;

/// Applies new and dropped commits to the job's list and file. `true` if the list changed.
pub(super) fn take(facts: &Facts, changes: Vec<Change>) -> io::Result<bool> {
    let count = |which: fn(&Change) -> bool| changes.iter().filter(|c| which(c)).count();
    let details = json!({
        "session": facts.id, "job": facts.session.job,
        "made": count(|c| matches!(c, Change::Add(_))),
        "dropped": count(|c| matches!(c, Change::Drop(_))),
    });
    let places = &facts.places;
    if changes.is_empty() || !commits::change(places, &facts.session.job, changes)? {
        return Ok(false);
    }
    log::write(&places.log(), facts.now, "commits", &details);
    commits::refresh(places, &facts.session.job, &facts.settings)?;
    Ok(true)
}
