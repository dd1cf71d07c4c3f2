//! What the state holds about a job (copies of sealed versions, boundary times, commits), and how
//! it follows a new name.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{commits, jobs, origin};
use base::paths::Places;
use base::{atomic, beneath};

/// Moves the state of a default job to its new name. On an error, everything that can be moved is
/// still moved.
pub fn rename(places: &Places, old: &str, job: &str) -> io::Result<()> {
    let state = |folder: &str, name: String| places.state.join(folder).join(name);
    let moved = [
        follow(
            &state("boundary", format!("{old}.times")),
            &state("boundary", format!("{job}.times")),
        ),
        commits::rename(places, old, job),
        origin::rename(places, old, job),
        follow(&state("sealed", old.to_owned()), &state("sealed", job.to_owned())),
    ];
    let sealed = beneath::is_dir(&places.job(job).join("sealed"));
    let mirrored = if sealed { jobs::mirror(places, job) } else { Ok(()) };
    moved.into_iter().chain([mirrored]).collect()
}

/// Moves `from` to `to`, merging folders and appending files. It overwrites nothing.
fn follow(from: &Path, to: &Path) -> io::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    if !to.exists() {
        return fs::rename(from, to);
    }
    if !from.is_dir() {
        // Both contain lines.
        atomic::append(to, &atomic::read(from)?.unwrap_or_default())?;
        return atomic::remove(from);
    }
    for entry in fs::read_dir(from)?.flatten() {
        let there: PathBuf = to.join(entry.file_name());
        if !there.exists() {
            fs::rename(entry.path(), there)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    #[test]
    fn everything_follows_and_nothing_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        let old = "app-20260101-1";
        let put = |path: &str, text: &str| {
            let path = places.state.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let text = |path: &str| fs::read_to_string(places.state.join(path)).ok();
        put(&format!("sealed/{old}/v0001.md"), "one");
        put("sealed/named/v0001.md", "already there");
        put(&format!("boundary/{old}.times"), "b\n");
        put("boundary/named.times", "a\n");
        rename(&places, old, "named").unwrap();
        assert_eq!(text("sealed/named/v0001.md").as_deref(), Some("already there"));
        assert_eq!(text("boundary/named.times").as_deref(), Some("a\nb\n"));
    }
}
