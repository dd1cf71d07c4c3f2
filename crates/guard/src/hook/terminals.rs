//! Finds the terminals around the client.

use super::facts::Facts;
use crate::files::state;

/// Finds the terminals around the client, which only its own processes see.
pub fn look_around(facts: &mut Facts) {
    let client = facts.session.client.or(facts.env.client_pid().and_then(state::client));
    let Some(client) = client.filter(|_| facts.seen.interactive) else { return };
    let Some(program) = facts.program else { return };
    let reach = Some((program.find_terminals)(facts.env, client));
    if facts.session.reach != reach {
        facts.update(|s| s.reach.clone_from(&reach));
    }
}
