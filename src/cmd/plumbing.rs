//! Verbs for programs: one serves the X11 selection, one watches a boundary, one writes files for a
//! package.

use std::io::{self, Write as _};
use std::time::Duration;

use super::install::shell;
use super::{Context, Exit, Failure, Run, selector, stdin_text};
use crate::cli::{ClipboardVerb, GenerateArgs, WaiterArgs};
use carrier::{waiter, x11};

fn selection(name: &str) -> anyhow::Result<x11::Which> {
    Ok(x11::Which::of(name)
        .ok_or_else(|| Failure::usage(format_args!("no selection is called {name}")))?)
}

impl Run for ClipboardVerb {
    fn run(&self, _: Context) -> anyhow::Result<Exit> {
        match self {
            Self::Hold { which, seconds } => {
                // A session of its own, so that the user's text outlives the terminal's hangup.
                let _ = rustix::process::setsid();
                x11::hold(selection(which)?, stdin_text()?, Duration::from_secs(*seconds))?;
            }
            Self::Take { which } => {
                io::stdout().lock().write_all(x11::take(selection(which)?)?.as_bytes())?;
            }
        }
        Ok(Exit::Done)
    }
}

impl Run for GenerateArgs {
    fn run(&self, _: Context) -> anyhow::Result<Exit> {
        shell::write(&self.folder)?;
        Ok(Exit::Done)
    }
}

impl Run for WaiterArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let places = selector::places(env, &self.project)?;
        let (settings, _) = guard::hook::facts::read_settings(&places, env);
        waiter::detach();
        waiter::watch(env, &places, &self.token, &settings.boundary)?;
        Ok(Exit::Done)
    }
}
