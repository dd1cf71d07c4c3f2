//! `settings check`: what is wrong, what is in force, and what waits.

use std::path::Path;

use anyhow::Context as _;

use super::report::{Held, Report};
use crate::cli::CheckArgs;
use crate::cmd::output::out_folded;
use crate::cmd::{Context, Exit, Run, out_json, selector};
use base::atomic;
use base::env::Env;
use guard::hook::facts::Facts;
use guard::hook::settings;
use guard::hook::surroundings;
use guard::policy::limit::Limits;
use guard::settings::Settings;
use guard::settings::sources::{Sources, Texts};

/// Windows to show if nothing says which one applies.
const WINDOWS: [u64; 2] = [1_000_000, 200_000];

impl Run for CheckArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let project = selector::project(env, &self.selector)?;
        let places = selector::places(env, &project)?;
        let found = match selector::find(env, &self.selector) {
            Err(e) if self.selector.session.is_some() => return Err(e),
            found => found.ok(),
        };
        let facts = found.as_ref().and_then(|found| selector::facts(env, now, found).ok());
        let facts = facts.filter(|facts| !facts.unseen && self.file.is_none());
        let sources = match &self.file {
            Some(path) => alone(env, path)?,
            None => settings::sources(&places, env),
        };
        let files = [("user", sources.user.0.clone()), ("project", sources.project.0.clone())];
        let files = files.into_iter().filter(|(_, path)| !path.is_empty()).collect();
        let agreed: Option<&Texts> = facts.as_ref().and_then(|f| f.session.settings.as_ref());
        let (settings, loaded) = sources.load(agreed);
        let held = held(env, &settings, self, facts.as_ref());
        let report = Report::of(&settings, &loaded, files, held);
        if self.json {
            out_json(&report)?;
        } else {
            out_folded(report.to_string().trim_end());
        }
        Ok(if loaded.faults.is_empty() { Exit::Done } else { Exit::Refused })
    }
}

/// One file alone: as a project's if its path is one, else as the user's.
fn alone(env: &Env, path: &Path) -> anyhow::Result<Sources> {
    let whole = env.cwd().unwrap_or_default().join(path);
    let text = atomic::read_text(&whole)
        .with_context(|| format!("could not read {}", whole.display()))?
        .with_context(|| format!("{} does not exist", whole.display()))?;
    let (file, none) = ((path.display().to_string(), Ok(Some(text))), (String::new(), Ok(None)));
    let is_project = whole.ends_with(".brain-guard/settings.json");
    let (user, project) = if is_project { (none, file) } else { (file, none) };
    Ok(Sources { user, project, folder: "/".into(), home: env.home() })
}

/// The tiers in force: for the given window, else for the session's, else for both common windows.
fn held(env: &Env, settings: &Settings, ask: &CheckArgs, facts: Option<&Facts>) -> Vec<Held> {
    let session = facts.map(|f| f.session.clone()).unwrap_or_default();
    let environment = surroundings::current(env, &session).auto_compact;
    let limits = facts.map_or(Limits { environment, ..Limits::default() }, Facts::limits);
    if let Some(window) = ask.window {
        // What the client reports is about the session's own window.
        let limits = Limits { client: None, ..limits };
        return vec![Held::of(settings, window, &limits, 0)];
    }
    let of = |window: u64, base: u64| Held::of(settings, window, &limits, base);
    if let Some(facts) = facts {
        return vec![of(facts.model().1, session.base_tokens)];
    }
    let windows = settings.context.window.map_or(WINDOWS.to_vec(), |window| vec![window]);
    windows.into_iter().map(|window| of(window, 0)).collect()
}
