//! The waiter: one detached process per boundary, with a deadline. It watches one token and the
//! client, presses keys for carriers that need it, and ends what is stuck. It is no daemon.
#![allow(clippy::disallowed_methods, reason = "carriers start and watch processes")]

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::drive::Drive;
use base::clock::{self, Time};
use base::env::Env;
use base::paths::Places;
use base::{atomic, lock};
use guard::boundary::BoundarySettings;
use guard::boundary::arrival::{Arrival, judge};
use guard::boundary::wait::{self, Owner, wait};
use guard::boundary::{Carrier, EndReason, Step, Token};
use guard::files::journal::Journal;
use guard::files::{boundary, state};
use guard::hook::facts::Facts;
use guard::hook::{boundary_flow, deliver, watch};
use guard::journal::What;

/// How long a waiter lives at most: the time before a delivery, and the wait for its answer.
fn lifetime(settings: &BoundarySettings) -> Duration {
    (wait::answer(settings) + chrono::Duration::hours(1)).to_std().unwrap_or_default()
}

/// Leaves the client's process group, so that a signal to it does not end the waiter.
pub fn detach() {
    // Fails only if the process leads a group already, which is as good.
    let _ = rustix::process::setsid();
}

/// Watches a token to its end, in a process that outlives the hook, and drives carriers that need
/// keys or a program. A second waiter for the same token ends at once.
pub fn watch(env: &Env, places: &Places, id: &str, settings: &BoundarySettings) -> io::Result<()> {
    let Ok(_held) = lock::acquire(&watch::waiter_lock(places, id), Duration::ZERO) else {
        return Ok(());
    };
    // A monotonic clock: if the system clock were set back, the waiter would live longer.
    let began = Instant::now();
    let mut drive = Drive::new(env, &places.project, id);
    loop {
        let now = clock::now();
        let Some(token) = step(env, places, id, settings, now)? else {
            return prove_arrival(places, id);
        };
        if began.elapsed() >= lifetime(settings) {
            // A pending token stays: a user who types /clear later still gets the notes.
            if token.step > Step::Pending {
                boundary::update(places, id, |t| {
                    t.abandon("the fresh session did not answer in time", now);
                })?;
            }
            return Ok(());
        }
        let typed = matches!(token.carrier, Carrier::Tmux | Carrier::X11);
        if typed {
            drive.tick(&token, now);
        }
        std::thread::sleep(Duration::from_millis(if typed { 40 } else { 200 }));
    }
}

/// Passes a stuck token to the next carrier or ends it; `None` once the token is over.
fn step(
    env: &Env,
    places: &Places,
    id: &str,
    settings: &BoundarySettings,
    now: Time,
) -> io::Result<Option<Token>> {
    let Some(token) = boundary::load(places, id)?.filter(Token::live) else { return Ok(None) };
    if token.client.is_some_and(|c| state::client(c.pid) != Some(c)) {
        // Before the clear, a client that resumes the session takes the boundary up.
        boundary::update(places, id, |t| {
            if t.step > Step::Pending {
                t.abandon(EndReason::ClientEnded, now);
            }
        })?;
        return Ok(None);
    }
    let parent = state::load(places, &token.parent).ok().flatten().unwrap_or_default();
    // The carrier's time starts at the end of the turn that sealed.
    let running = token.step == Step::Pending && parent.turn.is_some();
    let agents = parent.background.agents > 0;
    let Some(why) = stuck_reason(&token, agents, now, settings).filter(|_| !running) else {
        return Ok(Some(token));
    };
    let facts = Facts::for_session(env, now, &places.project, &token.parent);
    let next = facts.and_then(|facts| next_carrier(&facts, &token));
    boundary::update(places, id, |t| {
        // The token may have moved on meanwhile.
        if stuck_reason(t, agents, now, settings).is_some() {
            if t.step <= Step::Clearing && next.is_some() {
                t.hand_on(next, why, now);
            } else {
                t.abandon(why, now);
            }
        }
        t.live().then(|| t.clone())
    })
    .map(Option::flatten)
}

/// How long the client may take to write the rows of an answered session.
const ROWS: Duration = Duration::from_secs(3);

/// Checks that the new session holds all of the sealed notes. If not, the session is told where to
/// read them.
fn prove_arrival(places: &Places, id: &str) -> io::Result<()> {
    let Some(token) = boundary::load(places, id)?.filter(|t| t.step == Step::Acknowledged) else {
        return Ok(());
    };
    let Some(child) = token.child.as_deref() else { return Ok(()) };
    let Some(session) = state::load(places, child)? else { return Ok(()) };
    let Some(transcript) = session.transcript else { return Ok(()) };
    let Some(file) = deliver::render_notes(&token)? else { return Ok(()) };
    let mut arrival = Arrival::Absent;
    boundary_flow::wait_for(ROWS, || {
        let rows = atomic::read(Path::new(&transcript)).ok().flatten().unwrap_or_default();
        arrival = judge(&rows, id, &file);
        arrival == Arrival::Whole
    });
    let whole = arrival == Arrival::Whole;
    let arrived = What::Arrived { token: id.to_owned(), whole };
    Journal::of_session(places, child).record(places, clock::now(), arrived);
    if !whole {
        state::update(places, child, |s| s.notes.missing = Some(deliver::path(places, &token)))?;
    }
    Ok(())
}

/// The carrier that takes over from the module, if any.
pub fn next_carrier(facts: &Facts, token: &Token) -> Option<Carrier> {
    if token.carrier != Carrier::Mod {
        return None;
    }
    let tried: Vec<_> = token.tried.iter().chain([&token.carrier]).copied().collect();
    facts.carrier_after(&tried).chosen.filter(|c| *c != Carrier::Manual)
}

/// Why a token makes no more progress, if so. `agents`: agents may still be running.
fn stuck_reason(
    token: &Token,
    agents: bool,
    now: Time,
    settings: &BoundarySettings,
) -> Option<EndReason> {
    let wait = wait(token, agents, settings).filter(|wait| wait.owner == Owner::Waiter)?;
    wait.limit.filter(|limit| now - token.since > *limit).map(|_| wait.why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::tests::token;
    use guard::boundary::Client;

    fn stage(client: Client) -> (tempfile::TempDir, Env, Places) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        let token = Token { client: Some(client), since: clock::now(), ..token(Step::Delivered) };
        boundary::create(&places, &token).unwrap();
        (dir, env, places)
    }

    #[test]
    fn it_ends_with_its_client() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let client = state::client(child.id()).unwrap();
        let (_dir, env, places) = stage(client);
        let watched = std::thread::spawn({
            let places = places.clone();
            move || watch(&env, &places, "t", &BoundarySettings::default())
        });
        child.kill().unwrap();
        child.wait().unwrap();
        watched.join().unwrap().unwrap();
        let token = boundary::load(&places, "t").unwrap().unwrap();
        assert_eq!((token.step, token.why), (Step::Failed, Some(EndReason::ClientEnded)));
    }

    #[test]
    fn a_second_one_for_the_same_token_ends_at_once() {
        let own = state::client(std::process::id()).unwrap();
        let (_dir, env, places) = stage(own);
        let _first = lock::acquire(&watch::waiter_lock(&places, "t"), Duration::ZERO).unwrap();
        watch(&env, &places, "t", &BoundarySettings::default()).unwrap();
        assert_eq!(boundary::load(&places, "t").unwrap().unwrap().step, Step::Delivered);
    }

    #[test]
    fn each_step_has_its_time() {
        let settings = BoundarySettings::default();
        let beside = |agents, step, seconds, carrier| {
            let t = Token { carrier, ..token(step) };
            stuck_reason(&t, agents, t.since + chrono::Duration::seconds(seconds), &settings)
        };
        let at = |step, seconds, carrier| beside(false, step, seconds, carrier);
        assert_eq!(at(Step::Pending, 80, Carrier::Mod), None);
        assert!(at(Step::Pending, 81, Carrier::Mod).is_some());
        assert_eq!(beside(true, Step::Pending, 680, Carrier::Mod), None);
        assert!(beside(true, Step::Pending, 681, Carrier::Mod).is_some());
        assert_eq!(at(Step::Pending, 660, Carrier::Tmux), None);
        assert!(at(Step::Pending, 661, Carrier::Tmux).is_some());
        assert_eq!(at(Step::Pending, 99_999, Carrier::Manual), None, "another one's to end");
        assert_eq!(at(Step::Clearing, 20, Carrier::Mod), None);
        assert!(at(Step::Clearing, 21, Carrier::Mod).is_some());
        assert_eq!(at(Step::Clearing, 600, Carrier::Tmux), None);
        assert!(at(Step::Clearing, 601, Carrier::X11).is_some());
        assert!(at(Step::Cleared, 61, Carrier::Mod).is_some());
        assert_eq!(at(Step::Delivered, 5_000, Carrier::Mod), None);
        assert!(at(Step::Delivered, 9_000, Carrier::Mod).is_some());
    }
}
