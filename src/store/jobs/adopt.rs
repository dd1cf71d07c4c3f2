//! A default job gets a name: its folder moves, with all that is in it.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::moves::Asker;
use super::{begin, change_record, exists, lock};
use crate::compaction;
use crate::store::paths::Places;
use crate::store::{archives, atomic};

/// Renames the job and holds it. The old name stays as a link: the agent was told of
/// the file by that path, and so were its subagents.
///
/// # Errors
/// The lock stayed taken, or what the system says; before the move nothing has changed.
pub(super) fn adopt(asker: &Asker, from: &str, to: &str) -> io::Result<()> {
    let Asker { places, settings, .. } = asker;
    let _held = lock(places, from)?;
    rename(places, from, to)?;
    let text = begin(asker, to, false)?;
    let renamed = compaction::rename(&text, &settings.file.shape, from, to);
    if renamed != text {
        archives::keep_bytes(places, to)?;
        atomic::write(&places.compaction(to), renamed.as_bytes())?;
    }
    change_record(places, to, |record| {
        (record.auto, record.holder) = (false, Some(asker.holder()));
    })
}

fn rename(places: &Places, from: &str, to: &str) -> io::Result<()> {
    let old = places.job(from);
    let new = old.with_file_name(to);
    free(places, to, &new)?;
    // Some file systems have no links, and some can't exchange.
    if std::os::unix::fs::symlink(to, &new).is_ok() {
        // Folder and link change places in one step, so there always is a job by both names.
        if renameat_with(CWD, &old, CWD, &new, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
        fs::remove_file(&new)?;
    }
    fs::rename(&old, &new)?;
    // Without the link the old path leads nowhere, and that is all.
    let _ = std::os::unix::fs::symlink(to, &old);
    Ok(())
}

/// Clears away what a verb that was killed or refused left under a name that is no job's.
fn free(places: &Places, job: &str, path: &Path) -> io::Result<()> {
    let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
    if exists(places, job) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{job} is a job")));
    }
    if meta.is_symlink() {
        return fs::remove_file(path);
    }
    atomic::remove(&path.join(".lock"))?;
    fs::remove_dir(path).map_err(|e| {
        let said = format!("{} is in the way: {e}; choose another name", path.display());
        io::Error::new(e.kind(), said)
    })
}

/// The name that a job goes by now: an adopted one is still found by its old name.
pub fn name_now(places: &Places, job: &str) -> String {
    let target = fs::read_link(places.job(job)).ok();
    let name = target.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    name.map_or_else(|| job.to_owned(), str::to_owned)
}
