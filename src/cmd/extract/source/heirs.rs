//! Where the session that was in a file is now, and what its placeholders need: a file that was
//! put aside under a longer name, or taken over into its database, is looked at there. Only what
//! the system says is not there is gone.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::open;
use crate::cmd::extract::read;
use store::blocks::Root;
use store::extracted::{Held, Ledger};
use store::openclaw::Database;

/// Where disks are mounted that come and go.
const MOUNTS: [&str; 5] = ["/mnt", "/media", "/run/media", "/net", "/Volumes"];

/// The objects that the placeholders of the session at `place` need, by a ledger that names it.
pub fn held(root: &Root, place: &Path, ledger: &Ledger) -> Held {
    let Some(heirs) = heirs(place) else { return Held::Unknown };
    if heirs.is_empty() {
        return if gone(place) { Held::Gone } else { Held::Unknown };
    }
    let mut all = Vec::new();
    for place in heirs {
        let live = open(root, &place, false).ok().and_then(|s| read::live(&s, ledger).ok());
        let Some(live) = live else { return Held::Unknown };
        all.extend(live.iter().flat_map(|live| live.objects().map(ToString::to_string)));
    }
    Held::Needs(all)
}

/// Whether there is something; `None` where that can't be told.
fn there(path: &Path) -> Option<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Some(true),
        Err(e) if absent(&e) => Some(false),
        Err(_) => None,
    }
}

fn absent(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Where the session that was at `place` is now; `None` where that can't be told.
fn heirs(place: &Path) -> Option<Vec<PathBuf>> {
    if there(place)? {
        let mut all = vec![place.to_path_buf()];
        all.extend(aside(place)?);
        return Some(all);
    }
    let in_database = |file: PathBuf, id: &str| -> Option<Vec<PathBuf>> {
        if !there(&file)? {
            return Some(Vec::new());
        }
        let place = PathBuf::from(format!("{}:{id}", file.display()));
        match Database::find(&file, Some(id), false) {
            Ok(found) if found.session() == id => Some(vec![place]),
            Err(e) if e.kind() == ErrorKind::NotFound => Some(Vec::new()),
            // Another one's id begins so, or it can't be read.
            _ => None,
        }
    };
    if let Some((file, id)) = place.to_str().and_then(|text| text.rsplit_once(':')) {
        return in_database(file.into(), id);
    }
    let mut all = aside(place)?;
    let id = place.file_stem().unwrap_or_default().to_string_lossy();
    if let Some(agent) = place.ancestors().nth(2) {
        all.extend(in_database(agent.join("agent/openclaw-agent.sqlite"), &id)?);
    }
    Some(all)
}

/// Files that hold the same session under a name that goes on: `<file>.reset.<time>`,
/// `<file>.deleted.<time>`, `<file>.imported-<time>`; `None` where that can't be told.
fn aside(place: &Path) -> Option<Vec<PathBuf>> {
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

/// Whether a file that is not there is gone. Its folder may be on a disk that is not there
/// either: that looks like an empty folder, or one in which disks are mounted.
fn gone(place: &Path) -> bool {
    let mut above = place.ancestors().skip(1);
    if above.clone().next().is_some_and(Path::is_dir) {
        return true;
    }
    let Some(nearest) = above.find(|folder| there(folder) != Some(false)) else { return false };
    let Ok(mut entries) = fs::read_dir(nearest) else { return false };
    if entries.next().is_none() || nearest.parent().is_none() {
        return false;
    }
    let device = |path: &Path| fs::metadata(path).map(|meta| meta.dev()).ok();
    // What is mounted there is another device.
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
        assert!(gone(&place), "its folder is there");
        fs::remove_dir(at("disk/p/s")).unwrap();
        assert!(!gone(&place), "an empty folder may be a disk's");
        fs::write(at("disk/p/other"), "").unwrap();
        assert!(gone(&place), "what is beside it is there");
        fs::remove_dir_all(at("disk/p")).unwrap();
        assert!(!gone(&place));
        fs::write(at("disk/p"), "").unwrap();
        assert!(!gone(&place), "a file in a folder's place tells nothing");
        for place in ["/media/nobody/disk/s/x.jsonl", "/mnt/x.jsonl/s/x.jsonl", "/none-7/s/x.jsonl"]
        {
            assert!(!gone(Path::new(place)), "{place}");
        }
    }
}
