//! Inscription killed as it enters each kind of call that writes: the next one must end where
//! an undisturbed one does.

use std::fs;

use crate::End;
use crate::disk::Tree;
use crate::made;
use crate::packs;
use crate::scene::Scene;
use crate::trace::{Run, ends, strace};

/// Prepares a home; returns what is run, and the session that must be there at the end.
pub type Prepare = fn(&Scene) -> (Vec<&'static str>, u64);

/// Kills it again and again.
pub fn run(prepare: Prepare) -> End {
    let strace = match strace() {
        Ok(strace) => strace,
        Err(why) => return End::Left(why),
    };
    let scene = Scene::new();
    let (args, number) = prepare(&scene);
    let old = Tree::read(scene.path());
    let run = Run::of(&scene.command(&args), b"");
    let log = tempfile::NamedTempFile::new().expect("a log");
    let (answer, points, _) = run.watched(&strace, scene.path(), log.path());
    if answer.code != Some(0) {
        return End::Failed(format!("undisturbed: {answer:?}"));
    }
    if let Err(why) = scene.judge(number..number + 1) {
        return End::Failed(format!("undisturbed: {why}"));
    }
    let points = ends(points);
    if points.len() < 5 {
        return End::Failed(format!("it writes hardly anything: {points:?}"));
    }
    let mut faults = Vec::new();
    let mut reached = 0;
    for point in &points {
        old.put(scene.path());
        // How often a database is written depends on what was cached.
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
    if faults.is_empty() { End::Passed } else { End::Failed(faults.join("\n  ")) }
}

fn put(scene: &Scene, text: &[u8]) {
    let path = made::file(&scene.files(), 5);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

fn inscribed(scene: &Scene) {
    let answer = scene.run(&["import", "--all"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

/// Nothing is in the store.
pub fn first(scene: &Scene) -> (Vec<&'static str>, u64) {
    put(scene, &made::text(5));
    (vec!["import", "--all"], 5)
}

/// A part of the session is.
pub fn appended(scene: &Scene) -> (Vec<&'static str>, u64) {
    let text = made::text(5);
    put(scene, &text[..text.len() / 3]);
    inscribed(scene);
    put(scene, &text);
    (vec!["import", "--all"], 5)
}

/// Something else is.
pub fn anew(scene: &Scene) -> (Vec<&'static str>, u64) {
    put(scene, &made::text(6));
    inscribed(scene);
    put(scene, &made::text(5));
    (vec!["import", "--all"], 5)
}

/// An edition is to be removed.
pub fn gc(scene: &Scene) -> (Vec<&'static str>, u64) {
    anew(scene);
    inscribed(scene);
    (vec!["store", "gc"], 5)
}

/// An earlier build wrote a part of the session.
pub fn old(scene: &Scene) -> (Vec<&'static str>, u64) {
    let text = made::text(5);
    put(scene, &text[..text.len() / 3]);
    inscribed(scene);
    let folder = scene.store().folder("claude", &made::id(5));
    packs::from(&folder.path);
    put(scene, &text);
    (vec!["import", "--all"], 5)
}

/// What it wrote is copied and goes.
pub fn dropped(scene: &Scene) -> (Vec<&'static str>, u64) {
    put(scene, &made::text(5));
    inscribed(scene);
    packs::from(&scene.store().folder("claude", &made::id(5)).path);
    (vec!["store", "drop-old"], 5)
}
