//! Who owns a job over time: moved projects, clones, pulls, other users, trusted folders.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::repository::attack::{Attack, Outcome};
use crate::repository::judge::{contexts, framed, judge, messages};
use crate::repository::play::Player;
use crate::repository::world::{FRAME, MARKER, World, enter, notes};
use crate::support::hook::percent_in;

/// The user's own job.
const MINE: &str = "my-job";
const NOTE: &str = "the parser drops the last token";
/// The owner of a project in a container with an outside mount.
const OTHER: u32 = 12_345;

pub fn all() -> Vec<Attack> {
    vec![
        Attack::story("own: a later session has its job", || kept(|_| {})),
        Attack::story("own: a project that was renamed", || kept(|w| moved(w, "src/renamed"))),
        Attack::story("own: a project that was moved with its folder", || {
            kept(|w| moved(w, "work/deep/project"))
        }),
        Attack::story("own: what the agent edits stays its own", edited),
        Attack::story("own: a folder that the user trusts", trusted),
        Attack::story("own: a second clone is the stranger's", cloned),
        Attack::story("own: a file that a pull replaced", || pulled(true)),
        Attack::story("own: a file that a pull wrote into", || pulled(false)),
        Attack::story("own: a job's folder that a checkout replaced", replaced),
        Attack::story("own: a file that a pull replaced in mid-session", compacted),
        Attack::story("own: a project of the container's user", container).for_root(),
    ]
}

/// A world in which a session left a job that the user owns.
fn worked() -> World {
    let mut world = World::new();
    world.about(MINE);
    let mut p = Player::new(&world);
    work(&mut p);
    p.event("SessionEnd", &json!({"reason": "exit"}));
    drop(p);
    world
}

fn work(p: &mut Player) {
    p.start("startup");
    p.hook.fill(5.0);
    p.read();
    p.prompt("Build the parser");
    assert!(p.verb(&format!("brain-guard append --kind next '{NOTE}'")), "{:?}", p.steps);
    assert!(p.verb(&format!("brain-guard job focus {MINE}")), "{:?}", p.steps);
    assert!(p.verb("brain-guard seal --no-clear"), "{:?}", p.steps);
}

/// A later session in which the user wants the job.
fn later(world: &World) -> Player<'_> {
    let mut p = Player::new(world);
    p.hook = world.hook.beside("5e550000-0000-4000-8000-000000000004", std::process::id());
    p.start("startup");
    p.hook.fill(5.0);
    p.read();
    p.prompt("Go on with my job");
    p.verb(&format!("brain-guard job focus {MINE}"));
    p
}

/// After this change to the user's own world, the job must still be the user's.
fn kept(happened: fn(&mut World)) -> Outcome {
    let mut world = worked();
    happened(&mut world);
    world.mark();
    let mut p = later(&world);
    let mut found = ownership_faults(&p);
    p.cleared(5);
    let whole = contexts(&p.steps).concat();
    if !whole.contains(NOTE) {
        found.push("LOST: the notes are not delivered".to_owned());
    }
    if whole.contains(FRAME) {
        found.push("LOST: the user's own notes come in the repository's frame".to_owned());
    }
    found.extend(judge(&world, &p.steps, true));
    Outcome::of(found)
}

/// Asserts that the session has the job, without asking anybody.
fn ownership_faults(p: &Player) -> Vec<String> {
    let mut found = Vec::new();
    if p.job().as_deref() != Some(MINE) {
        found.push("LOST: the user's own job can't be focused".to_owned());
    }
    if messages(&p.steps).iter().any(|text| text.contains("job accept")) {
        found.push("LOST: the user is asked about a job of their own".to_owned());
    }
    found
}

fn moved(world: &mut World, place: &str) {
    let from = world.hook.project.clone();
    enter(&mut world.hook, place);
    fs::rename(from, &world.hook.project).expect("moved");
}

/// Edits through the client's tool, seen by the hooks.
fn edited() -> Outcome {
    let world = worked();
    let mut p = later(&world);
    let file = world.at(&format!(".brain-guard/jobs/{MINE}/compaction.md"));
    let input = json!({"file_path": file, "old_string": NOTE, "new_string": "the parser is done"});
    let verdict = p.asked("Edit", &input).verdict();
    let text = fs::read_to_string(&file).expect("the file");
    fs::write(&file, text.replace(NOTE, "the parser is done")).expect("edited");
    let response = json!({"filePath": file});
    p.event(
        "PostToolUse",
        &json!({"tool_name": "Edit", "tool_use_id": "toolu_1", "tool_input": input,
            "tool_response": response}),
    );
    p.cleared(5);
    let whole = contexts(&p.steps).concat();
    let mut found = Vec::new();
    if verdict == "deny" || !whole.contains("the parser is done") || whole.contains(FRAME) {
        found.push(format!("LOST: the edit is answered {verdict}; delivered: {whole}"));
    }
    Outcome::of(found)
}

fn trusted() -> Outcome {
    let mut world = World::new();
    world.about(MINE);
    world.found_job();
    let glob = format!("{}/src/**", world.hook.home.display());
    let exact = world.hook.project.display().to_string();
    world.hook.settings(&json!({"trust": {"projects": [glob, exact]}}));
    world.mark();
    let mut p = later(&world);
    let mut found = ownership_faults(&p);
    p.cleared(5);
    if !contexts(&p.steps).concat().contains(MARKER) {
        found.push("LOST: the notes are not delivered".to_owned());
    }
    Outcome::of(found)
}

fn cloned() -> Outcome {
    let mut world = worked();
    let from = world.hook.project.clone();
    // Committed with the rest, and cloned by somebody else.
    world.file(&format!(".brain-guard/jobs/{MINE}/compaction.md"), &notes(MINE, MARKER));
    fs::create_dir_all(world.hook.home.join("clones")).expect("folder");
    let to = world.hook.home.join("clones/project");
    copy(&from, &to);
    enter(&mut world.hook, "clones/project");
    world.mark();
    let p = later(&world);
    let mut found = judge(&world, &p.steps, false);
    if p.job().as_deref() == Some(MINE) {
        found.push("VOICE: the clone's job is taken for the user's own".to_owned());
    }
    let asks = |text: &String| text.contains(&format!("/brain-guard:job accept {MINE}"));
    if !messages(&p.steps).iter().any(asks) {
        found.push("UNTOLD: the user is not asked".to_owned());
    }
    Outcome::of(found)
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("cp");
    assert!(copied.success());
}

/// Git replaces a file or writes into it, without notice either way.
fn pulled(by_another: bool) -> Outcome {
    let mut world = worked();
    pull(&world, by_another);
    world.mark();
    let mut p = later(&world);
    p.cleared(5);
    delivered(&world, &p)
}

fn pull(world: &World, by_another: bool) {
    let file = world.at(&format!(".brain-guard/jobs/{MINE}/compaction.md"));
    if by_another {
        fs::remove_file(&file).expect("removed");
    }
    fs::write(&file, notes(MINE, MARKER)).expect("pulled");
}

/// The stranger's notes arrive, with their source named.
fn delivered(world: &World, p: &Player) -> Outcome {
    let texts = contexts(&p.steps);
    let mut found = framed(&texts);
    if !texts.concat().contains(MARKER) {
        found.push("LOST: what was pulled is not delivered".to_owned());
    }
    found.extend(judge(world, &p.steps, true));
    Outcome::of(found)
}

fn replaced() -> Outcome {
    let mut world = worked();
    let folder = world.at(&format!(".brain-guard/jobs/{MINE}"));
    fs::remove_dir_all(&folder).expect("removed");
    world.found_job();
    world.mark();
    let mut p = later(&world);
    p.cleared(5);
    // Asked for or not, nothing may pass for the user's own words.
    let mut found = framed(&contexts(&p.steps));
    found.extend(judge(&world, &p.steps, true));
    Outcome::of(found)
}

fn compacted() -> Outcome {
    let mut world = World::new();
    world.about(MINE);
    let mut p = Player::new(&world);
    work(&mut p);
    let hook = p.hook;
    pull(&world, true);
    world.mark();
    let mut p = Player::new(&world);
    p.hook = hook;
    p.start("compact");
    delivered(&world, &p)
}

fn container() -> Outcome {
    let mut world = World::new();
    world.about(MINE);
    world.found_job();
    let mut all = Command::new("chown");
    all.args(["-R", &OTHER.to_string()]).arg(&world.hook.project);
    assert!(all.status().expect("chown").success());
    chown(&world.hook.project, Some(OTHER), Some(OTHER)).expect("owner");
    world.mark();
    let mut p = Player::new(&world);
    p.start("startup");
    p.typed("job", &format!("accept {MINE}"));
    let mut p = Player { steps: p.steps, ..later(&world) };
    let mut found = Vec::new();
    if p.job().as_deref() != Some(MINE) {
        found.push("LOST: the job of a container can't be focused".to_owned());
    }
    let (written, verdict) =
        (p.verb("brain-guard append --kind risk 'x'"), p.filled(percent_in("narrow")));
    if !written || verdict != "deny" {
        found.push(format!("LOST: append succeeds: {written}; at 31 %: {verdict}"));
    }
    found.extend(judge(&world, &p.steps, true));
    Outcome::of(found)
}
