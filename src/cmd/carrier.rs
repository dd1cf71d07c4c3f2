//! `carrier …`: which carrier would be used here and why, and a harmless try.

pub mod scratch;
pub mod trial;

use serde_json::json;

use super::whose;
use super::{Exit, out, out_json};
use crate::cli::Whose;
use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use carrier::reach;
use guard::boundary::Carrier;
use guard::files::state;
use guard::hook::facts::read_settings;
use guard::hook::select::{self, Selection};

/// `carrier probe`: of the session; where none lives in the project, of the
/// terminal this is typed in.
///
/// # Errors
/// Several sessions, or one that is not known.
pub fn probe(env: &Env, now: Time, whose: &Whose, json: bool) -> anyhow::Result<Exit> {
    let found = whose::find_any(env, whose)?;
    let (selection, about) = match &found {
        Some(found) => (of_session(env, now, found)?, format!("session {}", found.session)),
        None => (
            of_terminal(env, whose)?,
            "this terminal, as a client started in it would see it (no session lives in this project)"
                .to_owned(),
        ),
    };
    let Selection { chosen, looked } = &selection;
    if json {
        let looked: Vec<_> = looked
            .iter()
            .map(|(carrier, usable, why)| {
                json!({"carrier": carrier.name(), "usable": usable, "why": why})
            })
            .collect();
        let session = found.as_ref().map(|found| found.session.as_str());
        let chosen = chosen.map(Carrier::name);
        out_json(&json!({"session": session, "chosen": chosen, "carriers": looked}))?;
        return Ok(Exit::Done);
    }
    out(format_args!("{about}\n{}", selection.explain().trim_end()));
    match chosen {
        Some(carrier) => out(format_args!("would be used: {}", carrier.name())),
        None => out("would be used: none, so nothing is blocked"),
    }
    Ok(Exit::Done)
}

fn of_session(env: &Env, now: Time, found: &whose::Found) -> anyhow::Result<Selection> {
    let mut facts = whose::facts(env, now, found)?;
    // Only the client's own processes have its environment; others believe its hooks.
    if let Some(client) = env.client_pid().and_then(state::client) {
        facts.session.reach = Some(reach::look(env, client));
    }
    Ok(facts.carrier())
}

/// What a client started here would find, by the settings that would hold: this
/// shell stands for it.
fn of_terminal(env: &Env, whose: &Whose) -> anyhow::Result<Selection> {
    let places = Places::of(env, &whose::project(env, whose)?);
    let boundary = places.map(|p| read_settings(&p, env).0.boundary).unwrap_or_default();
    let shell = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get() as u32);
    let reach = shell.and_then(state::client).map(|shell| reach::look(env, shell));
    let seen = select::Seen {
        mod_alive: false,
        interactive: true,
        attended: true,
        reach: reach.as_ref(),
        command: !boundary.command.is_empty(),
    };
    Ok(select::select(boundary.carrier, &seen, &[]))
}
