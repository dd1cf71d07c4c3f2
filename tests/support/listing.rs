//! The content of a folder in detail: kinds, owners, modes, inodes, times, contents.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Larger files are compared by size and inode.
const MOST: u64 = 64 << 20;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Listing(BTreeMap<PathBuf, Entry>);

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    owner: (u32, u32),
    inode: u64,
    /// A file that came and went changes the folder's time.
    modified: (i64, i64),
    content: u64,
}

impl Listing {
    /// Everything below `root`, except these folders.
    pub fn new(root: &Path, without: &[PathBuf]) -> Self {
        let mut all = BTreeMap::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if without.contains(&path) {
                    continue;
                }
                let Ok(meta) = fs::symlink_metadata(&path) else { continue };
                if meta.is_dir() {
                    folders.push(path.clone());
                }
                let entry = Entry {
                    mode: meta.mode(),
                    owner: (meta.uid(), meta.gid()),
                    inode: meta.ino(),
                    modified: (meta.mtime(), meta.mtime_nsec()),
                    content: content(&path, &meta),
                };
                all.insert(path, entry);
            }
        }
        Self(all)
    }

    /// The differences in `after`.
    pub fn differences(&self, after: &Self) -> Vec<String> {
        let changed = self.0.iter().filter_map(|(path, entry)| match after.0.get(path) {
            None => Some(format!("{} is gone", path.display())),
            Some(now) if now != entry => Some(format!("{} changed", path.display())),
            Some(_) => None,
        });
        let new = after.0.keys().filter(|path| !self.0.contains_key(*path));
        changed.chain(new.map(|path| format!("{} was created", path.display()))).collect()
    }
}

fn content(path: &Path, meta: &fs::Metadata) -> u64 {
    let mut hasher = DefaultHasher::new();
    if meta.is_symlink() {
        fs::read_link(path).ok().hash(&mut hasher);
    } else if meta.is_file() && meta.len() <= MOST {
        fs::read(path).ok().hash(&mut hasher);
    } else if meta.is_file() {
        meta.len().hash(&mut hasher);
    }
    hasher.finish()
}

/// The regular files below a folder, without following links.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}
