//! `doctor`: what is installed and around, one line a check, each fault with its way
//! out. It looks and changes nothing, but for `--fix`, which does what is safe: never a
//! file of the client's beyond what `install` writes, never a memory.

mod around;
mod client;
mod disk;
mod files;
mod hooks;
mod installed;
mod keys;
mod mend;
mod private;
mod stale;
mod tools;

use std::fmt;
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;
use serde_json::json;

use self::mend::Mend;
use super::uninstall::UninstallPlan;
use super::{Exit, out, out_json, setup, whose};
use crate::cli::Whose;
use base::clock::Time;
use base::env::Env;
use base::paths::{Places, config_folder};
use guard::files::state;
use guard::hook::facts::read_settings;
use guard::session::Session;
use guard::settings::Settings;
use guard::settings::layers::Diagnostic;

/// What mends a finding that `--fix` can mend.
const FIX: &str = "run `brain-guard doctor --fix`";

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; nothing fails for it.
    Note,
    /// Something does not work.
    Problem,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        })
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub check: &'static str,
    /// How it is.
    pub level: Level,
    /// What was seen.
    pub seen: String,
    /// What to do about it.
    pub way_out: Option<String>,
    /// What `--fix` does about it.
    #[serde(skip)]
    mend: Option<Mend>,
}

impl Finding {
    fn ok(check: &'static str, seen: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, seen: seen.into(), way_out: None, mend: None }
    }

    fn note(check: &'static str, seen: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { level: Level::Note, way_out: Some(way_out.into()), ..Self::ok(check, seen) }
    }

    fn problem(check: &'static str, seen: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { level: Level::Problem, way_out: Some(way_out.into()), ..Self::ok(check, seen) }
    }

    fn mended_by(self, mend: Mend) -> Self {
        Self { mend: Some(mend), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7}  {:<11}  {}", self.level, self.check, self.seen)?;
        self.way_out.as_ref().map_or(Ok(()), |way| write!(f, " -> {way}"))
    }
}

/// What the checks look at.
struct World<'a> {
    env: &'a Env,
    now: Time,
    places: Places,
    /// Where an installation lies.
    plan: UninstallPlan,
    /// The client's config folder.
    config: PathBuf,
    settings: Settings,
    diagnostics: Vec<Diagnostic>,
    /// The session this runs in, or the project's only live one.
    session: Option<Session>,
    /// Its id; empty without one.
    session_id: String,
    /// The project's last session, by its first sight, and its id.
    last: Option<(String, Session)>,
}

impl<'a> World<'a> {
    fn of(env: &'a Env, now: Time) -> anyhow::Result<Self> {
        let project = whose::project(env, &Whose::default())?;
        let places =
            Places::of(env, &project).context("HOME is not set; set it to your home folder")?;
        let (settings, diagnostics) = read_settings(&places, env);
        let found = whose::find(env, &Whose::default()).ok();
        let session_id = found.as_ref().map(|found| found.session.clone()).unwrap_or_default();
        let session = found.and_then(|found| {
            let facts = whose::facts(env, now, &found).ok()?;
            facts.session.started.is_some().then(|| facts.session.clone())
        });
        let config = config_folder(env).context("HOME is not set; set it to your home folder")?;
        let all = state::all(&places).unwrap_or_default().into_iter();
        let all = all.filter_map(|id| Some((id.clone(), state::load(&places, &id).ok()??)));
        let last = all.max_by_key(|(_, session)| session.started);
        let plan = setup::uninstall_plan(env)?;
        Ok(Self {
            env,
            now,
            places,
            plan,
            config,
            settings,
            diagnostics,
            session,
            session_id,
            last,
        })
    }

    fn look(&self) -> Vec<Finding> {
        let mut found = installed::look(&self.plan, self.env);
        found.extend(tools::look(self));
        found.extend(client::look(self));
        found.extend(hooks::look(self));
        found.extend(around::look(self));
        found.extend(private::look(&self.places));
        found.extend(stale::look(self));
        found.extend(disk::look(self));
        found.extend(keys::look(self));
        found.push(around::terminal(self));
        found
    }
}

/// The answer to the slash command.
pub fn at_the_prompt(env: &Env, now: Time) -> String {
    match World::of(env, now) {
        Ok(world) => {
            let found: Vec<String> = world.look().iter().map(ToString::to_string).collect();
            format!("brain-guard\n{}", found.join("\n"))
        }
        Err(e) => format!("brain-guard: {e:#}"),
    }
}

/// Runs the verb.
///
/// # Errors
/// No home, no current folder.
pub fn run(env: &Env, now: Time, fix: bool, json: bool) -> anyhow::Result<Exit> {
    let world = World::of(env, now)?;
    let mut found = world.look();
    let mut done = Vec::new();
    if fix {
        done = mend::all(&world, &found);
        // What stays is what a second look finds.
        found = World::of(env, now)?.look();
    }
    if json {
        let value = if fix { json!({"done": done, "found": found}) } else { json!(found) };
        out_json(&value)?;
    } else {
        for line in &done {
            out(line);
        }
        for finding in &found {
            out(finding);
        }
    }
    let is_problem = found.iter().any(|f| f.level == Level::Problem);
    Ok(if is_problem { Exit::Refused } else { Exit::Done })
}
