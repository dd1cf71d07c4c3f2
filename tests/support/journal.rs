//! What the guard recorded.

use std::path::Path;

use guard::files::journal::Journal;
use serde_json::Value;

/// The lines of all journals in a project's state, by time, each with its `session`.
pub fn lines(state: &Path) -> Vec<Value> {
    let mut lines = Vec::new();
    for journal in Journal::find_all(state) {
        for path in [journal.rotated(), journal.path] {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let whole = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.extend(whole.map(|mut line| {
                line["session"] = journal.session.clone().into();
                line
            }));
        }
    }
    lines.sort_by_key(|line| line["at"].as_str().map(str::to_owned));
    lines
}
