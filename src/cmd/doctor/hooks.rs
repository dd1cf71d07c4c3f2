//! Checks whether hooks fire and the module works, by what they leave behind: the sessions' state,
//! compared with the client's own transcripts.

use base::shown::age;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Finding, World};
use base::env;
use base::new_file;
use guard::boundary::CarrierChoice;
use guard::files::state;
use guard::settings::{Headless, Mode};

/// Older transcripts prove nothing about today.
const LATELY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A client with no module, or one that refuses ours, still has the hooks.
const CLASSIC: &str = "boundaries go through the terminal";

pub fn fired(world: &World) -> Vec<Finding> {
    vec![when_fired(world)]
}

fn when_fired(world: &World) -> Finding {
    if world.settings.mode == Mode::Off {
        let seen = "mode is off in the settings: the hooks run and do nothing";
        return Finding::note(seen, "set mode to \"on\"");
    }
    let here = last_write(&world.places.state.join("sessions"));
    if let Some((path, at)) = unhooked_transcript(world, here) {
        let seen = format!(
            "a session wrote {} {}, and no hook of it has run",
            path.display(),
            ago(world, at)
        );
        if world.settings.headless == Headless::Off {
            return Finding::note(seen, "nothing, if it was one of `claude -p`: headless is off");
        }
        let way = "end that session and start it anew; if it happens again, look for brain-guard in /hooks and /plugin there";
        return Finding::problem(seen, way);
    }
    match here {
        Some(at) => Finding::ok(format!("a hook last ran {} in this project", ago(world, at))),
        None => Finding::note(
            "none has ever run in this project",
            "start a session; one that runs already takes the plugin in by /reload-plugins",
        ),
    }
}

fn ago(world: &World, at: SystemTime) -> String {
    format!("{} ago", age(world.now - base::clock::Time::from(at)))
}

/// When a hook last wrote to a folder of sessions. Locks do not count: they are never written.
fn last_write(sessions: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(sessions).ok()?.flatten();
    let files = entries.filter(|entry| {
        let path = entry.path();
        !entry.file_name().to_string_lossy().starts_with('.')
            && path.extension().is_some_and(|e| e != "lock")
    });
    files.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max()
}

/// The newest transcript that was begun under this installation and whose session left no state:
/// its hooks do not fire.
fn unhooked_transcript(world: &World, here: Option<SystemTime>) -> Option<(PathBuf, SystemTime)> {
    let installed = fs::symlink_metadata(&world.current).and_then(|meta| meta.modified()).ok()?;
    let entries = fs::read_dir(folder(world)?).ok()?.flatten();
    let (path, at) = entries
        .filter_map(|entry| {
            let (path, meta) = (entry.path(), entry.metadata().ok()?);
            let of_session = path.extension().is_some_and(|e| e == "jsonl") && meta.len() > 0;
            let begun = meta.created().or_else(|_| meta.modified()).ok()?;
            (of_session && begun > installed).then_some((path, meta.modified().ok()?))
        })
        .max_by_key(|(_, at)| *at)?;
    let lately = SystemTime::from(world.now).duration_since(at).is_ok_and(|age| age < LATELY);
    let seen = world.places.session(path.file_stem()?.to_str()?, "json").exists();
    (!seen && lately && here.is_none_or(|here| here < at)).then_some((path, at))
}

/// The folder of this project's transcripts: that of its last session, else the one that follows
/// from the client's naming rule.
fn folder(world: &World) -> Option<PathBuf> {
    let known = world.last.as_ref().and_then(|(_, session)| session.transcript.as_ref());
    if let Some(path) = known {
        return Some(Path::new(path).parent()?.to_path_buf());
    }
    let project = world.places.project.to_str()?;
    Some(world.plan.config.join("projects").join(new_file::project_name(project)))
}

pub fn module(world: &World) -> Vec<Finding> {
    let last = || (!world.is_switched_off()).then(|| in_last_session(world));
    in_this_session(world).or_else(last).into_iter().collect()
}

/// By the variable that the module sets for processes of its client: version, colon, process id.
fn in_this_session(world: &World) -> Option<Finding> {
    let own = env!("CARGO_PKG_VERSION");
    let set = world.env.get(env::MOD)?;
    let (version, pid) = set.split_once(':').unwrap_or((&set, ""));
    if version != own {
        let seen =
            format!("in this session it is version {version}, this program {own}: {CLASSIC}");
        let way = "run `brain-guard install` and start a new session";
        return Some(Finding::problem(seen, way));
    }
    // A client that runs inside another one inherits the variable.
    (world.env.client_pid()?.to_string() == pid)
        .then(|| Finding::ok(format!("version {version} is loaded in this session")))
}

fn in_last_session(world: &World) -> Finding {
    let Some((id, session)) = &world.last else {
        return Finding::ok("no session has run here yet");
    };
    let Some(seen) = session.seen else {
        return Finding::ok(format!("the session {id} has not told of it yet"));
    };
    if seen.mod_alive {
        let lives = session.client.is_some_and(|c| state::lives(&world.places, c));
        let when = if lives { "is loaded in" } else { "was loaded in the last session," };
        return Finding::ok(format!("{when} {id}"));
    }
    let seen = format!("it was not at work in the last session, {id}: {CLASSIC}");
    let way =
        "run `brain-guard install` and start a new session; it wants Claude Code 2.1.286 or later";
    if world.settings.boundary.carrier == CarrierChoice::Mod {
        return Finding::problem(seen, format!("set boundary.carrier to \"auto\", or {way}"));
    }
    Finding::note(seen, way)
}
