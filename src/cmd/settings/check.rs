//! `settings check`: what is wrong, what is in force, and where it was set.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::report::{Held, Report};
use crate::cli::CheckArgs;
use crate::cmd::{Context, Exit, Run, selector, show};
use base::atomic;
use base::env::Env;
use guard::hook::facts::Facts;
use guard::hook::merged::settings_files;
use guard::hook::surroundings;
use guard::hook::variables::variables;
use guard::policy::limit::Limits;
use guard::settings::Model;
use guard::settings::layers::{self, File, Merged, Variables};
use sessions::gauge::{self, WindowFacts};

/// Windows to show if nothing says which one applies.
const WINDOWS: [u64; 2] = [1_000_000, 200_000];

impl Run for CheckArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let project = selector::project(env, &self.selector)?;
        let places = selector::places(env, &project)?;
        let (merged, files) = if let Some(path) = &self.file {
            merge_file(env, path)?
        } else {
            let (user, of_project) = settings_files(&places);
            let files = vec![
                ("user", places.user_settings.clone()),
                ("project", places.project_settings()),
            ];
            (layers::trace(user.as_ref(), of_project.as_ref(), variables(&places, env)), files)
        };
        let found = match selector::find(env, &self.selector) {
            Err(e) if self.selector.session.is_some() => return Err(e),
            found => found.ok(),
        };
        let facts = found.as_ref().and_then(|found| selector::facts(env, now, found).ok());
        let facts = facts.filter(|facts| !facts.unseen);
        let held = held(env, &merged, self, facts.as_ref());
        show(&Report::of(&merged, files, held), self.json)?;
        Ok(if merged.diagnostics.is_empty() { Exit::Done } else { Exit::Refused })
    }
}

/// Checks one file alone: as a project's if its path is one, else as the user's.
fn merge_file(env: &Env, path: &Path) -> anyhow::Result<(Merged, Vec<(&'static str, PathBuf)>)> {
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

/// The tiers in force: for the given model, else for the session's, else for both common windows.
fn held(env: &Env, merged: &Merged, ask: &CheckArgs, facts: Option<&Facts>) -> Vec<Held> {
    let session = facts.map(|f| f.session.clone()).unwrap_or_default();
    let environment = surroundings::current(env, &session).auto_compact;
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
