//! Assigns a job to a session when it starts: the job it had, one from its fork parent, or an
//! offer. Also links the session to the one before it.

use super::facts::Facts;
use super::opening::Opening;
use super::{boundary_flow, phase};
use crate::boundary::{Carrier, Delivery, Step, Token};
use crate::files::{boundary, jobs, state};
use crate::session::Session;
use crate::texts::{Text, render};
use base::atomic;
use base::clock;
use base::shown::age;
use notes::compaction;
use notes::job::{Holder, Link, State};
use std::time::Duration;

/// A job is offered for this many days after its last change: one that somebody named, and a
/// default one.
const NAMED_DAYS: i64 = 30;
const DEFAULT_DAYS: i64 = 1;

/// How long one event of a command waits for what the other does.
const OTHER_EVENT: Duration = Duration::from_secs(2);

/// The session that this client was in before.
pub fn left_seat(facts: &Facts) -> Option<String> {
    let client = facts.env.client_pid().and_then(state::client)?;
    let before = state::seat(&facts.places, client.pid).filter(|id| id != facts.id)?;
    let session = state::load(&facts.places, &before).ok()??;
    (session.client == Some(client)).then_some(before)
}

/// Gives a resumed session its job again, or tells who works on it. Returns the line for the agent.
pub fn resumed(facts: &mut Facts) -> Option<String> {
    let job = jobs::current_name(&facts.places, &facts.session.job);
    if facts.session.notes.handed_on {
        // What others wrote since is not its own.
        super::jobs::switch(facts, &job, false);
        facts.update(|s| s.notes.handed_on = false);
    }
    take(facts, &job)
}

/// Gives a fork the job of `parent`, whose client switched to the fork.
pub fn forked(facts: &mut Facts, parent: &str) -> Option<String> {
    let before = state::load(&facts.places, parent).ok()??;
    let inherit = |s: &mut Session| {
        s.parent = Some(parent.to_owned());
        s.notes.inherited.clone_from(&before.notes.inherited);
        (s.notes.born_words, s.last_human) = (before.notes.born_words, before.last_human);
    };
    facts.update(inherit);
    let line = take(facts, &before.job);
    link(facts, parent, None);
    line
}

fn take(facts: &mut Facts, job: &str) -> Option<String> {
    if job.is_empty() {
        return None;
    }
    let Some(why) = refused(facts, job) else {
        set(facts, job);
        return holds(facts);
    };
    match jobs::claim_default(&facts.places, &clock::local_date()) {
        Ok(own) => set(facts, &own),
        Err(e) => facts.fault("no default job", &e),
    }
    Some(render(&facts.places, Text::NotHeld, &[("job", job), ("why", &why)]))
}

fn set(facts: &mut Facts, job: &str) {
    if facts.session.job != job {
        facts.update(|s| (s.job, s.notes.counted) = (job.to_owned(), None));
    }
}

/// Takes the job for the session. Returns the reason if that is impossible.
fn refused(facts: &Facts, job: &str) -> Option<String> {
    match jobs::record(&facts.places, job).state {
        State::Active => {}
        State::Paused => {
            return Some(format!("is paused (`brain-guard job resume {job}` resumes it)"));
        }
        State::Completed => return Some("is complete".to_owned()),
    }
    let client = facts.env.client_pid().and_then(state::client);
    let me = Holder { session: facts.id.to_owned(), client };
    match jobs::take_job(&facts.places, job, &me) {
        Ok(Ok(())) => None,
        Ok(Err(other)) => {
            let pid = other.client.map_or(0, |c| c.pid);
            Some(format!("is worked on by the session {} (process {pid})", other.session))
        }
        Err(e) => {
            facts.fault("job not taken", &e);
            None
        }
    }
}

/// One line about the session's job, if it has a file.
fn holds(facts: &Facts) -> Option<String> {
    let job = facts.session.job.as_str();
    let live = facts.places.compaction(job);
    if !live.exists() {
        return None;
    }
    let (phase, live) = (phase::phase_name(facts, job), live.display().to_string());
    let values = [("job", job), ("phase", phase.as_str()), ("live", live.as_str())];
    Some(render(&facts.places, Text::Holds, &values))
}

/// Offers a new interactive session an unfinished job that nobody works on: one line for the agent,
/// one for the user. `/brain-guard:resume` takes it.
pub fn offer(facts: &mut Facts) -> Option<(String, String)> {
    if !facts.seen.interactive {
        return None;
    }
    let written = |job: &String| {
        let (nanos, _) = atomic::stat(&facts.places.compaction(job))?;
        Some(chrono::DateTime::from_timestamp_nanos(nanos))
    };
    let mut jobs: Vec<_> = jobs::all(&facts.places)
        .into_iter()
        .filter_map(|job| Some((written(&job)?, job)))
        .filter(|(at, _)| facts.now - *at < chrono::Duration::days(NAMED_DAYS))
        .collect();
    jobs.sort();
    let (at, job) = jobs.into_iter().rev().find(|(at, job)| {
        let record = jobs::record(&facts.places, job);
        let default = jobs::auto(&facts.places, job, &record);
        let days = if default { DEFAULT_DAYS } else { NAMED_DAYS };
        record.state == State::Active
            && facts.now - *at < chrono::Duration::days(days)
            && authored(facts, job)
            && jobs::holder(&facts.places, job).is_none()
    })?;
    facts.update(|s| s.offered = Some(job.clone()));
    let (age, phase) = (age(facts.now - at), phase::phase_name(facts, &job));
    let values = [("job", job.as_str()), ("age", age.as_str()), ("phase", phase.as_str())];
    let text = |text| render(&facts.places, text, &values);
    Some((text(Text::Offer), text(Text::UserOffer)))
}

/// Continues the job that the session was offered: its notes come with the prompt. `None` if none
/// was offered.
///
/// # Errors
/// Why the session can't take it.
pub fn resume_offered(facts: &mut Facts) -> Option<Result<(), String>> {
    let job = facts.session.offered.clone()?;
    if let Some(why) = refused(facts, &job) {
        return Some(Err(format!("the job {job} {why}")));
    }
    if facts.token().is_some_and(|t| t.awaits_carrier_or_held(facts.id)) {
        return Some(
            Err("this session is about to be cleared; type it in the next one".to_owned()),
        );
    }
    // The client sends two events for one command. One of them takes the job.
    let taken = state::update(&facts.places, facts.id, |s| s.offered.take());
    let Ok(Some(_)) = taken else {
        wait_for_offered(facts);
        return facts.session.token.is_some().then_some(Ok(()));
    };
    facts.session.offered = None;
    let holder = facts.asker().holder();
    if let Err(e) = jobs::release(&facts.places, &facts.session.job, &holder) {
        facts.fault("job not released", &e);
    }
    super::jobs::switch(facts, &job, false);
    let opening = Opening {
        text: facts.places.compaction(&job).display().to_string(),
        job,
        delivery: Delivery::Reload,
        version: 0,
        clear: Some(true),
        authored: true,
        not_before: None,
    };
    let token = opening.token(facts, Carrier::Manual);
    let token = Token { step: Step::Cleared, child: Some(facts.id.to_owned()), ..token };
    if let Err(e) = boundary::create(&facts.places, &token) {
        return Some(Err(format!("its notes can't be handed over: {e}")));
    }
    facts.update(|s| s.token = Some(token.id.clone()));
    Some(Ok(()))
}

/// Waits until another hook of the same prompt has taken the job that was offered.
pub fn wait_for_offered(facts: &mut Facts) {
    if facts.session.offered.is_none() || facts.session.token.is_some() {
        return;
    }
    let mut session = None;
    let (places, id) = (&facts.places, facts.id);
    boundary_flow::wait_for(OTHER_EVENT, || {
        session = state::load(places, id).ok().flatten();
        session.as_ref().is_some_and(|s| s.token.is_some())
    });
    if let Some(session) = session {
        facts.session = session;
    }
}

fn authored(facts: &Facts, job: &str) -> bool {
    let text = jobs::read(&facts.places, job).ok().flatten().unwrap_or_default();
    let document = compaction::parse(&text, &facts.settings.file.shape);
    !jobs::authored_ids(&document).is_empty()
}

/// Records in the job that this session follows `from`, and makes this session its holder. The job
/// is the token's, or the session's own without one.
pub fn link(facts: &Facts, from: &str, token: Option<&Token>) {
    let job = token.map_or(facts.session.job.as_str(), |t| t.job.as_str());
    if !jobs::exists(&facts.places, job) {
        return;
    }
    let sealed = |t: &Token| !t.delivery.focuses();
    let link = Link {
        from: from.to_owned(),
        to: facts.id.to_owned(),
        version: token.filter(|t| sealed(t)).map(|t| t.version),
        at: facts.now,
    };
    let over = token.is_some_and(|t| t.delivery == Delivery::Transition);
    let written = jobs::lock(&facts.places, job).and_then(|_held| {
        jobs::change_record(&facts.places, job, |record| {
            if record.lineage.last().is_none_or(|last| last.to != link.to) {
                record.lineage.push(link);
            }
            let ours = |h: &&mut Holder| h.client.is_some() && h.client == facts.session.client;
            if let Some(holder) = record.holder.as_mut().filter(ours).filter(|_| !over) {
                facts.id.clone_into(&mut holder.session);
            }
        })
    });
    if let Err(e) = written {
        facts.fault("lineage not written", &e);
    }
}
