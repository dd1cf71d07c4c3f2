//! Checks whether hooks fire and the module works, by what they leave behind: the sessions' state,
//! compared with the client's own transcripts. The module offers the agent its tools.

use base::shown::age;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Finding, Level, World};
use crate::cmd::install::place;
use base::env;
use base::new_file;
use base::paths::Places;
use guard::boundary::CarrierChoice;
use guard::files::state;
use guard::settings::{Headless, Mode};

/// Older transcripts prove nothing about today.
const LATELY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A client with no module, or one that refuses ours, still has the hooks.
const CLASSIC: &str = "boundaries go through the terminal";

/// The hooks, then the module and its tools.
pub fn look(world: &World) -> Vec<Finding> {
    let module = module(world);
    let tools = tools(world, &module);
    vec![fired(world), module, tools]
}

fn tools(world: &World, module: &Finding) -> Finding {
    if !world.settings.extract.mcp {
        return Finding::ok("tools", "not offered (extract.mcp in the settings)");
    }
    if module.level == Level::Ok {
        return Finding::ok("tools", "the module offers them from a session's start (extract.mcp)");
    }
    let seen = "extract.mcp is true, but the module, which offers them, is not at work";
    Finding::note("tools", seen, "claude mcp add brain-guard -- brain-guard mcp")
}

fn fired(world: &World) -> Finding {
    if world.settings.mode == Mode::Off {
        let seen = "mode is off in the settings: the hooks run and do nothing";
        return Finding::note("hooks", seen, "set mode to \"on\"");
    }
    let here = last_write(&world.places.state.join("sessions"));
    if let Some(lost) = unhooked_transcript(world, here) {
        let seen = format!(
            "a session wrote {} {}, and no hook of it has run",
            lost.path.display(),
            ago(world, lost.at)
        );
        if world.settings.headless == Headless::Off {
            return Finding::note(
                "hooks",
                seen,
                "nothing, if it was one of `claude -p`: headless is off",
            );
        }
        let way = "end that session and start it anew; if it happens again, look for brain-guard in /hooks and /plugin there";
        return Finding::problem("hooks", seen, way);
    }
    let elsewhere = anywhere(&world.places);
    let told = |at| format!("a hook last ran {}", ago(world, at));
    match (here, elsewhere) {
        (Some(at), _) => Finding::ok("hooks", format!("{} in this project", told(at))),
        (None, Some(at)) => Finding::note(
            "hooks",
            format!("none has run in this project; elsewhere {}", told(at)),
            "start a session here; one that runs already takes the plugin in by /reload-plugins",
        ),
        (None, None) => Finding::note(
            "hooks",
            "none has ever run",
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

fn anywhere(places: &Places) -> Option<SystemTime> {
    let projects = fs::read_dir(places.state.parent()?).ok()?.flatten();
    projects.filter_map(|project| last_write(&project.path().join("sessions"))).max()
}

struct Transcript {
    path: PathBuf,
    at: SystemTime,
}

/// The newest transcript that was begun under this installation and whose session left no state:
/// its hooks do not fire.
fn unhooked_transcript(world: &World, here: Option<SystemTime>) -> Option<Transcript> {
    let current = world.plan.data.join(place::CURRENT);
    let installed = fs::symlink_metadata(current).and_then(|meta| meta.modified()).ok()?;
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
    (!seen && lately && here.is_none_or(|here| here < at)).then_some(Transcript { path, at })
}

/// The folder of this project's transcripts: that of its last session, else the one that follows
/// from the client's naming rule.
fn folder(world: &World) -> Option<PathBuf> {
    let known = world.last.as_ref().and_then(|(_, session)| session.transcript.as_ref());
    if let Some(path) = known {
        return Some(Path::new(path).parent()?.to_path_buf());
    }
    let project = world.places.project.to_str()?;
    Some(world.config.join("projects").join(new_file::project_name(project)))
}

fn module(world: &World) -> Finding {
    if let Some(told) = world.env.get(env::MOD) {
        return told_by_environment(world, &told);
    }
    let Some((id, session)) = &world.last else {
        return Finding::ok("module", "no session has run here yet");
    };
    let Some(seen) = session.seen else {
        return Finding::ok("module", format!("the session {id} has not told of it yet"));
    };
    if seen.mod_alive {
        let lives = session.client.is_some_and(|c| state::lives(&world.places, c));
        let when = if lives { "is loaded in" } else { "was loaded in the last session," };
        return Finding::ok("module", format!("{when} {id}"));
    }
    let seen = format!("it was not at work in the last session, {id}: {CLASSIC}");
    let way =
        "run `brain-guard install` and start a new session; it wants Claude Code 2.1.286 or later";
    if world.settings.boundary.carrier == CarrierChoice::Mod {
        return Finding::problem(
            "module",
            seen,
            format!("set boundary.carrier to \"auto\", or {way}"),
        );
    }
    Finding::note("module", seen, way)
}

/// Checks the variable that the module sets for processes of its client: version, colon, process
/// id.
fn told_by_environment(world: &World, told: &str) -> Finding {
    let own = env!("CARGO_PKG_VERSION");
    let (version, pid) = told.split_once(':').unwrap_or((told, ""));
    if version != own {
        let seen =
            format!("in this session it is version {version}, this program {own}: {CLASSIC}");
        return Finding::problem(
            "module",
            seen,
            "run `brain-guard install` and start a new session",
        );
    }
    let client = world.env.client_pid().map(|pid| pid.to_string());
    if client.as_deref() != Some(pid) {
        let seen = format!("the variable {} is of another client, process {pid}", env::MOD);
        return Finding::note(
            "module",
            seen,
            format!("start this client without {} in its environment", env::MOD),
        );
    }
    Finding::ok("module", format!("version {version} is loaded in this session"))
}
