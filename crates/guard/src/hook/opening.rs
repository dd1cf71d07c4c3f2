//! Opens a boundary: checks whether one may start, and creates its token.

use super::facts::Facts;
use super::{notify, watch};
use crate::boundary::{Carrier, Delivery, NOTHING_WRITTEN, Step, Token};
use crate::files::{boundary, jobs};
use crate::journal::What;
use crate::policy::stance::{Cap, Ranks};
use base::clock::Time;
use base::paths::{Places, short_digest};

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
            not_before: self.not_before.max(facts.not_before(&self.job)),
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
) -> Option<String> {
    let reached = facts.session.ranks.context.max(facts.session.ranks.file) > 0;
    let not_wanted = match clear {
        Some(false) => Some("--no-clear was given"),
        None if !reached => Some("no tier is reached (`--clear` asks for one all the same)"),
        _ if !authored => Some(NOTHING_WRITTEN),
        _ if facts.headless_only_coached() => Some("this is a headless run"),
        _ => None,
    };
    if let Some(why) = not_wanted {
        return Some(why.to_owned());
    }
    // No carrier acts during an override, even if the clear was requested.
    if let Some(cap) = facts.pause() {
        return Some(cap.why());
    }
    if facts.carrier().chosen.is_none() {
        return Some(Cap::NoCarrier.why());
    }
    facts.spent(job)
}

/// Opens a boundary if one is due and a carrier can perform it.
///
/// # Errors
/// Why there is none.
pub fn open(facts: &mut Facts, opening: &Opening) -> Result<(), String> {
    if let Some(why) = why_no_boundary(facts, &opening.job, opening.clear, opening.authored) {
        facts.record(What::NoBoundary { why: why.clone() });
        return Err(why);
    }
    let carrier = facts.carrier().chosen.ok_or_else(|| Cap::NoCarrier.why())?;
    let old = facts.token().filter(|t| t.step <= Step::Clearing);
    if let Some(old) = &old {
        facts.change_token(&old.id, |t| t.withdraw("sealed anew", facts.now));
    }
    let mut token = opening.token(facts, carrier);
    token.told = old.is_some_and(|old| old.told);
    if let Err(e) = boundary::create(&facts.places, &token) {
        facts.fault("token not written, so no boundary", &e);
        return Err("its token could not be written".to_owned());
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
