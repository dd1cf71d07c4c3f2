//! `SessionEnd`, and what a client before this one left unended.

use super::facts::Facts;
use super::reply::Reply;
use std::io;

use crate::boundary::{CLIENT_ENDED, Client};
use crate::files::{boundary, prune};
use base::process;
use sessions::settings::ImportWhen;

/// Ends a boundary of a client before this one: nobody carries it out any more, and
/// the waiter that would have said so may have gone down with the machine.
pub fn of_another_client(facts: &Facts, client: Client) {
    let Some(token) = facts.token().filter(|t| t.client.is_some_and(|c| c != client)) else {
        return;
    };
    let ended = boundary::update(&facts.places, &token.id, |t| t.abandon(CLIENT_ENDED, facts.now));
    if let Err(e) = ended {
        facts.fault("token not ended", &e);
    }
}

/// `SessionEnd`: from here on no key may be pressed for this session, though the
/// next one's hook, which moves the token, may take its time.
pub fn session(facts: &mut Facts) -> Reply {
    if !facts.unseen {
        let now = facts.now;
        facts.update(|s| s.ended = Some(now));
        if let Err(e) = prune::at_leisure(&facts.places, facts.now) {
            facts.fault("old sessions not taken out", &e);
        }
    }
    if facts.settings.surgery.import == ImportWhen::SessionEnd
        && let Err(e) = inscribe(facts)
    {
        facts.fault("session not imported", &e);
    }
    Reply::default()
}

/// Has the session kept in the store, by a process that nobody waits for.
fn inscribe(facts: &Facts) -> io::Result<()> {
    let Some(transcript) = &facts.transcript else { return Ok(()) };
    let program = facts.env.program().ok_or_else(|| io::Error::other("own path unknown"))?;
    let behind = ["import", "--behind"].map(AsRef::as_ref);
    process::leave_behind(&program, &[&behind[..], &[transcript.as_os_str()]].concat())
}
