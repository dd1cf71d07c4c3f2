//! Finds what a session was made from: the origins of its rounds are there, so it is imported first.

use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::source::{Source, open};
use sessions::dialect::{self, Facts};
use sessions::line::Lines;
use store::index::Index;

/// Most rows and bytes to read of a session until one says what it was made from.
const ROWS: usize = 40;
const BYTES: u64 = 4 * 1024 * 1024;

/// The files of a session's ancestors that are not imported, the oldest first.
pub fn unknown(index: &Index, source: &Source) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    if source.subagent {
        return found;
    }
    let mut at = source.path.clone();
    while let Ok(Some(parent)) = parent(&at) {
        // pi names a file, Claude Code an id.
        let file = if parent.contains('/') {
            PathBuf::from(&parent)
        } else {
            at.with_file_name(format!("{parent}.jsonl"))
        };
        let again = file == source.path || found.contains(&file);
        if again || !file.is_file() || index.knows(&parent).unwrap_or(true) {
            break;
        }
        at.clone_from(&file);
        found.push(file);
    }
    found.reverse();
    found
}

/// What a session was made from, by its first rows.
fn parent(file: &Path) -> io::Result<Option<String>> {
    let mut lines = Lines::from(BufReader::new(open(file)?.take(BYTES)), 0, 0);
    let (mut facts, mut dialect) = (Facts::default(), None);
    for _ in 0..ROWS {
        let Some(line) = lines.next()? else { break };
        let dialect = *dialect.get_or_insert_with(|| dialect::detect(line.bytes));
        dialect.facts(line.bytes, &mut facts);
        if facts.cwd.is_some() {
            break;
        }
    }
    Ok(facts.parent)
}
