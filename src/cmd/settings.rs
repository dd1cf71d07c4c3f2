//! `settings show`: the settings in force. `settings check`: what is wrong, and what waits.
//! `settings set` and `settings edit` change the user's. `settings apply` lets it take effect.

pub mod check;
mod report;
mod write;

use guard::files::state;
use guard::hook::facts::read_settings;
use guard::hook::settings_news::agree;

use super::succession::wake;
use super::{Context, Exit, Run, err, operator, out, out_json, selector};
use crate::cli::{ApplyArgs, SettingsVerb, ShowArgs};
use base::shown::count_with_noun;

impl Run for SettingsVerb {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        match self {
            Self::Show(args) => args.run(context),
            Self::Check(args) => args.run(context),
            Self::Set(args) => args.run(context),
            Self::Edit(args) => args.run(context),
            Self::Apply(args) => args.run(context),
        }
    }
}

impl Run for ShowArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let project = selector::project(env, &self.selector)?;
        let (settings, faults) = read_settings(&selector::places(env, &project)?, env);
        let found = match selector::find(env, &self.selector) {
            Err(e) if self.selector.session.is_some() => return Err(e),
            found => found.ok(),
        };
        let facts = found.as_ref().and_then(|found| selector::facts(env, now, found).ok());
        out_json(facts.as_ref().map_or(&settings, |facts| &facts.settings))?;
        if let Some(facts) = facts.filter(|facts| facts.settings != settings) {
            err(format_args!(
                "session {} works with these; `brain-guard settings check` says what waits",
                facts.id
            ));
        }
        for fault in &faults {
            err(fault);
        }
        Ok(if faults.is_empty() { Exit::Done } else { Exit::Refused })
    }
}

impl Run for ApplyArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        operator::refuse_agent(env, "settings apply")?;
        let all = if self.all {
            let here = selector::places(env, &selector::project(env, &self.selector)?)?;
            selector::running(&here).collect()
        } else {
            vec![selector::find(env, &self.selector)?]
        };
        let mut refused = false;
        for found in &all {
            let mut facts = selector::facts(env, now, found)?;
            for fault in &facts.files.faults {
                refused = true;
                err(format_args!("{fault}; {}", fault.way_out));
            }
            // Whoever runs this must know that it was written.
            state::update(&facts.places, facts.id, |_| ())?;
            let session = &found.session;
            match agree(&mut facts) {
                Some(changes) => out(format!("{session}: {changes}")),
                None => out(format!("{session}: nothing changed")),
            }
        }
        wake::all_strips(env, now);
        if self.all {
            out(format!("{} running", count_with_noun(all.len(), "session", "sessions")));
        }
        Ok(if refused { Exit::Refused } else { Exit::Done })
    }
}
