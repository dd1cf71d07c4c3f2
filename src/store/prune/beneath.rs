//! Removes what lies below a folder of the user's.

use std::fs;
use std::io;
use std::path::{Component, Path};

/// Removes a file, a link, or a folder with all that is in it; what a link names stays. What is
/// gone already is no error.
///
/// # Errors
/// What the system says; `InvalidInput` for a path that is not below `root`.
pub fn remove_beneath(root: &Path, path: &Path) -> io::Result<()> {
    let is_below = path.strip_prefix(root).is_ok_and(|below| {
        let mut parts = below.components().peekable();
        parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
    });
    if !is_below {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it does not lie there"));
    }
    let removed = fs::symlink_metadata(path).and_then(|meta| {
        if meta.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    });
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn a_link_goes_itself_and_a_path_outside_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("state")).unwrap();
        fs::create_dir_all(at("outside/s")).unwrap();
        symlink(at("outside"), at("state/outputs")).unwrap();
        remove_beneath(&at("state"), &at("state/outputs")).unwrap();
        assert!(!at("state/outputs").is_symlink());
        for path in ["outside/s", "state", "state/../outside/s"] {
            assert!(remove_beneath(&at("state"), &at(path)).is_err(), "{path}");
        }
        assert!(at("outside/s").exists());
    }
}
