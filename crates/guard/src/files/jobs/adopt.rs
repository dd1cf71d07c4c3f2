//! A default job gets a name: its folder moves, with all that is in it.
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

/// Renames the job and holds it. The old name stays as a link: the agent was told of
/// the file by that path, and so were its subagents.
///
/// # Errors
/// The lock stayed taken, or what the system says; before the move nothing has changed.
pub(super) fn adopt(asker: &Asker, from: &str, to: &str) -> io::Result<()> {
    let Asker { places, settings, .. } = asker;
    let _held = lock(places, from)?;
    rename(places, from, to)?;
    // In the client's sandbox the hook does it.
    let _ = origin::rename(places, from, to);
    let text = begin(asker, to, false)?;
    let renamed = compaction::rename(&text, &settings.file.shape, from, to);
    if renamed != text {
        archives::keep_bytes(places, to)?;
        write_live(places, to, &renamed)?;
    }
    change_record(places, to, |record| {
        (record.auto, record.holder) = (false, Some(asker.holder()));
    })
}

fn rename(places: &Places, from: &str, to: &str) -> io::Result<()> {
    let (old, new) = (places.job(from), places.job(from).with_file_name(to));
    free(places, to, &new)?;
    let (old, new) = (Spot::of(&old)?, Spot::of(&new)?);
    // Some file systems have no links, and some can't exchange.
    if new.link_to(to).is_ok() {
        // Folder and link change places in one step, so there always is a job by both names.
        if old.rename(&new, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
        new.remove()?;
    }
    old.rename(&new, RenameFlags::empty())?;
    // Without the link the old path leads nowhere, and that is all.
    let _ = old.link_to(to);
    Ok(())
}

/// Clears away what a verb that was killed or refused left under a name that is no job's.
fn free(places: &Places, job: &str, path: &Path) -> io::Result<()> {
    let spot = Spot::of(path)?;
    let Some(stat) = spot.stat()? else { return Ok(()) };
    if exists(places, job) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{job} is a job")));
    }
    if beneath::kind(&stat) == FileType::Symlink {
        return spot.remove();
    }
    atomic::remove(&path.join(".lock"))?;
    spot.remove_dir().map_err(|e| {
        let said = format!("{} is in the way: {e}; choose another name", path.display());
        io::Error::new(e.kind(), said)
    })
}
