//! Git repositories as far as their reflogs go: where they lie, whether they changed, what
//! was added. Read as files, since most calls of an agent's shell change none of them.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::git::Line;
use base::atomic;

/// The most that is read of a reflog at once, from its end: about 5,000 lines.
const MOST_READ: u64 = 1024 * 1024;

/// The repository of one working tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    /// What all its working trees share.
    pub common: PathBuf,
    /// What is this working tree's own; the same for the main one.
    pub own: PathBuf,
}

/// A reflog as it was when it was read last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The file: git replaces it when it drops old lines.
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
            // Any folder may be called so.
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
    /// The reflogs of all its working trees' heads that are there.
    pub fn logs(&self) -> Vec<(PathBuf, Mark)> {
        let trees = fs::read_dir(self.common.join("worktrees"));
        let trees = trees.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut logs: Vec<_> = std::iter::once(self.common.clone())
            .chain(trees)
            .map(|own| own.join("logs/HEAD"))
            .filter_map(|log| Some((mark(&log)?, log)))
            .map(|(mark, log)| (log, mark))
            .collect();
        logs.sort_by(|a, b| a.0.cmp(&b.0));
        logs
    }
}

/// What a reflog's file is now; `None` where there is none.
pub fn mark(log: &Path) -> Option<Mark> {
    fs::metadata(log).ok().filter(fs::Metadata::is_file).as_ref().map(mark_of)
}

fn mark_of(meta: &fs::Metadata) -> Mark {
    let modified = meta.mtime().wrapping_mul(1_000_000_000).wrapping_add(meta.mtime_nsec());
    Mark { inode: meta.ino(), modified, size: meta.size() }
}

/// What is a working tree's own, by the reflog of its head.
pub fn own_of(log: &Path) -> &Path {
    log.parent().and_then(Path::parent).unwrap_or(log)
}

/// What all working trees of a repository share, by what is one's own.
pub fn common(own: &Path) -> PathBuf {
    let common = first_line(&own.join("commondir"));
    let common = common.and_then(|common| fs::canonicalize(own.join(common)).ok());
    common.unwrap_or_else(|| own.to_path_buf())
}

/// The folder of a working tree, by what is its own.
pub fn worktree(own: &Path) -> PathBuf {
    let linked = first_line(&own.join("gitdir")).map(PathBuf::from);
    let dot = linked.as_deref().unwrap_or(own);
    if dot.file_name().is_some_and(|name| name == ".git") {
        dot.parent().unwrap_or(dot).to_path_buf()
    } else {
        dot.to_path_buf()
    }
}

/// What was added to a reflog.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Added {
    /// The lines in order.
    pub lines: Vec<Line>,
    /// How far it was read.
    pub mark: Mark,
    /// Older lines were left out, as too many.
    pub cut: bool,
}

/// What was added to a reflog since it was read last; all of a file that is new or was replaced.
///
/// # Errors
/// What the system says.
pub fn added(log: &Path, since: Option<Mark>) -> io::Result<Added> {
    // A pipe in its place would be waited for.
    let file = File::options().read(true).custom_flags(atomic::NO_WAIT).open(log)?;
    let meta = file.metadata()?;
    let size = meta.size();
    let known = since.filter(|s| s.inode == meta.ino() && s.size <= size).map_or(0, |s| s.size);
    let from = known.max(size.saturating_sub(MOST_READ));
    let cut = from > known;
    let mut bytes = vec![0; (size - from) as usize];
    file.read_exact_at(&mut bytes, from)?;
    // Behind the last line break stands nothing, or a line that is being written.
    let end = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
    let mut lines = bytes[..end].split(|b| *b == b'\n');
    if cut {
        lines.next();
    }
    let mark = Mark { size: from + end as u64, ..mark_of(&meta) };
    Ok(Added { lines: lines.filter_map(Line::parse).collect(), mark, cut })
}

/// The last line of a reflog.
pub fn last(log: &Path) -> Option<Line> {
    let mut found = None;
    let read = base::tail::lines_backwards(log, |line| {
        found = Line::parse(line);
        std::ops::ControlFlow::Break(())
    });
    read.ok().and(found)
}

fn first_line(path: &Path) -> Option<String> {
    let text = atomic::read_text(path).ok()??;
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: usize) -> String {
        format!("{} {n:040x} A <a@b> 1795260970 +0000\tcommit: {n}\n", "0".repeat(40))
    }

    fn subjects(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(Line::subject).collect()
    }

    #[test]
    fn only_what_was_added_is_read_and_a_torn_line_waits() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("HEAD");
        fs::write(&log, line(1)).unwrap();
        let first = mark(&log).unwrap();
        fs::write(&log, format!("{}{}{}", line(1), line(2), &line(3)[..50])).unwrap();
        assert_eq!(subjects(&added(&log, Some(first)).unwrap().lines), ["2"]);
        assert_eq!(subjects(&added(&log, None).unwrap().lines), ["1", "2"]);
        let torn = added(&log, None).unwrap().mark;
        fs::write(&log, [line(1), line(2), line(3)].concat()).unwrap();
        assert_eq!(subjects(&added(&log, Some(torn)).unwrap().lines), ["3"]);
        fs::write(&log, [line(1), line(2)].concat()).unwrap();
        let other = Mark { inode: first.inode + 1, ..first };
        assert_eq!(subjects(&added(&log, Some(other)).unwrap().lines), ["1", "2"]);
        fs::write(&log, (0..20_000).map(line).collect::<String>()).unwrap();
        let most = added(&log, Some(first)).unwrap();
        assert!(most.cut && most.lines.len() < 20_000, "{}", most.lines.len());
        assert_eq!(most.lines.last().unwrap().subject(), "19999");
        assert_eq!(last(&log).unwrap().subject(), "19999");
    }

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
        assert_eq!(found.logs(), []);
    }
}
