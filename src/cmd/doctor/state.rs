//! Checks the state folder and the settings, who else may read the guard's data, and what clients
//! that are gone left in it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;

use super::{FIX, Finding, World};
use base::paths::Places;
use base::shown::{count_with_noun, local_minute};
use guard::boundary::{EndReason, Step, Token};
use guard::files::{boundary, state};
use guard::settings::file::Fault;

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// Whether the state can be written.
pub fn folder(places: &Places) -> Vec<Finding> {
    let Some(obstacle) = state::obstacle(places) else {
        return vec![Finding::ok(format!("{} can be written", places.state.display()))];
    };
    let near = obstacle.near.display();
    let way = if obstacle.is_full {
        format!("free some space there: `df -h {near}`, `du -sh {near}`")
    } else {
        format!("make {near} yours and writable")
    };
    let seen = format!("{}, so nothing is blocked and no session is continued", obstacle.why);
    vec![Finding::problem(seen, way)]
}

pub fn settings(world: &World) -> Vec<Finding> {
    if world.faults.is_empty() {
        return vec![Finding::ok("the settings files can be read")];
    }
    let told = |fault: &Fault| {
        let seen = format!("{fault}; the file has no effect");
        Finding::problem(seen, &fault.way_out)
    };
    world.faults.iter().map(told).collect()
}

/// The folder of all projects' states. That it is private protects everything below it.
fn states(places: &Places) -> &Path {
    &places.states
}

fn mode(folder: &Path) -> io::Result<u32> {
    Ok(fs::metadata(folder)?.permissions().mode() & 0o777)
}

pub fn private(world: &World) -> Vec<Finding> {
    let folder = states(&world.places);
    let shown = folder.display();
    vec![if mode(folder).is_ok_and(|mode| mode & OTHERS != 0) {
        Finding::problem(format!("others may get at the state: {shown} is not yours alone"), FIX)
    } else {
        Finding::ok(format!("{shown} is yours alone"))
    }]
}

pub fn make_private(world: &World) -> anyhow::Result<String> {
    let folder = states(&world.places);
    mode(folder)
        .and_then(|mode| fs::set_permissions(folder, fs::Permissions::from_mode(mode & !OTHERS)))
        .with_context(|| format!("could not change {}", folder.display()))?;
    Ok(format!("made private: {}", folder.display()))
}

/// Boundaries that never ended and whose client is gone, and how many others are under way.
fn stale_boundaries(places: &Places) -> (Vec<Token>, usize) {
    let tokens = boundary::all(places).into_iter();
    // Before the clear, a client that resumes the session goes on with it.
    let tokens = tokens.filter(|token| token.live() && token.step > Step::Pending);
    let lives = |token: &Token| token.client.is_some_and(|c| state::lives(places, c));
    let (under_way, stale): (Vec<Token>, Vec<Token>) = tokens.partition(lives);
    (stale, under_way.len())
}

pub fn boundaries(world: &World) -> Vec<Finding> {
    let (stale, under_way) = stale_boundaries(&world.places);
    let Some(first) = stale.first() else {
        let seen = count_with_noun(under_way, "boundary is", "boundaries are");
        return vec![Finding::ok(format!("{seen} under way, none was left"))];
    };
    let seen = format!(
        "{} whose client is gone never ended; first that of job {} ({} since {})",
        count_with_noun(stale.len(), "boundary", "boundaries"),
        first.job,
        format!("{:?}", first.step).to_lowercase(),
        local_minute(Some(first.since))
    );
    vec![Finding::problem(seen, FIX)]
}

pub fn end_boundaries(world: &World) -> anyhow::Result<String> {
    let (stale, _) = stale_boundaries(&world.places);
    for Token { id, .. } in &stale {
        boundary::update(&world.places, id, |t| t.abandon(EndReason::ClientEnded, world.now))
            .with_context(|| format!("could not end the boundary {id}"))?;
    }
    Ok(format!("ended: {}", count_with_noun(stale.len(), "boundary", "boundaries")))
}
