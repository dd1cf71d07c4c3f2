//! `doctor`: what is installed and around, one line a check, each fault with its
//! way out. It looks and changes nothing.

mod around;
mod installed;
mod keys;

use std::fmt;
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;

use super::{Exit, out, out_json, setup, whose};
use crate::cli::Whose;
use crate::clock::Time;
use crate::env::Env;
use crate::hook::facts::read_settings;
use crate::settings::Settings;
use crate::settings::layers::Diagnostic;
use crate::store::paths::{Places, config_folder};
use crate::store::state::Session;

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
}

impl Finding {
    fn ok(check: &'static str, seen: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, seen: seen.into(), way_out: None }
    }

    fn note(check: &'static str, seen: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { check, level: Level::Note, seen: seen.into(), way_out: Some(way_out.into()) }
    }

    fn problem(check: &'static str, seen: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { check, level: Level::Problem, seen: seen.into(), way_out: Some(way_out.into()) }
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
    /// The client's config folder.
    config: PathBuf,
    settings: Settings,
    diagnostics: Vec<Diagnostic>,
    /// The session this runs in, or the project's only live one.
    session: Option<Session>,
}

impl<'a> World<'a> {
    fn of(env: &'a Env, now: Time) -> anyhow::Result<Self> {
        let project = whose::project(env, &Whose::default())?;
        let places =
            Places::of(env, &project).context("HOME is not set; set it to your home folder")?;
        let (settings, diagnostics) = read_settings(&places, env);
        let found = whose::find(env, &Whose::default()).ok();
        let session = found.and_then(|found| {
            let facts = whose::facts(env, now, &found).ok()?;
            facts.session.started.is_some().then(|| facts.session.clone())
        });
        let config = config_folder(env).context("HOME is not set; set it to your home folder")?;
        Ok(Self { env, now, places, config, settings, diagnostics, session })
    }
}

/// Runs the verb.
///
/// # Errors
/// No home, no current folder.
pub fn run(env: &Env, now: Time, json: bool) -> anyhow::Result<Exit> {
    let world = World::of(env, now)?;
    let plan = setup::uninstall_plan(env)?;
    let mut found = installed::look(&plan, env);
    found.extend(around::look(&world));
    found.extend(keys::look(&world));
    found.push(around::terminal(&world));
    if json {
        out_json(&found)?;
    } else {
        for finding in &found {
            out(finding);
        }
    }
    let is_problem = found.iter().any(|f| f.level == Level::Problem);
    Ok(if is_problem { Exit::Refused } else { Exit::Done })
}
