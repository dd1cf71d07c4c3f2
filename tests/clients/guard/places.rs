//! Where the state is, and whose it is, in the real client.

use std::fs;
use std::path::{Path, PathBuf};

use super::{append, moves, percent, step};
use crate::support::mock::Reply;
use crate::support::world::World;

/// The jobs' notes below a state folder.
fn notes(state: &Path) -> Vec<PathBuf> {
    let all = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let projects: Vec<_> = all(&state.join("projects")).map(|entry| entry.path()).collect();
    let jobs = projects.iter().flat_map(|project| all(&project.join("jobs")));
    let notes = jobs.map(|job| job.path().join("compaction.md"));
    notes.filter(|path| path.is_file()).collect()
}

#[test]
fn another_folder_at_the_path_is_offered_the_jobs() {
    let state = tempfile::tempdir().expect("folder");
    let agent = moves(vec![
        step(|_| append("next", "write the lexer").tokens(percent(5.0))),
        step(|_| Reply::text("noted").tokens(percent(5.1))),
    ]);
    let path = state.path().to_str().expect("utf-8");
    let world = World::build().env("BRAIN_GUARD_STATE", path).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(2);
    tui.wait_idle();
    tui.quit();
    let before = notes(state.path());
    assert_eq!(before.len(), 1, "{before:?}");
    assert!(!world.state().join("brain-guard/projects").exists(), "the variable decides");
    let job = before[0].parent().and_then(Path::file_name).expect("a job").to_owned();

    let project = world.project();
    fs::rename(&project, project.with_file_name("moved")).expect("moved");
    fs::create_dir(&project).expect("another folder");
    let tui = world.tui(&[]);
    tui.wait_screen("the offer", |s| s.contains("another folder was here before"));
    tui.prompt(&format!("/brain-guard:job accept {}", job.to_str().expect("utf-8")));
    tui.wait_screen("the answer", |s| s.contains("accepted the job"));
    assert_eq!(notes(state.path()).len(), 1, "taken over, not copied");
    assert_eq!(fs::read_dir(&project).expect("folder").count(), 0, "nothing is written here");
}
