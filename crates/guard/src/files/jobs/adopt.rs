//! Renames a default job: its folder moves with everything in it.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::asker::Asker;
use super::{begin, change_record, exists, lock, write_live};
use crate::files::archives;
use base::atomic;
use base::paths::Places;
use notes::compaction;

/// Renames the job and takes it. The old name stays as a link, because the agent and its subagents
/// know the file by that path. If the lock or the move fails, nothing has changed.
pub(super) fn adopt(asker: &Asker, from: &str, to: &str) -> io::Result<()> {
    let Asker { places, settings, .. } = asker;
    let _held = lock(places, from)?;
    rename(places, from, to)?;
    let text = begin(asker, to, false)?;
    let renamed = compaction::rename(&text, &settings.file.shape, from, to);
    if renamed != text {
        archives::save_invalid_utf8(places, to)?;
        write_live(places, to, &renamed)?;
    }
    change_record(places, to, |record| {
        (record.auto, record.holder) = (false, Some(asker.holder()));
    })
}

fn rename(places: &Places, from: &str, to: &str) -> io::Result<()> {
    let (old, new) = (places.job(from), places.job(to));
    free(places, to, &new)?;
    // Some file systems have no links, and some cannot exchange two names.
    if symlink(to, &new).is_ok() {
        // Folder and link swap in one step, so the job always exists under both names.
        if renameat_with(CWD, &old, CWD, &new, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
        fs::remove_file(&new)?;
    }
    fs::rename(&old, &new)?;
    // Without the link the old path leads nowhere, which is acceptable.
    let _ = symlink(to, &old);
    Ok(())
}

/// Removes what a killed or refused verb left under a name that belongs to no job.
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
