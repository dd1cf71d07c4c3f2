//! `settings check`: what is wrong, what is in force, and where it was set.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::report::{Held, Report};
use crate::cli::Whose;
use crate::cmd::{Exit, out, out_json, whose};
use base::atomic;
use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use guard::hook::facts::Facts;
use guard::hook::merged::settings_files;
use guard::hook::surroundings;
use guard::hook::variables::variables;
use guard::policy::limit::Limits;
use guard::settings::Model;
use guard::settings::layers::{self, File, Merged, Variables};
use sessions::gauge::{self, WindowFacts};

/// What is asked for beside the session's own.
#[derive(Debug)]
pub struct Ask {
    /// The window whose tiers are shown, in tokens.
    pub window: Option<u64>,
    /// The model whose tiers are shown.
    pub model: Option<String>,
    /// The file to look at in place of the layers.
    pub file: Option<PathBuf>,
}

/// Windows that are shown where nothing tells which one is meant.
const WINDOWS: [u64; 2] = [1_000_000, 200_000];

/// Runs the verb.
///
/// # Errors
/// No home, a session or a file that is not there.
pub fn run(env: &Env, now: Time, whose: &Whose, ask: &Ask, json: bool) -> anyhow::Result<Exit> {
    let project = whose::project(env, whose)?;
    let places =
        Places::of(env, &project).context("HOME is not set; set it to your home folder")?;
    let (merged, files) = if let Some(path) = &ask.file {
        alone(env, path)?
    } else {
        let (user, of_project) = settings_files(&places);
        let files =
            vec![("user", places.user_settings.clone()), ("project", places.project_settings())];
        (layers::trace(user.as_ref(), of_project.as_ref(), variables(&places, env)), files)
    };
    let found = match whose::find(env, whose) {
        Err(e) if whose.session.is_some() => return Err(e),
        found => found.ok(),
    };
    let facts = found.as_ref().and_then(|found| whose::facts(env, now, found).ok());
    let facts = facts.filter(|facts| !facts.unseen);
    let held = held(env, &merged, ask, facts.as_ref());
    let report = Report::of(&merged, files, held);
    if json {
        out_json(&report)?;
    } else {
        out(report.to_string().trim_end());
    }
    Ok(if merged.diagnostics.is_empty() { Exit::Done } else { Exit::Refused })
}

/// A file by itself: a project's by its place, else as if it were the user's.
fn alone(env: &Env, path: &Path) -> anyhow::Result<(Merged, Vec<(&'static str, PathBuf)>)> {
    let whole = env.cwd().unwrap_or_default().join(path);
    let text = atomic::read_text(&whole)
        .with_context(|| format!("could not read {}", whole.display()))?
        .with_context(|| format!("{} does not exist", whole.display()))?;
    let file = File { path: path.display().to_string(), text: Ok(text) };
    let nothing = Variables::default();
    Ok(if whole.ends_with(".brain-guard/settings.json") {
        (layers::trace(None, Some(&file), nothing), vec![("project", whole)])
    } else {
        (layers::trace(Some(&file), None, nothing), vec![("user", whole)])
    })
}

/// What the settings come to: for the model that was asked for, else for the
/// session's, else for both usual windows.
fn held(env: &Env, merged: &Merged, ask: &Ask, facts: Option<&Facts>) -> Vec<Held> {
    let session = facts.map(|f| f.session.clone()).unwrap_or_default();
    let environment = surroundings::of(env, &session).auto_compact;
    let limits = facts.map_or(Limits { environment, ..Limits::default() }, Facts::limits);
    let of = |model: Model, base: u64| Held::of(&merged.settings, model, &limits, base);
    if ask.window.is_some() || ask.model.is_some() {
        let name = ask.model.as_deref();
        let window = gauge::window(&WindowFacts {
            setting: ask.window.or(merged.settings.context.window),
            model: name,
            ..WindowFacts::default()
        });
        return vec![of(Model { name, window: window.tokens }, 0)];
    }
    if let Some(facts) = facts.filter(|_| ask.file.is_none()) {
        return vec![of(facts.model(), session.base_tokens)];
    }
    let windows = merged.settings.context.window.map_or(WINDOWS.to_vec(), |window| vec![window]);
    windows.into_iter().map(|window| of(Model { name: None, window }, 0)).collect()
}
