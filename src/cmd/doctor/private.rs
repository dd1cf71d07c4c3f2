//! Checks who else may read the guard's data: its state, and the jobs with the user's prompts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::mend::{Mend, OTHERS};
use super::{FIX, Finding, World};
use base::paths::Places;
use base::shown::count_with_noun;

/// Maximum entries to check; a longer list does not help.
const AT_MOST: usize = 20_000;

/// The state, then the jobs.
pub fn look(world: &World) -> Vec<Finding> {
    check_places(&world.places)
}

fn check_places(places: &Places) -> Vec<Finding> {
    // All projects share the folder above. Its mode keeps everybody else out.
    let root = places.state.parent().unwrap_or(&places.state);
    let mut open = Vec::new();
    if is_open(root) {
        open.push(root.to_path_buf());
    }
    collect_open(&places.state, &mut open);
    let jobs = places.project.join(".brain-guard/jobs");
    vec![state(&places.state, open), check_jobs_folder(&jobs)]
}

fn state(folder: &Path, open: Vec<PathBuf>) -> Finding {
    let Some(first) = open.first() else {
        return Finding::ok("private", format!("{} is yours alone", folder.display()));
    };
    let seen = format!(
        "others may get at the state: {} {} not yours alone, first {}",
        count_with_noun(open.len(), "file or folder", "files and folders"),
        if open.len() == 1 { "is" } else { "are" },
        first.display()
    );
    Finding::problem("private", seen, FIX).mended_by(Mend::Private(open))
}

/// One private folder is enough: it protects everything below it.
fn check_jobs_folder(jobs: &Path) -> Finding {
    let shown = jobs.display();
    if !jobs.is_dir() {
        return Finding::ok("private", "no job has a file in this project yet");
    }
    if is_open(jobs) {
        let seen = format!("{shown} is not yours alone, and your prompts lie in there");
        return Finding::note("private", seen, FIX)
            .mended_by(Mend::Private(vec![jobs.to_path_buf()]));
    }
    Finding::ok("private", format!("{shown} is yours alone"))
}

fn is_open(path: &Path) -> bool {
    let meta = fs::symlink_metadata(path);
    meta.is_ok_and(|meta| !meta.is_symlink() && meta.permissions().mode() & OTHERS != 0)
}

fn collect_open(folder: &Path, open: &mut Vec<PathBuf>) {
    let mut folders = vec![folder.to_path_buf()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        if is_open(&folder) {
            open.push(folder.clone());
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > AT_MOST {
                return;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() && is_open(&entry.path()) => open.push(entry.path()),
                _ => {}
            }
        }
    }
}
