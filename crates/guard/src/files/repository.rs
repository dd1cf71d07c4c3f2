//! Finds the git repository that a folder is in.

use std::fs;
use std::path::{Path, PathBuf};

use base::atomic;

/// The repository of one working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The git folder that all its working trees share.
    pub common: PathBuf,
    /// This working tree's own git folder; the same as `common` for the main one.
    pub own: PathBuf,
}

/// The repository that a folder is in.
pub fn find(folder: &Path) -> Option<Repository> {
    folder.ancestors().find_map(|folder| {
        let dot = folder.join(".git");
        let meta = fs::metadata(&dot).ok()?;
        let own = if meta.is_dir() {
            // Any folder may be called `.git`.
            dot.join("HEAD").symlink_metadata().ok()?;
            dot
        } else {
            let link = first_line(&dot)?;
            let own = folder.join(link.strip_prefix("gitdir:")?.trim());
            fs::canonicalize(own).ok()?
        };
        Some(Repository { common: common(&own), own })
    })
}

/// The git folder that all working trees share, from one working tree's own.
fn common(own: &Path) -> PathBuf {
    let common = first_line(&own.join("commondir"));
    let common = common.and_then(|common| fs::canonicalize(own.join(common)).ok());
    common.unwrap_or_else(|| own.to_path_buf())
}

fn first_line(path: &Path) -> Option<String> {
    let text = atomic::read_text(path).ok()??;
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_repository_has_none() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a/.git");
        fs::create_dir_all(&below).unwrap();
        assert_eq!(find(&dir.path().join("a")), None, "a folder of that name");
        fs::write(dir.path().join("a/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let found = find(&dir.path().join("a/not/there")).unwrap();
        assert_eq!((&found.common, &found.own), (&below, &below));
    }
}
