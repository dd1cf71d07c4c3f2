//! Handles `SessionEnd`, and boundaries that a former client left open.

use super::facts::Facts;
use super::reply::Reply;
use std::io;

use crate::boundary::{CLIENT_ENDED, Client};
use crate::files::{boundary, prune};
use base::process;
use sessions::settings::ImportWhen;

/// Ends a boundary of a former client. Nothing performs it now, and a crash of the machine may have
/// ended its waiter too.
pub fn end_stale_boundary(facts: &Facts, client: Client) {
    let Some(token) = facts.token().filter(|t| t.client.is_some_and(|c| c != client)) else {
        return;
    };
    let ended = boundary::update(&facts.places, &token.id, |t| t.abandon(CLIENT_ENDED, facts.now));
    if let Err(e) = ended {
        facts.fault("token not ended", &e);
    }
}

/// `SessionEnd`: marks the session as ended, so that no carrier types keys for it. The next
/// session's hook moves the token, but may be late.
pub fn session(facts: &mut Facts) -> Reply {
    if !facts.unseen {
        let now = facts.now;
        facts.update(|s| s.ended = Some(now));
        if let Err(e) = prune::prune_daily(&facts.places, facts.now) {
            facts.fault("old sessions not taken out", &e);
        }
    }
    if facts.settings.surgery.import == ImportWhen::SessionEnd
        && let Err(e) = import(facts)
    {
        facts.fault("session not imported", &e);
    }
    Reply::default()
}

/// Imports the session into the store in a background process.
fn import(facts: &Facts) -> io::Result<()> {
    let Some(transcript) = &facts.transcript else { return Ok(()) };
    let program = facts
        .env
        .program()
        .ok_or_else(|| io::Error::other("brain-guard cannot find its own program file"))?;
    let behind = ["import", "--behind"].map(AsRef::as_ref);
    process::spawn_detached(&program, &[&behind[..], &[transcript.as_os_str()]].concat())
}
