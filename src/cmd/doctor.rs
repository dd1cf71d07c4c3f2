//! `doctor`: checks the installation and its surroundings, one line per check, each fault with its
//! fix. It only reads, except with `--fix`. That does what is safe: it never deletes jobs or sealed
//! files, and of the client's files it changes only what `install` writes.

mod client;
mod copies;
mod disk;
mod environment;
mod files;
mod hooks;
mod installed;
mod keys;
mod mend;
mod private;
mod stale;

use std::fmt;
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

use self::mend::{Done, Mend};
use super::install::Installation;
use super::{Context, Exit, Run, selector, setup, show};
use crate::cli::{DoctorArgs, SessionSelector};
use base::clock::Time;
use base::env::Env;
use base::paths::{Places, config_folder};
use guard::files::state;
use guard::hook::facts::read_settings;
use guard::session::Session;
use guard::settings::Settings;
use guard::settings::layers::Diagnostic;

/// The fix for findings that `--fix` can repair.
const FIX: &str = "run `brain-guard doctor --fix`";

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing, but nothing fails because of it.
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
    /// The name of the check.
    pub check: &'static str,
    /// Its result.
    pub level: Level,
    /// What the check saw.
    pub seen: String,
    /// What to do about it.
    pub way_out: Option<String>,
    /// How `--fix` repairs it.
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

/// The data that the checks use.
struct World<'a> {
    env: &'a Env,
    now: Time,
    places: Places,
    /// Where an installation is.
    plan: Installation,
    /// The client's config folder.
    config: PathBuf,
    settings: Settings,
    diagnostics: Vec<Diagnostic>,
    /// The session this runs in, or the project's only live one.
    session: Option<Session>,
    /// Its id; empty without one.
    session_id: String,
    /// The project's most recently started session, and its id.
    last: Option<(String, Session)>,
}

impl<'a> World<'a> {
    fn of(env: &'a Env, now: Time) -> anyhow::Result<Self> {
        let project = selector::project(env, &SessionSelector::default())?;
        let places = selector::places(env, &project)?;
        let (settings, diagnostics) = read_settings(&places, env);
        let found = selector::find(env, &SessionSelector::default()).ok();
        let session_id = found.as_ref().map(|found| found.session.clone()).unwrap_or_default();
        let session = found.and_then(|found| {
            let facts = selector::facts(env, now, &found).ok()?;
            facts.session.started.is_some().then(|| facts.session.clone())
        });
        let config = config_folder(env).context("HOME is not set; set it to your home folder")?;
        let all = state::all(&places).unwrap_or_default().into_iter();
        let all = all.filter_map(|id| Some((id.clone(), state::load(&places, &id).ok()??)));
        let last = all.max_by_key(|(_, session)| session.started);
        let plan = setup::installation(env)?;
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
        CHECKS.iter().flat_map(|check| check(self)).collect()
    }
}

type Check = fn(&World) -> Vec<Finding>;

/// All checks, in the order they are printed.
const CHECKS: [Check; 9] = [
    installed::look,
    client::look,
    hooks::look,
    environment::look,
    private::look,
    stale::look,
    disk::look,
    keys::look,
    environment::terminal,
];

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

/// What was repaired, and what was found after that.
#[derive(Debug)]
struct Report {
    /// `None` without `--fix`.
    done: Option<Vec<Done>>,
    found: Vec<Finding>,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(done) = &self.done else { return self.found.serialize(serializer) };
        let mut fields = serializer.serialize_struct("Report", 2)?;
        fields.serialize_field("done", done)?;
        fields.serialize_field("found", &self.found)?;
        fields.end()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.done.iter().flatten().try_for_each(|done| writeln!(f, "{done}"))?;
        self.found.iter().try_for_each(|finding| writeln!(f, "{finding}"))
    }
}

impl Run for DoctorArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        let Context { env, now } = context;
        let world = World::of(env, now)?;
        let mut report = Report { done: None, found: world.look() };
        if self.fix {
            report.done = Some(mend::all(&world, &report.found));
            // What remains is what a second check finds.
            report.found = World::of(env, now)?.look();
        }
        show(&report, self.json)?;
        let is_problem = report.found.iter().any(|f| f.level == Level::Problem);
        Ok(if is_problem { Exit::Refused } else { Exit::Done })
    }
}
