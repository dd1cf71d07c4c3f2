//! Session files that are not imported.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Item, Row};
use crate::cmd::import;
use base::atomic;
use base::paths::is_safe_name;
use sessions::dialect::{self, Facts};

/// Bytes of a file to read for its project: the first rows.
const HEAD: u64 = 64 * 1024;

/// The session files in these folders whose ids are not known.
pub fn find_files(folders: &[PathBuf], agents: bool, known: &HashSet<&str>) -> Vec<Item> {
    let files = folders.iter().flat_map(|folder| import::below(folder, &mut |_, _| {}));
    let is_new = |path: &PathBuf| {
        (agents || !is_subagents(path))
            && !import::ids(path).iter().any(|id| known.contains(id.as_str()))
    };
    let item = |path: PathBuf| {
        let meta = path.metadata().ok()?;
        Some(Item::File { written: meta.modified().ok()?.into(), bytes: meta.len(), path })
    };
    files.filter(is_new).filter_map(item).collect()
}

/// Whether a file is a subagent's, by its place or name.
pub fn is_subagents(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|name| name == "subagents")
        || path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"agent-"))
}

/// The id of a parent, which may be named by its file.
pub fn id_of_parent(parent: String) -> String {
    let file = parent.contains('/').then(|| import::ids(Path::new(&parent)).pop());
    file.flatten().unwrap_or(parent)
}

/// The row of a file, by its first rows.
pub fn head(path: PathBuf, written: base::clock::Time, bytes: u64) -> Row {
    let text = atomic::read_start(&path, HEAD).ok().flatten().unwrap_or_default();
    let mut lines = text.as_bytes().split_inclusive(|byte| *byte == b'\n').peekable();
    let dialect = dialect::detect(lines.peek().copied().unwrap_or_default());
    let mut facts = Facts::default();
    for line in lines {
        dialect.facts(line, &mut facts);
        if facts.cwd.is_some() {
            break;
        }
    }
    let header = facts.id.filter(|id| dialect.has_header() && is_safe_name(id));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Row {
        session: header.unwrap_or(stem),
        project: facts.cwd.map(PathBuf::from),
        ended: Some(written),
        made_from: facts.parent.map(id_of_parent),
        file: Some(path),
        bytes: Some(bytes),
        ..Row::default()
    }
}
