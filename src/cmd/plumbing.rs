//! The verb that the hook runs: it watches a boundary.

use super::{Context, Exit, Run, selector};
use crate::cli::WaiterArgs;
use carrier::waiter;
use guard::files::{boundary, state};
use guard::hook::settings;

impl Run for WaiterArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let places = selector::places(env, &self.project)?;
        // Those of the session that the boundary ends.
        let token = boundary::load(&places, &self.token)?;
        let session = token.and_then(|token| state::load(&places, &token.parent).ok().flatten());
        let agreed = session.and_then(|session| session.settings);
        let (settings, _) = settings::load(&places, env, agreed.as_ref());
        waiter::detach();
        waiter::watch(env, &places, &self.token, &settings.boundary)?;
        Ok(Exit::Done)
    }
}
