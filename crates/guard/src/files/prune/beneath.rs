//! Removes files below a folder without following links. A link is removed, and its target stays.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::Errno;

/// Removes a file, a link, or a folder with its content. A missing path is no error. Fails with
/// `NotADirectory` if a folder between `root` and `path` is a link, and with `InvalidInput` if
/// `path` is not below `root`.
pub fn remove_beneath(root: &Path, path: &Path) -> io::Result<()> {
    let outside = || io::Error::new(io::ErrorKind::InvalidInput, "it does not lie there");
    let below = path.strip_prefix(root).map_err(|_| outside())?;
    let (Some(parent), Some(name)) = (below.parent(), below.file_name()) else {
        return Err(outside());
    };
    let done = (|| {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder = openat(CWD, root, flags, Mode::empty())?;
        for part in parent.components() {
            let Component::Normal(part) = part else { return Err(Errno::INVAL) };
            folder = open_folder(folder.as_fd(), part)?;
        }
        remove(folder.as_fd(), name)
    })();
    match done {
        Err(Errno::NOENT) => Ok(()),
        other => other.map_err(io::Error::from),
    }
}

fn open_folder(above: BorrowedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(above, name, flags, Mode::empty())
}

fn remove(above: BorrowedFd, name: &OsStr) -> Result<(), Errno> {
    let kind = FileType::from_raw_mode(statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode);
    if kind != FileType::Directory {
        return unlinkat(above, name, AtFlags::empty());
    }
    let folder = open_folder(above, name)?;
    let mut result = Ok(());
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            // A file that cannot be removed does not stop the others.
            result = result.and(match remove(folder.as_fd(), name) {
                Err(Errno::NOENT) => Ok(()),
                other => other,
            });
        }
    }
    result.and_then(|()| unlinkat(above, name, AtFlags::REMOVEDIR))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_goes_whole_and_links_in_it_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("state/outputs/s/deep")).unwrap();
        fs::create_dir_all(at("outside")).unwrap();
        for file in ["state/outputs/s/deep/a.txt", "outside/kept.txt"] {
            fs::write(at(file), "x").unwrap();
        }
        symlink(at("outside"), at("state/outputs/s/link")).unwrap();
        symlink(at("outside/kept.txt"), at("state/outputs/s/deep/b.txt")).unwrap();
        remove_beneath(&at("state"), &at("state/outputs/s")).unwrap();
        assert!(at("outside/kept.txt").exists() && at("state/outputs").exists());
        assert!(!at("state/outputs/s").exists());
        remove_beneath(&at("state"), &at("state/outputs/s")).unwrap();
        remove_beneath(&at("state"), &at("state/none/s")).unwrap();
    }

    #[test]
    fn a_link_goes_itself_and_one_on_the_way_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("state")).unwrap();
        fs::create_dir_all(at("outside/s")).unwrap();
        symlink(at("outside"), at("state/outputs")).unwrap();
        let why = remove_beneath(&at("state"), &at("state/outputs/s")).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::NotADirectory, "{why}");
        assert!(at("outside/s").exists());
        remove_beneath(&at("state"), &at("state/outputs")).unwrap();
        assert!(at("outside/s").exists() && !at("state/outputs").is_symlink());
        for path in ["outside/s", "state", "state/../outside/s"] {
            assert!(remove_beneath(&at("state"), &at(path)).is_err(), "{path}");
        }
        assert!(at("outside/s").exists());
    }

    #[test]
    fn a_root_that_is_a_link_is_the_users() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("real/s")).unwrap();
        symlink(at("real"), at("state")).unwrap();
        remove_beneath(&at("state"), &at("state/s")).unwrap();
        assert!(!at("real/s").exists());
    }
}
