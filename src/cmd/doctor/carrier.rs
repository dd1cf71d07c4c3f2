//! Which carrier would clear a session here, and the chords that the carriers press.

use std::fmt::Write as _;

use super::{Finding, INSTALL, World};
use crate::cmd::install::keys::describe_chords;
use crate::cmd::selector;
use base::switch::Switch;
use carrier::{chords, reach};
use guard::boundary::{Carrier, CarrierChoice};
use guard::files::{keybindings, state};
use guard::hook::select::{self, CarrierConditions, Selection};

pub fn look(world: &World) -> Vec<Finding> {
    if world.is_switched_off() {
        return Vec::new();
    }
    let in_session = in_session(world);
    let is_first = in_session.is_none() && world.last.is_none();
    let (place, selection) =
        in_session.unwrap_or_else(|| ("this terminal".to_owned(), in_terminal(world)));
    if is_first && selection.chosen == Some(Carrier::Mod) {
        let seen = "mod would clear sessions here, if the client loads the plugin's module; the first session shows it";
        return vec![Finding::ok(seen)];
    }
    let mut others = String::new();
    for (carrier, _, why) in selection.looked.iter().take_while(|(_, usable, _)| !usable) {
        // Writing to a string can't fail.
        let _ = write!(others, "; {} can't: {why}", carrier.name());
    }
    if let Some((carrier, _, why)) = selection.looked.iter().find(|(_, usable, _)| *usable) {
        let seen = format!("{} would clear {place}: {why}{others}", carrier.name());
        return vec![Finding::ok(seen)];
    }
    let seen = format!("none can clear {place}, so nothing is blocked{others}");
    vec![if world.settings.boundary.carrier == CarrierChoice::Auto {
        let way = format!("{INSTALL} and start a new session, or start the client in tmux");
        Finding::note(seen, way)
    } else {
        let way = "boundary.carrier asks for this one alone; set it to \"auto\"";
        Finding::problem(seen, way)
    }]
}

/// What the project's live session would use, with its id.
fn in_session(world: &World) -> Option<(String, Selection)> {
    let found = world.found.as_ref()?;
    let mut facts = selector::facts(world.env, world.now, found).ok()?;
    facts.session.started?;
    // Only the client's own processes have its environment. For others, use what its hooks
    // recorded.
    if let Some(client) = world.env.client_pid().and_then(state::client) {
        facts.session.reach = Some(reach::look(world.env, client));
    }
    Some((format!("session {}", found.session), facts.carrier()))
}

/// What a client started here would use. This shell stands in for that client, and the project's
/// last session for its module.
fn in_terminal(world: &World) -> Selection {
    let boundary = &world.settings.boundary;
    let shell = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get() as u32);
    let reach = shell.and_then(state::client).map(|shell| reach::look(world.env, shell));
    let last = world.last.as_ref().and_then(|(_, session)| session.seen);
    let is_first = world.last.is_none();
    let is_enabled = matches!(&world.registered, Some(Ok(known)) if known.is_enabled());
    let conditions = CarrierConditions {
        // Before the first session, nothing speaks against it.
        mod_alive: last.map_or(is_first && is_enabled, |seen| seen.mod_alive),
        interactive: true,
        attended: true,
        reach: reach.as_ref(),
    };
    select::select(boundary.carrier, &conditions, &[])
}

pub fn keys(world: &World) -> Vec<Finding> {
    vec![bound_keys(world)]
}

fn bound_keys(world: &World) -> Finding {
    if world.settings.boundary.chords == Switch::Off {
        return Finding::ok("off in the settings (boundary.chords); /clear is typed");
    }
    let path = keybindings::path(&world.plan.config);
    let shown = path.display();
    let unbound = || {
        let seen = format!("no chord for /clear in {shown}, so it is typed");
        Finding::note(seen, format!("{}, unless you asked for that", world.install_hint()))
    };
    let (text, changed) = match keybindings::read(&path) {
        Ok(Some(found)) => found,
        Ok(None) => return unbound(),
        Err(e) => {
            return Finding::problem(format!("{shown}: {e}"), "make it a readable file of text");
        }
    };
    if let Err(why) = chords::parse(&text) {
        let seen = format!("the client drops all of {shown} for {why}");
        return Finding::problem(seen, "fix that line");
    }
    let chords = chords::find(&text);
    if chords.clear.is_none() {
        return unbound();
    }
    let mut seen = format!("{} ({shown})", describe_chords(&chords));
    if !chords::loaded(changed, world.now) {
        seen.push_str("; changed just now, so not used yet");
    }
    if chords.resume.is_some() {
        return Finding::ok(seen);
    }
    Finding::note(
        seen,
        format!("{}; until then a hook starts the cleared session", world.install_hint()),
    )
}
