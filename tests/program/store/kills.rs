//! Kills an import at each kind of writing call; the next one must end like an undisturbed one.

use std::fs;

use crate::store::Played;
use crate::store::made;
use crate::store::scene::Scene;
use crate::support::disk::Tree;
use crate::support::trace::{Run, ends, strace};

/// Prepares a home; returns the command to run, and the number of the expected session.
pub type Prepare = fn(&Scene) -> (Vec<&'static str>, u64);

/// Kills the command at each point.
pub fn run(prepare: Prepare) -> Played {
    let strace = strace()?;
    let scene = Scene::new();
    let (args, number) = prepare(&scene);
    let old = Tree::read(scene.path());
    let run = Run::of(&scene.command(&args), b"");
    let log = tempfile::NamedTempFile::new().expect("a log");
    let (answer, points, _) = run.watched(&strace, scene.path(), log.path());
    if answer.code != Some(0) {
        return Err(format!("undisturbed: {answer:?}"));
    }
    if let Err(why) = scene.judge(number..number + 1) {
        return Err(format!("undisturbed: {why}"));
    }
    let points = ends(points);
    if points.len() < 5 {
        return Err(format!("it writes hardly anything: {points:?}"));
    }
    let mut faults = Vec::new();
    let mut reached = 0;
    for point in &points {
        old.put(scene.path());
        // The number of database writes depends on caches.
        if !run.killed(&strace, point) {
            continue;
        }
        reached += 1;
        if let Err(why) = scene.judge(number..number + 1) {
            faults.push(format!(
                "killed at {} {}: {}\n    {why}",
                point.call, point.number, point.line
            ));
        }
    }
    if 2 * reached < points.len() {
        faults.push(format!("of {} kills {reached} came to pass", points.len()));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

fn put(scene: &Scene, text: &[u8]) {
    let path = made::file(&scene.files(), 5);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

fn imported(scene: &Scene) {
    let answer = scene.run(&["import", "--all"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

/// The store is empty.
pub fn first(scene: &Scene) -> (Vec<&'static str>, u64) {
    put(scene, &made::text(5));
    (vec!["import", "--all"], 5)
}

/// The store has a part of the session.
pub fn appended(scene: &Scene) -> (Vec<&'static str>, u64) {
    let text = made::text(5);
    put(scene, &text[..text.len() / 3]);
    imported(scene);
    put(scene, &text);
    (vec!["import", "--all"], 5)
}

/// The store has another version.
pub fn anew(scene: &Scene) -> (Vec<&'static str>, u64) {
    put(scene, &made::text(6));
    imported(scene);
    put(scene, &made::text(5));
    (vec!["import", "--all"], 5)
}
