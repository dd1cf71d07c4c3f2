//! `surgery remove`: removes a session that surgery made, if it is unchanged and not running.

mod beside;
mod choose;

use base::shown;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Serialize;
use serde_json::Value;

use super::source::Store;
use crate::cmd::import;
use base::atomic::{self, Mark};
use base::clock::Time;
use base::env::{self, Env};
use base::new_file;
use guard::client;
use store::index::Export;
use surgery::table::short;

/// Most bytes to read of the first row, which says what made the session.
const LONGEST: u64 = 64 * 1024 * 1024;

/// A session that was removed.
#[derive(Debug, Serialize)]
pub struct Removal {
    id: String,
    removed: Vec<String>,
    /// Files that surgery did not write.
    left: Vec<PathBuf>,
    #[serde(skip)]
    operation: String,
    #[serde(skip)]
    path: String,
}

impl Removal {
    /// Removes a session that surgery made.
    ///
    /// # Errors
    /// No match, a changed session, or a running client. Nothing is removed then.
    pub fn run(env: &Env, now: Time, id: Option<&str>) -> anyhow::Result<Self> {
        let store = Store::open(env)?;
        let export = choose::find(env, store.index.exports()?, id)?;
        let name = short(&export.id).to_owned();
        if env.get(env::SESSION_ID).is_some_and(|session| session == export.id) {
            bail!(
                "this runs in the session {name} itself; remove it from elsewhere, once that has ended"
            );
        }
        let path = Path::new(&export.path);
        ensure_own_files(&export)?;
        untouched(&export)?;
        if let Some(pid) = client::find_session_process(&export.id, path) {
            bail!("the process {pid} runs the session {name}; end it first");
        }
        let mut removed = Vec::new();
        for path in files_of(&export).map(|file| file.path) {
            match fs::remove_file(path) {
                Ok(()) => removed.push(path.to_owned()),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e).with_context(|| format!("could not remove {path}")),
            }
        }
        let folder = new_file::companion_folder(path);
        let ours: Vec<&Path> = files_of(&export).map(|file| Path::new(file.path)).collect();
        let strangers = beside::foreign_files(&ours, &folder)?;
        if strangers.is_empty() {
            beside::empty_folders(&folder)?;
        } else {
            let removed: Vec<&str> = removed.iter().map(String::as_str).collect();
            beside::remove_emptied(&removed, &folder);
        }
        store.index.mark_removed(&export.id, now)?;
        forget(&store, &export.id)
            .with_context(|| format!("{name} is removed, but its copy in the store is not"))?;
        let Export { id, operation, path, .. } = export;
        Ok(Self { id, removed, left: strangers, operation, path })
    }
}

/// Removes the copy of a removed session from the store, so that no list shows it. What another
/// session points to stays.
fn forget(store: &Store, id: &str) -> anyhow::Result<()> {
    let copies = store.root.find_exact(id)?;
    if copies.is_empty() || store.index.pointed_to()?.contains(id) {
        return Ok(());
    }
    for copy in copies {
        import::remove(&store.index, &copy)?;
    }
    Ok(())
}

impl fmt::Display for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { removed, left, operation, path, .. } = self;
        let name = short(&self.id);
        if removed.is_empty() {
            return write!(f, "{name} ({operation}) was gone already: there is no {path}");
        }
        write!(f, "removed {name} ({operation})")?;
        removed.iter().try_for_each(|path| write!(f, "\n  {path}"))?;
        if !left.is_empty() {
            f.write_str("\nleft where it is, as surgery did not write it")?;
        }
        left.iter().try_for_each(|path| write!(f, "\n  {}", path.display()))
    }
}

/// A file that surgery wrote.
struct Ours<'e> {
    path: &'e str,
    bytes: u64,
    mark: Mark,
}

/// All files of an export. The session's file is last: without it, nothing would own the others.
fn files_of(export: &Export) -> impl Iterator<Item = Ours<'_>> {
    let beside = export.detail.companions.iter().map(|file| Ours {
        path: &file.path,
        bytes: file.bytes,
        mark: file.mark,
    });
    beside.chain([Ours { path: &export.path, bytes: export.bytes, mark: export.detail.mark }])
}

/// Checks that the files are unchanged and that nothing was added beside them.
fn untouched(export: &Export) -> anyhow::Result<()> {
    let mut changes = Vec::new();
    for file in files_of(export) {
        changes.extend(change(&file)?);
    }
    let ours: BTreeSet<&Path> = files_of(export).map(|file| Path::new(file.path)).collect();
    // The client keeps files of a session there, whoever made the session.
    let folder = new_file::companion_folder(Path::new(&export.path));
    for path in beside::kept(&folder)?.iter().filter(|path| !ours.contains(path.as_path())) {
        changes.push(format!("{} was put there since", path.display()));
    }
    if changes.is_empty() {
        return Ok(());
    }
    bail!(
        "{} changed after surgery made it, so it was not removed; if you do not need it, remove it by hand:\n  {}",
        short(&export.id),
        changes.join("\n  ")
    )
}

/// How a file changed since it was written; `None` if it did not, or is gone.
fn change(file: &Ours) -> anyhow::Result<Option<String>> {
    let path = Path::new(file.path);
    let grown = |length: u64| {
        let more = length.checked_sub(file.bytes).filter(|more| *more > 0)?;
        Some(format!("{} has grown by {}: the session went on", file.path, shown::size(more)))
    };
    let differs = |how: &str| Some(format!("{} is not as it was written: {how}", file.path));
    let now = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => atomic::mark_of(&meta),
        Ok(_) => return Ok(differs("no file any more")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e).with_context(|| format!("could not read {}", file.path)),
    };
    if is_untouched(file.mark, now) {
        return Ok(None);
    }
    let how = match (file.mark, now) {
        ((.., inode), (.., other)) if inode != other => "another file is there under its name",
        ((modified, ..), (other, ..)) if modified != other => "its content or its time was changed",
        _ => "its rights, its links or its times were changed",
    };
    Ok(grown(now.2).or_else(|| differs(how)))
}

/// Whether a file still has the mark `written`. Copies and editors can reset the modification time,
/// but not the change time. The recorded change time is 0 if a kill came between naming and
/// recording.
fn is_untouched(written: Mark, now: Mark) -> bool {
    written == now || (written.1 == 0 && written == (now.0, 0, now.2, now.3))
}

/// Checks that the recorded files are a session made by surgery and its companions. Others can
/// write the database, and must not make us remove their choice of files.
fn ensure_own_files(export: &Export) -> anyhow::Result<()> {
    let path = Path::new(&export.path);
    let folder = new_file::companion_folder(path);
    let climbs = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    let mut beside = export.detail.companions.iter().map(|file| Path::new(&file.path));
    if let Some(other) = beside.find(|p| !p.starts_with(&folder) || climbs(p)) {
        bail!("{} does not belong to {}; nothing was removed", other.display(), export.path);
    }
    let file = match fs::File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.with_context(|| format!("could not read {}", export.path))?,
    };
    let mut row = Vec::new();
    BufReader::new(file).take(LONGEST).read_until(b'\n', &mut row)?;
    let row: Value = serde_json::from_slice(&row).unwrap_or_default();
    if !row["brainGuard"].is_object() {
        bail!("{} is not a session that surgery made; nothing was removed", export.path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::FileTimes;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_file_that_somebody_touched_is_told_from_one_that_nobody_did() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let write = |text: &str| fs::write(&path, text).unwrap();
        let named = path.to_str().unwrap();
        let ours = |mark| Ours { path: named, bytes: 4, mark };
        write("one\n");
        let mark = atomic::mark(&path).unwrap();
        assert_eq!(change(&ours(mark)).unwrap(), None);
        // A kill came between naming and recording.
        let early = (mark.0, 0, mark.2, mark.3);
        assert_eq!(change(&ours(early)).unwrap(), None);

        // The same length and modification time; loops until the clock advances.
        let before = fs::metadata(&path).unwrap();
        let times = FileTimes::new().set_modified(before.modified().unwrap());
        let ctime = |meta: &fs::Metadata| (meta.ctime(), meta.ctime_nsec());
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while ctime(&fs::metadata(&path).unwrap()) == ctime(&before) {
            assert!(std::time::Instant::now() < deadline);
            write("two\n");
            fs::File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
        }
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before.modified().unwrap());
        let why = change(&ours(mark)).unwrap().expect("touched");
        assert!(why.contains("is not as it was written"), "{why}");
        write("one\ntwo\n");
        assert!(change(&ours(mark)).unwrap().expect("grown").contains("has grown by 4 B"));
        fs::remove_file(&path).unwrap();
        assert_eq!(change(&ours(mark)).unwrap(), None, "gone");
        fs::create_dir(&path).unwrap();
        assert!(change(&ours(mark)).unwrap().is_some(), "another thing");
    }
}
