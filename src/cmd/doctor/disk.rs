//! Checks the disk: free space at the state folder, the size of the state, and old sessions.

use std::fs;
use std::path::Path;

use rustix::fs::statvfs;

use super::mend::Mend;
use super::{FIX, Finding, World};
use base::shown::count_with_noun;
use guard::files::prune;

const MB: u64 = 1_000_000;

/// Below this an atomic write of a session's state or of a saved output may fail.
const TIGHT: u64 = 20 * MB;

/// Below this the user should know.
const SCARCE: u64 = 500 * MB;

/// A larger state has not been cleaned up.
const LARGE: u64 = 1000 * MB;

/// Maximum entries to count; beyond it the size is a lower bound.
const AT_MOST: usize = 100_000;

/// Free space, sizes, old sessions.
pub fn look(world: &World) -> Vec<Finding> {
    let state = &world.places.state;
    let there = state.ancestors().find(|dir| dir.exists()).unwrap_or(state);
    let free = statvfs(there).map(|fs| fs.f_bavail.saturating_mul(fs.f_frsize));
    let free = match free {
        Ok(free) => space(there, free),
        Err(e) => Finding::note("disk", format!("{}: {e}", there.display()), "look with `df`"),
    };
    let all = state.parent().unwrap_or(state);
    vec![free, sizes(all, size(all), size(&state.join("outputs"))), old(world)]
}

fn space(there: &Path, free: u64) -> Finding {
    let shown = there.display();
    let seen = format!("{} MB free at {shown}", free / MB);
    let way = format!("free some space there: `df -h {shown}`, `du -sh {shown}`");
    if free < TIGHT {
        let seen = format!("{seen}: the guard can't keep its state, so nothing is blocked");
        Finding::problem("disk", seen, way)
    } else if free < SCARCE {
        Finding::note("disk", seen, way)
    } else {
        Finding::ok("disk", seen)
    }
}

fn sizes(all: &Path, bytes: u64, outputs: u64) -> Finding {
    let seen = format!(
        "the state of all projects takes {} MB, saved outputs of this one {} MB",
        bytes.div_ceil(MB),
        outputs.div_ceil(MB)
    );
    if bytes < LARGE {
        return Finding::ok("size", seen);
    }
    let way = format!(
        "look with `du -sh {}/*`; outputs/ holds copies of what was cut short and may go",
        all.display()
    );
    Finding::note("size", seen, way)
}

fn size(folder: &Path) -> u64 {
    let mut folders = vec![folder.to_path_buf()];
    let (mut bytes, mut seen) = (0, 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > AT_MOST {
                return bytes;
            }
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) => bytes += meta.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}

fn old(world: &World) -> Finding {
    let old = prune::find_old(&world.places, world.now, usize::MAX);
    if old.is_empty() {
        return Finding::ok("sessions", "none is kept that ended over 30 days ago");
    }
    let seen = format!(
        "kept of what is over: {} that ended over 30 days ago, {}, {}",
        count_with_noun(old.sessions.len(), "session", "sessions"),
        count_with_noun(old.boundaries.len(), "boundary", "boundaries"),
        count_with_noun(old.left.len(), "leftover", "leftovers"),
    );
    Finding::note("sessions", seen, FIX).mended_by(Mend::Prune)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::doctor::Level;

    #[test]
    fn a_tight_disk_is_a_problem_and_a_large_state_a_note() {
        let here = Path::new("/x");
        let level = |free| space(here, free).level;
        assert_eq!([TIGHT - 1, TIGHT, SCARCE].map(level), [Level::Problem, Level::Note, Level::Ok]);
        assert_eq!(sizes(here, LARGE, 0).level, Level::Note);
        assert!(sizes(here, 1, 1).seen.contains("takes 1 MB"));
    }

    #[test]
    fn a_folder_is_as_big_as_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/b"), "12345").unwrap();
        fs::write(dir.path().join("c"), "123").unwrap();
        assert_eq!(size(dir.path()), 8);
        assert_eq!(size(&dir.path().join("none")), 0);
    }
}
