//! Finds where a session is now, and the objects its placeholders need. A client may rename the
//! file with a suffix, or import it into a database. A file is gone only if the system says so.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::open_for_needs;
use crate::cmd::extract::read;
use store::blocks::Root;
use store::extracted::{Ledger, SessionNeeds};
use store::openclaw::Database;

/// Where removable disks are mounted.
const MOUNTS: [&str; 5] = ["/mnt", "/media", "/run/media", "/net", "/Volumes"];

/// The objects that the session at `place` needs, by its ledger.
pub fn held(root: &Root, place: &Path, ledger: &Ledger) -> SessionNeeds {
    let Some(heirs) = heirs(place) else { return SessionNeeds::Unknown };
    if heirs.is_empty() {
        return if was_deleted(place) { SessionNeeds::Gone } else { SessionNeeds::Unknown };
    }
    let mut all = Vec::new();
    for place in heirs {
        let live = open_for_needs(root, &place).ok().and_then(|s| read::live(&s, ledger).ok());
        let Some(live) = live else { return SessionNeeds::Unknown };
        all.extend(live.iter().flat_map(|live| live.objects().map(ToString::to_string)));
    }
    SessionNeeds::Needs(all)
}

/// Whether the path exists; `None` if the system cannot tell.
fn path_exists(path: &Path) -> Option<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Some(true),
        Err(e) if absent(&e) => Some(false),
        Err(_) => None,
    }
}

fn absent(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Where the session from `place` is now; `None` if that is unknown.
fn heirs(place: &Path) -> Option<Vec<PathBuf>> {
    if path_exists(place)? {
        let mut all = vec![place.to_path_buf()];
        all.extend(renamed_files(place)?);
        return Some(all);
    }
    let in_database = |file: PathBuf, id: &str| -> Option<Vec<PathBuf>> {
        if !path_exists(&file)? {
            return Some(Vec::new());
        }
        let place = PathBuf::from(format!("{}:{id}", file.display()));
        match Database::find(&file, Some(id)) {
            Ok(found) if found.session() == id => Some(vec![place]),
            Err(e) if e.kind() == ErrorKind::NotFound => Some(Vec::new()),
            // Another session's id has this prefix, or the database is unreadable.
            _ => None,
        }
    };
    if let Some((file, id)) = place.to_str().and_then(|text| text.rsplit_once(':')) {
        return in_database(file.into(), id);
    }
    let mut all = renamed_files(place)?;
    let id = place.file_stem().unwrap_or_default().to_string_lossy();
    if let Some(agent) = place.ancestors().nth(2) {
        all.extend(in_database(agent.join("agent/openclaw-agent.sqlite"), &id)?);
    }
    Some(all)
}

/// Renamed files of the same session: `<file>.reset.<time>`, `<file>.deleted.<time>`,
/// `<file>.imported-<time>`. `None` if that is unknown.
fn renamed_files(place: &Path) -> Option<Vec<PathBuf>> {
    let (name, folder) = (place.file_name()?.to_str()?, place.parent()?);
    let mut found = Vec::new();
    for folder in [folder.to_path_buf(), folder.join("session-sqlite-import-archive")] {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if absent(&e) => continue,
            Err(_) => return None,
        };
        for entry in entries {
            let path = entry.ok()?.path();
            let goes_on = path.file_name().and_then(|n| n.to_str()?.strip_prefix(name));
            let kinds = [".reset.", ".deleted.", ".imported-"];
            if goes_on.is_some_and(|rest| kinds.iter().any(|kind| rest.starts_with(kind))) {
                found.push(path);
            }
        }
    }
    Some(found)
}

/// Whether a missing file was deleted. If its disk is not mounted, the mount point is an empty
/// folder, or one that holds mount points.
fn was_deleted(place: &Path) -> bool {
    let mut above = place.ancestors().skip(1);
    if above.clone().next().is_some_and(Path::is_dir) {
        return true;
    }
    let Some(nearest) = above.find(|folder| path_exists(folder) != Some(false)) else {
        return false;
    };
    let Ok(mut entries) = fs::read_dir(nearest) else { return false };
    if entries.next().is_none() || nearest.parent().is_none() {
        return false;
    }
    let device = |path: &Path| fs::metadata(path).map(|meta| meta.dev()).ok();
    // A mounted disk has its own device number.
    let base = MOUNTS.iter().map(Path::new).find(|base| nearest.starts_with(base));
    base.is_none_or(|base| device(base) != device(nearest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_gone_is_told_from_a_disk_that_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("disk/p/s")).unwrap();
        let place = at("disk/p/s/x.jsonl");
        assert!(was_deleted(&place), "its folder is there");
        fs::remove_dir(at("disk/p/s")).unwrap();
        assert!(!was_deleted(&place), "an empty folder may be a disk's");
        fs::write(at("disk/p/other"), "").unwrap();
        assert!(was_deleted(&place), "what is beside it is there");
        fs::remove_dir_all(at("disk/p")).unwrap();
        assert!(!was_deleted(&place));
        fs::write(at("disk/p"), "").unwrap();
        assert!(!was_deleted(&place), "a file in a folder's place tells nothing");
        for place in ["/media/nobody/disk/s/x.jsonl", "/mnt/x.jsonl/s/x.jsonl", "/none-7/s/x.jsonl"]
        {
            assert!(!was_deleted(Path::new(place)), "{place}");
        }
    }
}
