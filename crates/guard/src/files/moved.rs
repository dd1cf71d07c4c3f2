//! A project's jobs follow its folder to another path. The jobs of another folder that had the
//! project's path before are offered, and taken only if the user says so.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{jobs, neighbours};
use base::paths::{Identity, Known, Places};

/// Takes the state of this folder along if it is known under another path, which leads elsewhere
/// now. Returns that path.
///
/// # Errors
/// What the system says.
pub fn take_along(places: &Places) -> io::Result<Option<PathBuf>> {
    if Known::load(&places.state).is_some() {
        return Ok(None);
    }
    let Some(here) = Identity::of(&places.project) else { return Ok(None) };
    let was_here = |state: &PathBuf| {
        let known = Known::load(state).filter(|known| known.folder.is_same(here))?;
        let still = Identity::of(&known.path).is_some_and(|there| there.is_same(here));
        let moved = !still && !neighbours::is_open(&places.for_state(state));
        moved.then(|| (state.clone(), known.path))
    };
    let Some((state, path)) = places.all_states().iter().find_map(was_here) else {
        return Ok(None);
    };
    if places.state.exists() {
        // A verb made it in the meantime; nothing of the jobs may be lost.
        base::atomic::create_private_dir(&places.jobs())?;
        for job in jobs::all(&places.for_state(&state)) {
            move_job(&state.join("jobs").join(&job), &places.job(&job))?;
        }
    } else {
        fs::rename(&state, &places.state)?;
    }
    Known::record(&places.state, &places.project)?;
    Ok(Some(path))
}

/// The states of other folders that had this project's path before.
fn states_left(places: &Places) -> Vec<PathBuf> {
    let left = |state: &PathBuf| {
        *state != places.state
            && Known::load(state).is_some_and(|known| known.path == places.project)
    };
    places.all_states().into_iter().filter(left).collect()
}

/// The jobs of another folder that had this project's path before.
pub fn left_jobs(places: &Places) -> Vec<String> {
    let mut all: Vec<String> = states_left(places)
        .iter()
        .flat_map(|state| jobs::all(&places.for_state(state)))
        .filter(|job| !jobs::exists(places, job))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Takes over a job of another folder that had this project's path before. `false` if there is
/// none.
///
/// # Errors
/// What the system says; a job that another session works on.
pub fn accept(places: &Places, job: &str) -> io::Result<bool> {
    for state in states_left(places) {
        let there = places.for_state(&state);
        if !jobs::exists(&there, job) || jobs::exists(places, job) {
            continue;
        }
        if jobs::holder(&there, job).is_some() {
            let why = format!("another session works on the job {job}");
            return Err(io::Error::new(io::ErrorKind::WouldBlock, why));
        }
        places.ensure_state()?;
        move_job(&there.job(job), &places.job(job))?;
        return Ok(true);
    }
    Ok(false)
}

fn move_job(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        return Ok(());
    }
    fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    fn job(places: &Places, name: &str) {
        places.ensure_state().unwrap();
        places.ensure_job(name).unwrap();
        fs::write(places.compaction(name), "notes").unwrap();
    }

    #[test]
    fn jobs_follow_their_folder_and_another_ones_are_offered() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let (app, moved) = (dir.path().join("app"), dir.path().join("moved"));
        let places = |path: &Path| Places::for_project(&env, path).unwrap();
        fs::create_dir(&app).unwrap();
        job(&places(&app), "parser");
        assert_eq!(take_along(&places(&app)).unwrap(), None, "it is here");
        fs::rename(&app, &moved).unwrap();
        assert_eq!(take_along(&places(&moved)).unwrap(), Some(app.clone()));
        assert_eq!(jobs::all(&places(&moved)), ["parser"]);
        fs::create_dir(&app).unwrap();
        job(&places(&app), "docs");
        fs::remove_dir(&app).unwrap();
        // So that the new folder is another one where inodes are used again.
        fs::create_dir(dir.path().join("between")).unwrap();
        fs::create_dir(&app).unwrap();
        assert_eq!(jobs::all(&places(&app)), Vec::<String>::new());
        assert_eq!(left_jobs(&places(&app)), ["docs"]);
        assert!(accept(&places(&app), "docs").unwrap());
        assert_eq!(
            (jobs::all(&places(&app)), left_jobs(&places(&app))),
            (vec!["docs".into()], vec![])
        );
        assert!(!accept(&places(&app), "docs").unwrap());
    }
}
