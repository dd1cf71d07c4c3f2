//! Which folder a project is. Its path alone does not tell: a folder may be moved, and another one,
//! cloned anew or in another container, may later have its path.
#![allow(clippy::disallowed_methods, reason = "it looks at folders")]

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::atomic;

/// Identifies a folder under any path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    inode: u64,
    /// When it was created, in nanoseconds, where the file system knows.
    born: Option<u64>,
    /// A disk's number may change when it is mounted again, so it counts only without `born`.
    device: u64,
}

impl Identity {
    /// The identity of the folder at this path; `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
        let born = meta.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let born = born.and_then(|born| u64::try_from(born.as_nanos()).ok());
        Some(Self { inode: meta.ino(), born, device: meta.dev() })
    }

    /// Whether both are the same folder.
    pub fn is_same(self, other: Self) -> bool {
        self.inode == other.inode
            && match (self.born, other.born) {
                (Some(a), Some(b)) => a == b,
                _ => self.device == other.device,
            }
    }
}

/// The content of `project.json`: the project that a part of the state folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The project's path.
    pub path: PathBuf,
    /// The folder there.
    pub folder: Identity,
}

impl Known {
    fn file(state: &Path) -> PathBuf {
        state.join("project.json")
    }

    /// Reads it; `None` if it is missing or damaged.
    pub fn load(state: &Path) -> Option<Self> {
        let bytes = atomic::read_record(&Self::file(state)).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes it if it is missing, and after the project was moved.
    ///
    /// # Errors
    /// What the system says.
    pub fn record(state: &Path, project: &Path) -> io::Result<()> {
        let Some(folder) = Identity::of(project) else { return Ok(()) };
        if Self::load(state).is_some_and(|known| known.path == project) {
            return Ok(());
        }
        let known = Self { path: project.to_path_buf(), folder };
        let bytes = serde_json::to_vec(&known).map_err(io::Error::from)?;
        atomic::write_unsynced(&Self::file(state), &bytes)
    }
}

/// Parts that projects with one path may have.
const MOST: usize = 9;

/// The part of the state folder for the project at a path, existing or not: the one of this folder,
/// else the first free name.
pub(super) fn folder_for(projects: &Path, key: &str, project: &Path) -> PathBuf {
    let here = Identity::of(project);
    let mut free = None;
    for number in 1..=MOST {
        let name = if number == 1 { key.to_owned() } else { format!("{key}.{number}") };
        let state = projects.join(name);
        match (Known::load(&state), here) {
            (Some(known), Some(here)) if known.folder.is_same(here) => return state,
            // A folder that is gone for now is taken for the first one.
            (Some(_), None) => return state,
            (Some(_), Some(_)) => {}
            (None, _) => {
                free.get_or_insert(state);
            }
        }
    }
    free.unwrap_or_else(|| projects.join(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_folder_with_the_same_path_has_a_part_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let (projects, project) = (dir.path().join("projects"), dir.path().join("app"));
        let part = || folder_for(&projects, "app-1", &project);
        let begin = || {
            fs::create_dir_all(part()).unwrap();
            Known::record(&part(), &project).unwrap();
            part()
        };
        fs::create_dir(&project).unwrap();
        let first = begin();
        assert_eq!(first, projects.join("app-1"));
        fs::rename(&project, dir.path().join("old")).unwrap();
        assert_eq!(part(), first, "while nothing is there");
        fs::create_dir(&project).unwrap();
        let second = begin();
        assert_eq!(second, projects.join("app-1.2"));
        fs::rename(&project, dir.path().join("other")).unwrap();
        fs::rename(dir.path().join("old"), &project).unwrap();
        assert_eq!(part(), first, "it is back");
        fs::remove_dir_all(first).unwrap();
        assert_eq!(part(), projects.join("app-1"));
    }

    #[test]
    fn a_remounted_disk_keeps_its_folders() {
        let known = Identity { inode: 7, born: Some(1), device: 1 };
        assert!(known.is_same(Identity { device: 2, ..known }));
        assert!(!known.is_same(Identity { born: Some(2), ..known }));
        let unknown = Identity { born: None, ..known };
        assert!(unknown.is_same(known) && !unknown.is_same(Identity { device: 2, ..known }));
    }
}
