//! Handles `SessionEnd`, and boundaries that a former client left behind.

use super::facts::Facts;
use super::reply::Reply;
use std::io;

use super::unsealed;
use crate::boundary::{EndReason, Step};
use crate::files::{prune, sealing};
use base::process;
use sessions::settings::ImportWhen;

/// Takes up a boundary that waited when a former client ended, and ends one that was further. Nothing
/// performs that now, and a crash of the machine may have ended its waiter too. Returns the line for
/// the user.
pub fn take_up_boundary(facts: &mut Facts) -> Option<String> {
    let client = facts.session.client?;
    let token = facts.token().filter(|t| t.client.is_some_and(|c| c != client))?;
    // Who resumes a session is there.
    facts.saw_typing(facts.now);
    let version = sealing::fresh_version(&facts.places, &token.job, &facts.settings);
    let waits = facts.change_token(&token.id, |t| {
        // A headless run has no way to clear. The job may be another session's by now.
        let waits = t.parent == facts.id && t.step == Step::Pending && facts.seen.interactive;
        let waits = waits && t.job == facts.session.job && t.stands(version);
        if waits {
            (t.client, t.since, t.notice_until) = (Some(client), facts.now, None);
            t.hold = None;
        } else if t.step == Step::Unsealed {
            t.withdraw("the session was resumed", facts.now);
        } else {
            t.abandon(EndReason::ClientEnded, facts.now);
        }
        waits
    });
    // The module tells that it is there only after this hook, so the carrier stays.
    if waits == Some(true) { unsealed::watch_over(facts, &token) } else { None }
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
