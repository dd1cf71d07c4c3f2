//! `settings show`: the settings in force, all layers merged. `settings check` shows what is wrong
//! and where each key comes from.

pub mod check;
mod report;

use super::{Context, Exit, Run, err, out_json, selector};
use crate::cli::{SettingsVerb, ShowArgs};
use guard::hook::facts::read_settings;

impl Run for SettingsVerb {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        match self {
            Self::Show(args) => args.run(context),
            Self::Check(args) => args.run(context),
        }
    }
}

impl Run for ShowArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let project = selector::project(env, &self.selector)?;
        let (settings, diagnostics) = read_settings(&selector::places(env, &project)?, env);
        out_json(&settings)?;
        for d in &diagnostics {
            err(&d.message);
        }
        Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Refused })
    }
}
