//! A session that is open in a client while a verb makes a successor of it elsewhere: what is said
//! in it from now on is not in the successor, and the user is told with their next prompt.

use std::path::Path;

use super::made::Made;
use base::env::Env;
use base::paths::Places;
use guard::files::{state, succession};
use guard::succession::Step;

/// Leaves a word for each client that has a source of the new session open, unless that client goes
/// on in it anyway.
pub fn tell_clients(env: &Env, made: &Made) {
    if !made.by_id {
        return;
    }
    for source in &made.plan.sessions {
        let places = source.cwd.as_deref().and_then(|cwd| Places::for_project(env, Path::new(cwd)));
        let Some(places) = places.filter(|places| state::open_in(places, &source.id).is_some())
        else {
            continue;
        };
        let last = succession::load(&places, &source.id).ok().flatten();
        if last.is_some_and(|last| matches!(last.step, Step::Agreed | Step::Operating)) {
            continue;
        }
        let word = (made.plan.operation.shown(), made.id.clone());
        // The session is made all the same; its maker has read where it is.
        let _ =
            state::update(&places, &source.id, |session| session.surgery.made_outside = Some(word));
    }
}
