//! `SessionStart`, `PreCompact`, `PostModelSwitch`: how a session starts and what changes under it.

use super::event::{Event, Kind, Source};
use super::facts::Facts;
use super::reply::{Agent, Reply};
use super::{
    after_surgery, bearings, deliver, job_assignment, jobs as session_jobs, limits, notify,
    session_end, start_lines, withdrawal,
};
use crate::boundary::{Carrier, EndReason, Step, Token};
use crate::files::state;
use crate::files::{boundary, commits, jobs, sealing};
use crate::journal::What;
use crate::policy::coach::Told;
use crate::policy::stance::Ranks;
use crate::session::{Activity, First, KnownLimits, NotesState, Notified, Override, Session};
use base::env;
use notes::compaction;
use sessions::gauge::WindowSource;

/// Creates and saves a session with the day's next default job.
pub fn begin(facts: &Facts, first: First) -> Session {
    let client = facts.env.client_pid().and_then(state::client);
    let job = jobs::claim_default(&facts.places, &base::clock::local_date()).unwrap_or_else(|e| {
        facts.fault("no default job", &e);
        format!("session-{}", facts.id)
    });
    let session = Session {
        job,
        client,
        plugin: facts.env.get(env::PLUGIN_ROOT),
        first,
        started: Some(facts.now),
        start_commit: commits::head(&facts.places.project),
        settings: facts.session.settings.clone().or_else(|| Some(facts.files.texts.clone())),
        transcript: facts.transcript.as_ref().map(|p| p.to_string_lossy().into_owned()),
        mode: facts.mode.clone(),
        ..Session::default()
    };
    write(facts, facts.id, session)
}

/// Saves a session's first state, unless a parallel hook did.
fn write(facts: &Facts, id: &str, session: Session) -> Session {
    let kept = state::update(&facts.places, id, |s| {
        if s.started.is_none() {
            *s = session.clone();
        }
        s.clone()
    });
    if let Some(client) = session.client
        && let Err(e) = state::take_seat(&facts.places, client, id)
    {
        facts.fault("seat not taken", &e);
    }
    kept.unwrap_or_else(|e| {
        facts.not_kept(&e);
        session
    })
}

/// `SessionStart`.
pub fn start(facts: &mut Facts, event: &Event, source: Source, model: Option<&str>) -> Reply {
    let is_resumed = matches!(source, Source::Resume | Source::Fork);
    let left = is_resumed.then(|| job_assignment::left_seat(facts)).flatten();
    if source == Source::Resume
        && let Some(from) = &left
        && after_surgery::follow(facts, event, from)
    {
        apply_model(facts, model);
        facts.look_around();
        return Reply::default();
    }
    match source {
        Source::Startup => {
            let moved = start_lines::moved_project_line(facts);
            facts.session = begin(facts, First::Base);
            apply_model(facts, model);
            facts.look_around();
            let (agent, offer) = job_assignment::offer(facts).unzip();
            let user: Vec<String> = moved.into_iter().chain(offer).collect();
            Reply {
                agent: agent.map(|line| Agent::Note("SessionStart", line)),
                user: (!user.is_empty()).then(|| user.join("\n")),
                wake: None,
            }
        }
        Source::Resume | Source::Fork => {
            let uncached = match event.kind {
                Kind::SessionStart { uncached, .. } => uncached,
                _ => None,
            };
            if facts.unseen {
                facts.session = begin(facts, First::Grace);
                if uncached.is_some() {
                    facts.update(|s| s.uncached = uncached);
                }
            } else {
                reset_readings(facts, First::Grace);
                // The client's exit cut this turn, so no other event ends it. Whoever resumes the
                // session sees that it is over.
                facts.update(|s| {
                    (s.turn, s.asked, s.uncached) = (None, false, uncached);
                    s.notified.need = Some(Activity::TurnOver);
                });
            }
            apply_model(facts, model);
            facts.look_around();
            let line = match left.filter(|_| source == Source::Fork && facts.unseen) {
                Some(parent) => job_assignment::forked(facts, &parent),
                None => job_assignment::resumed(facts),
            };
            let mut reply =
                line.map_or_else(Reply::default, |line| Reply::note("SessionStart", line));
            reply.user =
                session_end::take_up_boundary(facts).or_else(|| start_lines::refusal_line(facts));
            reply
        }
        Source::Compact => {
            reset_readings(facts, First::Grace);
            apply_model(facts, model);
            let by_tier = facts.token().is_some_and(|token| token.asked != Ranks::default());
            let is_unwanted = by_tier && facts.attended();
            let withdrawn =
                is_unwanted.then(|| withdrawal::withdraw(facts, "it was compacted")).flatten();
            Reply { user: withdrawn, ..bearings::compacted(facts) }
        }
        Source::Clear => cleared(facts, event),
    }
}

fn apply_model(facts: &mut Facts, model: Option<&str>) {
    match model {
        Some(model) => switch_model(facts, model),
        None => limits::refresh(facts),
    }
}

/// Switches the model and forgets the window reported for the former one.
pub fn switch_model(facts: &mut Facts, model: &str) {
    let change = |s: &mut Session| {
        if s.model.as_deref() != Some(model) {
            (s.limits.reported_window, s.limits.window, s.limits.reported_limit) =
                (None, None, None);
        }
        s.model = Some(model.to_owned());
    };
    facts.update(change);
    limits::refresh(facts);
}

/// Resets the readings of a session that continues.
fn reset_readings(facts: &mut Facts, first: First) {
    let client = facts.env.client_pid().and_then(state::client);
    let plugin = facts.env.get(env::PLUGIN_ROOT);
    facts.update(|s| {
        s.plugin.clone_from(&plugin);
        (s.first, s.grace, s.ranks) = (first, None, Ranks::default());
        (s.notified.agent, s.notified.user, s.notified.denial) = (Told::default(), None, None);
        // The module's last reading covers content that is gone.
        (s.reading, s.uncached) = (None, None);
        s.ended = None;
        s.client = client.or(s.client);
    });
    let Some(client) = client else { return };
    if let Err(e) = state::take_seat(&facts.places, client, facts.id) {
        facts.fault("seat not taken", &e);
    }
}

/// `PreCompact`: records the client's own compaction.
pub fn before_compaction(facts: &mut Facts, by_person: bool) -> Reply {
    if by_person {
        facts.saw_typing(facts.now);
    }
    facts.record(What::ClientCompaction);
    Reply::default()
}

fn cleared(facts: &mut Facts, event: &Event) -> Reply {
    let client = facts.env.client_pid().and_then(state::client);
    // The seat is taken together with the session's state. If the client kills this hook at its
    // timeout, the next call can then continue.
    let parent_id = client
        .and_then(|c| state::seat_before(&facts.places, c, facts.id))
        .or_else(|| facts.session.parent.clone())
        .filter(|id| base::paths::is_safe_name(id));
    let parent = parent_id.as_deref().and_then(|id| state::load(&facts.places, id).ok().flatten());
    let (Some(parent_id), Some(mut parent)) = (parent_id, parent) else {
        facts.session = begin(facts, First::Base);
        facts.look_around();
        limits::refresh(facts);
        return Reply::default();
    };
    let token = parent.token.as_deref().or(facts.session.token.as_deref());
    let crossing = token.and_then(|id| advance_token(facts, id));
    parent.job = jobs::current_name(&facts.places, &parent.job);
    let ended = crossing.is_none().then(|| next_default(facts, &parent.job)).flatten();
    if let Some(next) = &ended {
        parent.job.clone_from(next);
    }
    let child = child_of(facts, event, &parent_id, &parent, crossing.as_ref());
    facts.session = write(facts, facts.id, child);
    facts.update_of(&parent_id, |s| s.notes.handed_on = true);
    facts.unseen = false;
    limits::refresh(facts);
    if ended.is_some() {
        let (offer, user) = job_assignment::offer(facts).unzip();
        let note = bearings::begun_anew(facts, event, &parent, offer);
        return Reply { user, ..Reply::note("SessionStart", note) };
    }
    job_assignment::link(facts, &parent_id, crossing.as_ref().map(|(token, _)| token));
    let Some((token, by_hand)) = crossing else {
        return Reply::note("SessionStart", bearings::bearings(facts, event, &parent, None));
    };
    facts.update_of(&parent_id, |s| s.token = None);
    notify::tell(facts, "goes on in a fresh session");
    let bearings = format!("{}\n\n", bearings::bearings(facts, event, &parent, Some(&token)));
    let whole = by_hand.then(|| deliver::claim_piece(facts, &token, 1, &bearings)).flatten();
    Reply::note("SessionStart", whole.unwrap_or_else(|| bearings.trim_end().to_owned()))
}

/// The new default job of a session whose user cleared another default one. With it that piece of
/// work ends, as with a new client. A job that somebody named stays.
fn next_default(facts: &Facts, job: &str) -> Option<String> {
    if !jobs::auto(&facts.places, job, &jobs::record(&facts.places, job)) {
        return None;
    }
    let next = jobs::claim_default(&facts.places, &base::clock::local_date());
    next.map_err(|e| facts.fault("no default job", &e)).ok()
}

/// Advances the token of a cleared session, and returns whether the hooks deliver. They do unless
/// the plugin module cleared. `None` if the token is past that or its sealed file was edited.
fn advance_token(facts: &Facts, id: &str) -> Option<(Token, bool)> {
    if let Ok(Some(token)) = boundary::load(&facts.places, id)
        && (token.step < Step::Cleared || token.clear_timed_out())
    {
        session_jobs::freeze(facts, &token);
    }
    let cleared = facts.change_token(id, |token| {
        if token.step == Step::Cleared && token.child.as_deref() == Some(facts.id) {
            return Some((token.clone(), token.hooks_deliver(), false));
        }
        if token.step == Step::Unsealed {
            // The user cleared before anything was sealed.
            token.withdraw("the user cleared the session", facts.now);
            return None;
        }
        let fresh = sealing::fresh_version(&facts.places, &token.job, &facts.settings);
        let revived = token.revive(facts.now);
        if token.step >= Step::Cleared && !revived {
            return None;
        }
        // Once the carrier clears, the sealed version is delivered despite later edits.
        if token.step == Step::Pending && !token.stands(fresh) {
            token.fail(EndReason::Edited, facts.now);
            return None;
        }
        if token.step == Step::Pending {
            (token.carrier, token.kicks_off) = (Carrier::Manual, false);
        }
        let by_hand = token.hooks_deliver();
        token.child = Some(facts.id.to_owned());
        token.advance(Step::Cleared, facts.now);
        Some((token.clone(), by_hand, true))
    });
    let (token, by_hand, is_new) = cleared??;
    if !is_new && boundary::times(&facts.places, &token.job).contains(&token.since) {
        return Some((token, by_hand));
    }
    if let Err(e) = boundary::record(&facts.places, &token.job, token.since) {
        facts.fault("boundary not recorded", &e);
    }
    Some((token, by_hand))
}

fn child_of(
    facts: &Facts,
    event: &Event,
    parent_id: &str,
    parent: &Session,
    crossing: Option<&(Token, bool)>,
) -> Session {
    let text = jobs::read(&facts.places, &parent.job).ok().flatten().unwrap_or_default();
    let document = compaction::parse(&text, &facts.settings.file.shape);
    Session {
        job: parent.job.clone(),
        started: Some(facts.now),
        start_commit: commits::head(&facts.places.project),
        parent: Some(parent_id.to_owned()),
        settings: parent.settings.clone(),
        notified: Notified { settings: parent.notified.settings.clone(), ..Notified::default() },
        model: parent.model.clone(),
        limits: KnownLimits {
            reported_window: parent.limits.reported_window,
            reported_limit: parent.limits.reported_limit,
            window: parent.limits.window.filter(|w| w.source == WindowSource::Observed),
            ..KnownLimits::default()
        },
        client: parent.client,
        plugin: facts.env.get(env::PLUGIN_ROOT),
        reach: parent.reach.clone(),
        transcript: event.transcript.map(str::to_owned),
        first: First::Base,
        first_bytes: crossing.map_or(0, |(token, _)| {
            deliver::load_notes(facts, token).map_or(0, |text| text.len() as u64) + 2_000
        }),
        last_human: parent.last_human,
        notes: NotesState {
            inherited: jobs::authored_ids(&document),
            born_words: compaction::measure(&document).total as u64,
            ..NotesState::default()
        },
        token: crossing.map(|(token, _)| token.id.clone()),
        override_: parent.override_.filter(|o| *o != Override::UntilClear),
        mode: parent.mode.clone(),
        ..Session::default()
    }
}
