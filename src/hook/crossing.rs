//! From a seal to a token: what the hooks do after the agent's own verbs.

use std::time::Duration;

use serde_json::json;

use super::facts::Facts;
use super::jobs::{self as session_jobs, Focus};
use crate::boundary::{Carrier, Delivery, EDITED, MOVED_ON, SEALED_ANEW, Step, Token, budget};
use crate::carrier::waiter;
use crate::clock::Time;
use crate::log;
use crate::settings::Mode;
use crate::store::paths::{Places, short_digest};
use crate::store::requests::{self, Request};
use crate::store::sealing::{self, Outcome};
use crate::store::{boundary, jobs, prompts, state};

/// How long blocks stay lifted after a boundary failed.
const LIFTED_MINUTES: i64 = 15;

fn lifted_for() -> chrono::Duration {
    chrono::Duration::minutes(LIFTED_MINUTES)
}

/// Seals the session's file as it stands, without a word from the agent.
fn seal_now(facts: &Facts) -> std::io::Result<Outcome> {
    let Facts { places, session, settings, now, .. } = facts;
    sealing::run(places, &session.job, session, settings, None, *now, false)
}

/// After a shell call that ran our verbs: takes what they asked for, seals again
/// after a late append, and lets the prompts join their job. What is to be said to
/// the agent of it, if anything.
pub fn after_verbs(facts: &mut Facts, command: &str) -> Option<String> {
    if let Err(e) = prompts::flush(&facts.places, &facts.session.job, facts.id) {
        facts.fault("prompts not moved", &e);
    }
    let taken = take_requests(facts);
    let writes = [" append ", " close "].iter().any(|verb| command.contains(verb));
    let waits = |t: &Token| t.step == Step::Pending && t.delivery == Delivery::Sealed;
    if !taken.sealed && writes && facts.token().is_some_and(|t| waits(&t)) {
        reseal(facts);
    }
    taken.note
}

/// What the session's verbs had asked for.
#[derive(Debug, Default)]
pub struct Taken {
    /// A seal was among it.
    pub sealed: bool,
    /// For the agent: what came out otherwise than it may expect.
    pub note: Option<String>,
}

/// Takes what the session's verbs asked for, in order: what came last holds.
pub fn take_requests(facts: &mut Facts) -> Taken {
    let mut taken = Taken::default();
    for request in requests::take(&facts.places, facts.id) {
        match request {
            Request::Seal { job, version, clear, authored, .. } => {
                taken.sealed = true;
                // A focus in the same command may have given the job another name.
                let mirrored = if facts.places.job(&job).is_dir() {
                    jobs::mirror(&facts.places, &job)
                } else {
                    Ok(())
                };
                if let Err(e) = mirrored {
                    facts.fault("sealed versions not mirrored", &e);
                }
                // A refusal is logged, and the seal itself says it.
                let opening = Opening::of_seal(&facts.places, &job, version, clear, authored);
                let _ = open(facts, &opening);
            }
            Request::Focus { job, adopted, created, clear, .. } => {
                let ask = Focus { job: &job, adopted: adopted.as_deref(), created, clear };
                taken.note = session_jobs::focus(facts, &ask);
            }
            Request::Pause { job, .. } => {
                session_jobs::pause(facts, &job);
                taken.note = None;
            }
            Request::Complete { job, version, .. } => {
                taken.note = session_jobs::complete(facts, &job, version);
            }
        }
    }
    taken
}

/// A boundary that is asked for.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The job that crosses.
    pub job: String,
    /// What of it.
    pub delivery: Delivery,
    /// Version of the sealed file, 0 where none crosses.
    pub version: u64,
    /// Path of the text that is delivered.
    pub text: String,
    /// It was asked for in so many words, or against.
    pub clear: Option<bool>,
    /// The session wrote something of its own.
    pub authored: bool,
}

impl Opening {
    /// The boundary that a seal asks for.
    pub fn of_seal(
        places: &Places,
        job: &str,
        version: u64,
        clear: Option<bool>,
        authored: bool,
    ) -> Self {
        let text = jobs::sealed_path(places, job, version).display().to_string();
        let job = job.to_owned();
        Self { job, delivery: Delivery::Sealed, version, text, clear, authored }
    }

    /// Its token, as it begins.
    pub fn token(&self, facts: &Facts, carrier: Carrier) -> Token {
        let seed = format!("{}{}{}", facts.id, self.text, facts.now.to_rfc3339());
        Token {
            id: short_digest(seed.as_bytes()),
            job: self.job.clone(),
            parent: facts.id.to_owned(),
            child: None,
            step: Step::Pending,
            why: None,
            carrier,
            waits: None,
            tried: Vec::new(),
            delivery: self.delivery,
            inject: facts.settings.boundary.inject,
            kicks_off: false,
            version: self.version,
            sealed: self.text.clone(),
            client: facts.session.client,
            created: facts.now,
            since: facts.now,
            notice_until: None,
            cancelled: false,
            cut: false,
            unanswered: 0,
            retry_at: None,
        }
    }
}

/// Why no boundary is opened, in words for the agent and the log; `None` if it is.
pub fn why_no_boundary(
    facts: &Facts,
    job: &str,
    clear: Option<bool>,
    authored: bool,
) -> Option<Refusal> {
    let reached = facts.session.ranks.context.max(facts.session.ranks.file) > 0;
    let calls = || state::calls(&facts.places, facts.id);
    let not_wanted = match clear {
        Some(false) => Some("--no-clear was given"),
        None if !reached => Some("no tier is reached (`--clear` asks for one all the same)"),
        _ if !authored => Some("nothing was written in this session"),
        _ if facts.settings.mode == Mode::Shadow => Some("shadow mode is on"),
        // Asked for or not: while it stands, no carrier acts.
        _ if facts.session.overridden(facts.now, calls) => Some("the operator's override stands"),
        _ if facts.headless_only_coached() => Some("this is a headless run"),
        _ => None,
    };
    if let Some(why) = not_wanted {
        return Some(Refusal { why: why.to_owned(), lifts_until: None });
    }
    if facts.carrier().chosen.is_none() {
        let why = "no carrier can clear this session now".to_owned();
        return Some(Refusal { why, lifts_until: Some(facts.now + lifted_for()) });
    }
    let earlier = boundary::times(&facts.places, job);
    let spent = budget::check(&earlier, facts.now, &facts.settings.boundary).err()?;
    Some(Refusal { why: spent.why, lifts_until: Some(spent.until) })
}

/// Why there is no boundary, and until when that lifts the blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub why: String,
    /// Until when nothing is blocked for want of a way out.
    pub lifts_until: Option<Time>,
}

/// Opens a boundary, if one is due and can be carried out.
///
/// # Errors
/// Why there is none.
pub fn open(facts: &mut Facts, opening: &Opening) -> Result<(), Refusal> {
    if let Some(refusal) = why_no_boundary(facts, &opening.job, opening.clear, opening.authored) {
        let details = json!({"session": facts.id, "why": refusal.why});
        log::write(&facts.places.log(), facts.now, "no-boundary", &details);
        if let Some(until) = refusal.lifts_until {
            facts.update(|s| s.lifted = Some((until, refusal.why.clone())));
            facts.session.lifted = Some((until, refusal.why.clone()));
        }
        return Err(refusal);
    }
    let failed = |why: &str| Refusal { why: why.to_owned(), lifts_until: None };
    let Some(carrier) = facts.carrier().chosen else {
        return Err(failed("no carrier can clear this session now"));
    };
    if let Some(old) = facts.token().filter(|t| t.step <= Step::Clearing) {
        let replaced = boundary::update(&facts.places, &old.id, |t| t.fail(SEALED_ANEW, facts.now));
        if let Err(e) = replaced {
            facts.fault("token not ended", &e);
        }
    }
    let token = opening.token(facts, carrier);
    if let Err(e) = boundary::create(&facts.places, &token) {
        facts.fault("token not written, so no boundary", &e);
        return Err(failed("its token could not be written"));
    }
    facts.update(|s| {
        s.token = Some(token.id.clone());
        s.lifted = None;
        s.stop_blocks = 0;
    });
    facts.session.token = Some(token.id.clone());
    // From the seal on: a client that dies before the turn's end leaves nothing open.
    if let Err(e) = waiter::start(facts.env, &facts.places, &token.id) {
        facts.fault("waiter not started", &e);
    }
    log::write(
        &facts.places.log(),
        facts.now,
        "boundary",
        &json!({
            "token": token.id, "session": facts.id, "job": token.job, "version": token.version,
            "carrier": carrier.name(), "delivery": token.delivery,
        }),
    );
    Ok(())
}

/// Seals again after an append behind the seal, so that nothing written is left out.
fn reseal(facts: &mut Facts) {
    let outcome = seal_now(facts);
    let Some(id) = facts.session.token.clone() else { return };
    let moved = match outcome {
        Ok(Outcome::Sealed(sealed, path)) => boundary::update(&facts.places, &id, |t| {
            t.version = sealed.report.version;
            t.sealed = path.display().to_string();
        }),
        Ok(Outcome::Refused(_) | Outcome::NoFile) => boundary::update(&facts.places, &id, |t| {
            t.fail("the file grew past the block band after its seal", facts.now);
        }),
        Err(e) => Err(e),
    };
    if let Err(e) = moved {
        facts.fault("not sealed again", &e);
    }
}

/// The mechanical seal at a turn's end that nobody would go on from.
/// `true` if a boundary was opened.
pub fn seal_for_the_agent(facts: &mut Facts) -> bool {
    let session = facts.session.clone();
    let text = jobs::read(&facts.places, &session.job).ok().flatten().unwrap_or_default();
    let authored = sealing::authored(&text, &session, &facts.settings).entries > 0;
    let outcome = seal_now(facts);
    match outcome {
        Ok(Outcome::Sealed(sealed, _)) => {
            let version = sealed.report.version;
            let opening = Opening::of_seal(&facts.places, &session.job, version, None, authored);
            if let Err(e) = jobs::mirror(&facts.places, &session.job) {
                facts.fault("sealed versions not mirrored", &e);
            }
            // Another boundary may stand, and a refusal lifts what has to be lifted.
            let _ = open(facts, &opening);
            facts.session.token.is_some()
        }
        Ok(Outcome::Refused(_) | Outcome::NoFile) => false,
        Err(e) => {
            facts.fault("not sealed at the turn's end", &e);
            false
        }
    }
}

/// Blocks are lifted for a while, since no way out exists.
pub fn lift(facts: &Facts, why: &str) {
    facts.update(|s| s.token = None);
    raise(facts, why);
}

fn failed(token: &Token) -> String {
    format!("the last boundary failed: {}", token.why.as_deref().unwrap_or("no reason given"))
}

fn raise(facts: &Facts, why: &str) {
    let until = facts.now + lifted_for();
    facts.update(|s| s.lifted = Some((until, why.to_owned())));
    log::write(&facts.places.log(), facts.now, "lifted", &json!({"session": facts.id, "why": why}));
}

/// Ends what is over: a failed boundary lifts the blocks, an answered one is forgotten.
pub fn tidy(facts: &mut Facts) {
    let Some(token) = facts.token() else { return };
    if token.step == Step::Failed && token.why.as_deref() == Some(EDITED) {
        // Kept for `explain`; the next seal puts a new one in its place.
        return;
    }
    if token.given_up_on_clear() {
        // Kept: the clear may still come.
        if facts.session.lifted.is_none() {
            raise(facts, &failed(&token));
            reload(facts);
        }
        return;
    }
    if token.step == Step::Failed {
        let why = failed(&token);
        if matches!(token.why.as_deref(), Some(SEALED_ANEW | MOVED_ON)) {
            facts.update(|s| s.token = None);
        } else {
            lift(facts, &why);
        }
        reload(facts);
        return;
    }
    if token.child.as_deref() != Some(facts.id) {
        return;
    }
    if token.step >= Step::Cleared {
        let moved = boundary::update(&facts.places, &token.id, |t| {
            t.advance(Step::Acknowledged, facts.now);
        });
        if let Err(e) = moved {
            facts.fault("token not moved", &e);
        }
        log::write(
            &facts.places.log(),
            facts.now,
            "acknowledged",
            &json!({"token": token.id, "session": facts.id}),
        );
    }
    facts.update(|s| s.token = None);
    reload(facts);
}

fn reload(facts: &mut Facts) {
    if let Ok(Some(session)) = state::load(&facts.places, facts.id) {
        facts.session = session;
    }
}

/// Waits for what the main hook of the same event writes down first.
pub fn wait_for(limit: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let step = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    while waited < limit {
        if ready() {
            return true;
        }
        std::thread::sleep(step);
        waited += step;
    }
    false
}
