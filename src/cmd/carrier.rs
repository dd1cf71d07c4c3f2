//! `carrier probe`: which carrier would be used here, and why.

use serde_json::json;

use super::whose;
use super::{Exit, out, out_json};
use crate::cli::Whose;
use crate::clock::Time;
use crate::env::Env;

/// Runs the verb. Outside a session's own processes the module can't be seen;
/// then what its last hook saw is not guessed at.
///
/// # Errors
/// No session.
pub fn probe(env: &Env, now: Time, whose: &Whose, json: bool) -> anyhow::Result<Exit> {
    let found = whose::find(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    let selection = facts.carrier();
    if json {
        let looked: Vec<_> = selection
            .looked
            .iter()
            .map(|(carrier, usable, why)| json!({"carrier": carrier.name(), "usable": usable, "why": why}))
            .collect();
        out_json(
            &json!({"chosen": selection.chosen.map(crate::boundary::Carrier::name), "carriers": looked}),
        )?;
    } else {
        out(selection.explain().trim_end());
        match selection.chosen {
            Some(carrier) => out(format_args!("would be used: {}", carrier.name())),
            None => out("would be used: none, so nothing is blocked"),
        }
    }
    Ok(Exit::Done)
}
