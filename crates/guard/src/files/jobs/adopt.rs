//! Renames a default job: its folder moves with everything in it.
use std::io;
use std::path::Path;

use rustix::fs::{FileType, RenameFlags};

use super::asker::Asker;
use super::{begin, change_record, exists, lock, write_live};
use crate::compaction;
use crate::files::{archives, origin};
use base::beneath::Spot;
use base::paths::Places;
use base::{atomic, beneath};

/// Renames the job and takes it. The old name stays as a link, because the agent and its subagents
/// know the file by that path. If the lock or the move fails, nothing has changed.
pub(super) fn adopt(asker: &Asker, from: &str, to: &str) -> io::Result<()> {
    let Asker { places, settings, .. } = asker;
    let _held = lock(places, from)?;
    rename(places, from, to)?;
    // The client's sandbox forbids this write, and then the hook does it.
    let _ = origin::rename(places, from, to);
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
    let (old, new) = (places.job(from), places.job(from).with_file_name(to));
    free(places, to, &new)?;
    let (old, new) = (Spot::for_path(&old)?, Spot::for_path(&new)?);
    // Some file systems have no links, and some cannot exchange two names.
    if new.link_to(to).is_ok() {
        // Folder and link swap in one step, so the job always exists under both names.
        if old.rename(&new, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
        new.remove()?;
    }
    old.rename(&new, RenameFlags::empty())?;
    // Without the link the old path leads nowhere, which is acceptable.
    let _ = old.link_to(to);
    Ok(())
}

/// Removes what a killed or refused verb left under a name that belongs to no job.
fn free(places: &Places, job: &str, path: &Path) -> io::Result<()> {
    let spot = Spot::for_path(path)?;
    let Some(stat) = spot.stat()? else { return Ok(()) };
    if exists(places, job) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{job} is a job")));
    }
    if beneath::file_type(&stat) == FileType::Symlink {
        return spot.remove();
    }
    atomic::remove(&path.join(".lock"))?;
    spot.remove_dir().map_err(|e| {
        let said = format!("{} is in the way: {e}; choose another name", path.display());
        io::Error::new(e.kind(), said)
    })
}
