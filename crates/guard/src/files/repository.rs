//! Finds git repositories and notices new commits. It reads git's files, because most shell calls
//! of an agent commit nothing.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use base::atomic;

/// The repository of one working tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    /// The git folder that all its working trees share.
    pub common: PathBuf,
    /// This working tree's own git folder; the same as `common` for the main one.
    pub own: PathBuf,
}

/// The state of a git file at the last check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The inode, because git replaces some files.
    pub inode: u64,
    /// Modification time, nanoseconds.
    pub modified: i64,
    /// Bytes.
    pub size: u64,
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

impl Repository {
    /// The git folder of each working tree, with a mark that changes after a commit. Skips trees
    /// without any commit.
    pub fn trees(&self) -> Vec<(PathBuf, Mark)> {
        let linked = fs::read_dir(self.common.join("worktrees"));
        let linked = linked.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut trees: Vec<_> = std::iter::once(self.common.clone())
            .chain(linked)
            .filter_map(|own| Some((mark(&own)?, own)))
            .map(|(mark, own)| (own, mark))
            .collect();
        trees.sort_by(|a, b| a.0.cmp(&b.0));
        trees
    }
}

/// The mark of a working tree, from its reflog or else from the last commit's message file.
fn mark(own: &Path) -> Option<Mark> {
    let file = |name: &str| fs::metadata(own.join(name)).ok().filter(fs::Metadata::is_file);
    let meta = file("logs/HEAD").or_else(|| file("COMMIT_EDITMSG"))?;
    let modified = meta.mtime().wrapping_mul(1_000_000_000).wrapping_add(meta.mtime_nsec());
    Some(Mark { inode: meta.ino(), modified, size: meta.size() })
}

/// The commit that is checked out, if it is on no branch.
pub fn detached(own: &Path) -> Option<String> {
    let head = first_line(&own.join("HEAD"))?;
    let hash = (40..=64).contains(&head.len()) && head.bytes().all(|b| b.is_ascii_hexdigit());
    hash.then_some(head)
}

/// The git folder that all working trees share, from one working tree's own.
pub fn common(own: &Path) -> PathBuf {
    let common = first_line(&own.join("commondir"));
    let common = common.and_then(|common| fs::canonicalize(own.join(common)).ok());
    common.unwrap_or_else(|| own.to_path_buf())
}

/// The folder of a working tree, from its own git folder.
pub fn worktree(own: &Path) -> PathBuf {
    let linked = first_line(&own.join("gitdir")).map(PathBuf::from);
    let dot = linked.as_deref().unwrap_or(own);
    if dot.file_name().is_some_and(|name| name == ".git") {
        dot.parent().unwrap_or(dot).to_path_buf()
    } else {
        dot.to_path_buf()
    }
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
        assert_eq!(worktree(&found.own), dir.path().join("a"));
        assert_eq!(found.trees(), []);
        fs::write(below.join("COMMIT_EDITMSG"), "x").unwrap();
        assert_eq!(found.trees().len(), 1, "without a reflog");
    }
}
