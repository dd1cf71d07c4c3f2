//! Opens a boundary: checks whether one may start, and creates its token.

use super::facts::Facts;
use super::{notify, watch};
use crate::boundary::{Carrier, Delivery, NOTHING_WRITTEN, Step, Token, budget};
use crate::files::{boundary, jobs, state};
use crate::journal::What;
use crate::policy::stance::Ranks;
use base::clock::Time;
use base::paths::{Places, short_digest};

const LIFTED_MINUTES: i64 = 15;

/// How long blocks stay lifted after a boundary failed.
pub(super) fn lifted_for() -> chrono::Duration {
    chrono::Duration::minutes(LIFTED_MINUTES)
}

/// A request for a boundary.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The job whose notes are delivered.
    pub job: String,
    /// Which of its texts is delivered.
    pub delivery: Delivery,
    /// Version of the sealed file, 0 if none is delivered.
    pub version: u64,
    /// Path of the text that is delivered.
    pub text: String,
    /// `--clear` (true) or `--no-clear` (false), if given.
    pub clear: Option<bool>,
    /// Whether the session wrote notes of its own.
    pub authored: bool,
    /// The earliest time, if a job that the session left sets a later one.
    pub not_before: Option<Time>,
}

impl Opening {
    /// The boundary that a seal requests.
    pub fn of_seal(
        places: &Places,
        job: &str,
        version: u64,
        clear: Option<bool>,
        authored: bool,
    ) -> Self {
        let text = jobs::sealed_path(places, job, version).display().to_string();
        let job = job.to_owned();
        Self { job, delivery: Delivery::Sealed, version, text, clear, authored, not_before: None }
    }

    /// The token of the new boundary.
    pub fn token(&self, facts: &Facts, carrier: Carrier) -> Token {
        let seed = format!("{}{}{}", facts.id, self.text, facts.now.to_rfc3339());
        Token {
            id: short_digest(seed.as_bytes()),
            job: self.job.clone(),
            asked: if self.clear == Some(true) { Ranks::default() } else { facts.session.ranks },
            parent: facts.id.to_owned(),
            child: None,
            step: Step::Pending,
            why: None,
            carrier,
            waits: None,
            tried: Vec::new(),
            delivery: self.delivery,
            kicks_off: false,
            version: self.version,
            sealed: self.text.clone(),
            client: facts.session.client,
            created: facts.now,
            since: facts.now,
            not_before: self.not_before.max(not_before(facts, &self.job)),
            notice_until: None,
            hold: None,
            told: false,
            at_once: false,
            cut: false,
            unanswered: 0,
            retry_at: None,
        }
    }
}

/// Why no boundary can open, for the agent and the journal. `None` if one can.
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
        _ if !authored => Some(NOTHING_WRITTEN),
        _ if facts.settings.is_shadow() => Some("shadow mode is on"),
        // No carrier acts during an override, even if the clear was requested.
        _ if facts.session.overridden(facts.now, calls) => Some("the user paused brain-guard"),
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
    let earlier = earlier_boundaries(facts, job);
    let checked = budget::check(&earlier, facts.now, &facts.settings.boundary);
    checked.err().map(|spent| Refusal { why: spent.why, lifts_until: Some(spent.until) })
}

/// When the next boundary of a job may clear, if its last one was just before.
pub fn not_before(facts: &Facts, job: &str) -> Option<Time> {
    budget::not_before(&earlier_boundaries(facts, job), facts.now, &facts.settings.boundary)
}

/// When the boundaries of a job began. Those of the session's own job count for a new one: otherwise
/// switching to one new job after another would clear without end.
fn earlier_boundaries(facts: &Facts, job: &str) -> Vec<Time> {
    let earlier = boundary::times(&facts.places, job);
    if earlier.is_empty() && job != facts.session.job {
        return boundary::times(&facts.places, &facts.session.job);
    }
    earlier
}

/// Why there is no boundary, and how long that lifts the blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub why: String,
    /// When the blocks apply again. Until then the agent would have no way out.
    pub lifts_until: Option<Time>,
}

/// Records a refusal and lifts the blocks if it says so.
pub fn record_refusal(facts: &mut Facts, refusal: &Refusal) {
    facts.record(What::NoBoundary { why: refusal.why.clone() });
    if let Some(until) = refusal.lifts_until {
        facts.update(|s| s.lifted = Some((until, refusal.why.clone())));
    }
}

/// Opens a boundary if one is due and a carrier can perform it.
///
/// # Errors
/// Why there is none.
pub fn open(facts: &mut Facts, opening: &Opening) -> Result<(), Refusal> {
    if let Some(refusal) = why_no_boundary(facts, &opening.job, opening.clear, opening.authored) {
        record_refusal(facts, &refusal);
        return Err(refusal);
    }
    let failed = |why: &str| Refusal { why: why.to_owned(), lifts_until: None };
    let Some(carrier) = facts.carrier().chosen else {
        return Err(failed("no carrier can clear this session now"));
    };
    let old = facts.token().filter(|t| t.step <= Step::Clearing);
    if let Some(old) = &old {
        facts.change_token(&old.id, |t| t.withdraw("sealed anew", facts.now));
    }
    let mut token = opening.token(facts, carrier);
    token.told = old.is_some_and(|old| old.told);
    if let Err(e) = boundary::create(&facts.places, &token) {
        facts.fault("token not written, so no boundary", &e);
        return Err(failed("its token could not be written"));
    }
    facts.update(|s| {
        s.token = Some(token.id.clone());
        s.lifted = None;
        s.stop_blocks = 0;
    });
    // Of notes that are sealed again the user hears once.
    if carrier != Carrier::Manual
        && !token.told
        && notify::tell(facts, "sealed its notes, and restarts from them")
    {
        facts.change_token(&token.id, |t| t.told = true);
    }
    // Starts with the seal, so that a client that dies before its turn ends leaves no open
    // boundary.
    if let Err(e) = watch::start(facts.env, &facts.places, &token.id) {
        facts.fault("waiter not started", &e);
    }
    Ok(())
}
