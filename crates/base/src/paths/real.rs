//! Resolves links in paths.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The path without links, or unchanged if it does not exist. Most paths have none: checking each
/// part is then enough, while `canonicalize` allocates for a path of any length.
pub fn real(path: &Path) -> PathBuf {
    let plain = |part: Component| matches!(part, Component::RootDir | Component::Normal(_));
    let named = |part: &Path| fs::symlink_metadata(part).is_ok_and(|meta| !meta.is_symlink());
    if path.is_absolute() && path.components().all(plain) && path.ancestors().all(named) {
        // Without repeated slashes.
        return path.components().collect();
    }
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Whether two paths name the same file, existing or not. Resolves symlinks, `..`, and the folder
/// of a missing file.
pub fn same_file(a: &Path, b: &Path) -> bool {
    a == b || resolve(a) == resolve(b)
}

/// The longest path that the system takes, with its terminating zero.
const PATH_MAX: usize = 4096;

/// The path without symlinks and dots. Missing parts are appended to the existing ones. A path that
/// is too long for any file is returned unchanged.
pub fn resolve(path: &Path) -> PathBuf {
    if path.as_os_str().len() >= PATH_MAX {
        return path.to_path_buf();
    }
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if parent != path => resolve(parent).join(name),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_named_as_the_system_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        std::os::unix::fs::symlink(root.join("a"), root.join("link")).unwrap();
        for path in ["a", "a/b/", "a//b", "a/./b", "a/b/..", "link", "link/b", "link/../a", "gone"]
        {
            let path = root.join(path);
            assert_eq!(real(&path), fs::canonicalize(&path).unwrap_or(path.clone()), "{path:?}");
        }
    }

    #[test]
    fn same_file_sees_through_links_and_dots() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, dir.path().join("link")).unwrap();
        assert!(same_file(&dir.path().join("link/new.md"), &real.join("new.md")));
        assert!(same_file(&real.join("../real/new.md"), &real.join("new.md")));
        assert!(!same_file(&real.join("a"), &real.join("b")));
    }
}
