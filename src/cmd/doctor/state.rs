//! Checks the state folder and the settings, who else may read the guard's data, and what clients
//! that are gone left in it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use rustix::fs::{Access, access, statvfs};

use super::{FIX, Finding, World};
use base::paths::Places;
use base::shown::count_with_noun;
use guard::boundary::{CLIENT_ENDED, Token};
use guard::files::{boundary, state};
use guard::settings::layers::{Diagnostic, MAX_REPORTED};

const MB: u64 = 1_000_000;

/// Below this an atomic write of a session's state or of a saved output may fail.
const TIGHT: u64 = 20 * MB;

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

pub fn folder(world: &World) -> Vec<Finding> {
    let folder = &world.places.state;
    let there = folder.ancestors().find(|dir| dir.exists()).unwrap_or(folder);
    let (shown, near) = (folder.display(), there.display());
    if let Err(e) = access(there, Access::WRITE_OK | Access::EXEC_OK) {
        let seen = format!(
            "{shown} can't be written ({e}), so nothing is blocked and no session is continued"
        );
        return vec![Finding::problem(seen, format!("make {near} yours and writable"))];
    }
    let free = statvfs(there).map_or(u64::MAX, |fs| fs.f_bavail.saturating_mul(fs.f_frsize));
    if free < TIGHT {
        let seen = format!(
            "{} MB free at {near}: the guard can't keep its state, so nothing is blocked",
            free / MB
        );
        let way = format!("free some space there: `df -h {near}`, `du -sh {near}`");
        return vec![Finding::problem(seen, way)];
    }
    vec![Finding::ok(format!("{shown} can be written"))]
}

pub fn settings(world: &World) -> Vec<Finding> {
    if world.diagnostics.is_empty() {
        return vec![Finding::ok("every key is known")];
    }
    let problem = |d: &Diagnostic| Finding::problem(&d.message, &d.way_out);
    let more = world.diagnostics.len().saturating_sub(MAX_REPORTED);
    let more = (more > 0).then(|| Diagnostic::more(more));
    world.diagnostics.iter().take(MAX_REPORTED).chain(&more).map(problem).collect()
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
    let entries = fs::read_dir(places.state.join("boundary")).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let tokens = paths.filter(|path| path.extension().is_some_and(|e| e == "json"));
    let tokens = tokens.filter_map(|path| {
        boundary::load(places, path.file_stem()?.to_str()?).ok().flatten().filter(Token::live)
    });
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
        first.since.format("%Y-%m-%d %H:%M UTC")
    );
    vec![Finding::problem(seen, FIX)]
}

pub fn end_boundaries(world: &World) -> anyhow::Result<String> {
    let (stale, _) = stale_boundaries(&world.places);
    for Token { id, .. } in &stale {
        boundary::update(&world.places, id, |t| t.abandon(CLIENT_ENDED, world.now))
            .with_context(|| format!("could not end the boundary {id}"))?;
    }
    Ok(format!("ended: {}", count_with_noun(stale.len(), "boundary", "boundaries")))
}
