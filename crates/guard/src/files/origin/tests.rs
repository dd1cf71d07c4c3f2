use crate::files::jobs;
use std::fs;

use super::*;
use base::env::Env;

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("app")).unwrap();
        Self { dir }
    }

    fn places(&self, project: &str) -> Places {
        let env = Env::from_pairs([("HOME", self.dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, &self.dir.path().join(project)).unwrap();
        places.ensure_state().unwrap();
        places
    }
}

/// Writes a job's file like a checkout or an editor.
fn lay(places: &Places, job: &str, text: &str) {
    fs::create_dir_all(places.top().join("jobs").join(job)).unwrap();
    fs::write(places.compaction(job), text).unwrap();
}

#[test]
fn a_job_of_the_checkout_has_no_effect_until_it_is_accepted() {
    let world = World::new();
    let places = world.places("app");
    lay(&places, "theirs", "notes");
    record_created(&places, "mine").unwrap();
    lay(&places, "mine", "notes");
    after_write(&places, "mine").unwrap();
    assert_eq!((origin(&places, "theirs"), origin(&places, "mine")), (Origin::Found, Origin::Own));
    assert_eq!((jobs::all(&places), found(&places)), (vec!["mine".into()], vec!["theirs".into()]));
    accept(&places, "theirs").unwrap();
    assert_eq!(origin(&places, "theirs"), Origin::Accepted);
    assert!(found(&places).is_empty());
    let trusted = Places { trusted: true, ..world.places("app") };
    lay(&places, "more", "notes");
    assert_eq!(origin(&trusted, "more"), Origin::Accepted);
}

#[test]
fn what_something_else_wrote_stays_known_until_the_user_accepts_it() {
    let world = World::new();
    let places = world.places("app");
    record_created(&places, "j").unwrap();
    jobs::lock(&places, "j").unwrap();
    jobs::write_live(&places, "j", "one").unwrap();
    assert!(!check_changed(&places, "j").unwrap());
    lay(&places, "j", "by a pull");
    jobs::write_live(&places, "j", "by a pull, and two").unwrap();
    assert_eq!(origin(&places, "j"), Origin::Changed);
    assert!(!check_changed(&places, "j").unwrap(), "it is known");
    accept(&places, "j").unwrap();
    assert_eq!(origin(&places, "j"), Origin::Own);
    fs::write(places.job("j").join("job.json"), r#"{"coaching":{"*":"do it"}}"#).unwrap();
    assert!(check_changed(&places, "j").unwrap(), "coaching is told to the agent");
}

#[test]
fn the_users_words_are_those_that_the_state_has() {
    let world = World::new();
    let places = world.places("app");
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    let prompt = |text: &str| Prompt { at, session: "s".into(), text: text.into() };
    record_created(&places, "j").unwrap();
    for text in ["one", "two", "three"] {
        record_prompt(&places, "j", &prompt(text)).unwrap();
    }
    assert_eq!(prompts(&places, "j"), Some((prompt("one"), prompt("three"))));
    record_prompt(&places, "unknown", &prompt("x")).unwrap();
    assert_eq!(prompts(&places, "unknown"), None);
    rename(&places, "j", "named").unwrap();
    assert_eq!((origin(&places, "named"), load(&places, "j")), (Origin::Own, None));
}

#[test]
fn a_moved_project_keeps_its_jobs_and_a_copy_has_none() {
    let world = World::new();
    let places = world.places("app");
    record_created(&places, "j").unwrap();
    lay(&places, "j", "notes");
    after_write(&places, "j").unwrap();
    let copied = world.dir.path().join("copy");
    let done =
        std::process::Command::new("cp").arg("-r").arg(&places.project).arg(&copied).status();
    assert!(done.unwrap().success());
    assert_eq!(origin(&world.places("copy"), "j"), Origin::Found);
    fs::rename(&places.project, world.dir.path().join("moved")).unwrap();
    // Some file systems do not report creation times. There the user is asked.
    let tells = fs::metadata(world.dir.path()).unwrap().created().is_ok();
    let wanted = if tells { Origin::Own } else { Origin::Found };
    assert_eq!(origin(&world.places("moved"), "j"), wanted);
}

#[test]
fn a_second_working_tree_knows_the_first_ones_jobs() {
    let world = World::new();
    let places = world.places("app");
    let git = places.project.join(".git");
    fs::create_dir_all(git.join("worktrees/wt")).unwrap();
    for (file, text) in [("HEAD", "ref: x"), ("worktrees/wt/HEAD", "ref: y")] {
        fs::write(git.join(file), text).unwrap();
    }
    fs::write(git.join("worktrees/wt/commondir"), "../..\n").unwrap();
    let tree = world.dir.path().join("wt");
    fs::create_dir(&tree).unwrap();
    fs::write(git.join("worktrees/wt/gitdir"), format!("{}\n", tree.join(".git").display()))
        .unwrap();
    fs::write(tree.join(".git"), format!("gitdir: {}\n", git.join("worktrees/wt").display()))
        .unwrap();
    record_created(&places, "j").unwrap();
    lay(&places, "j", "notes");
    after_write(&places, "j").unwrap();
    let second = world.places("wt");
    lay(&second, "j", "other notes");
    lay(&second, "k", "notes");
    assert_eq!(origin(&second, "j"), Origin::Found, "not looked for yet");
    recognize(&second, &found(&second));
    check_changed(&second, "j").unwrap();
    if fs::metadata(&git).unwrap().created().is_ok() {
        assert_eq!(origin(&second, "j"), Origin::Changed, "the branch has other notes");
    }
    assert_eq!(origin(&second, "k"), Origin::Found);
}
