//! The job verbs on disk. Each effect happens completely or not at all. The verbs of one project
//! run one after the other. What they mean for the session that asks, the hook does afterwards.

use std::io;

use super::asker::{Asker, lock_jobs};
use super::holders::{release_locked, take_locked};
use super::{adopt, read, sealed_path};
use super::{all, begin, change_record, current_name, exists, holder, is_default, lock, record};
use crate::files::{boundary, sealing};
use base::paths::Places;
use notes::compaction::{self, EntryId, Role};
use notes::job::refusal::{Missing, Refusal, Taken};
use notes::job::transition::{Effect, Held, Seen, Situation, Transition, UnderWay};
use notes::job::transition::{Verb, meant, transition};
use notes::job::{Record, State};

/// Runs a verb: decides, then applies all its effects or none. `name` is the job's name as given.
/// Fails while another process holds the lock.
pub fn run(
    asker: &Asker,
    verb: Verb,
    name: Option<&str>,
) -> io::Result<Result<Transition, Refusal>> {
    steps(asker, verb, name, usize::MAX)
}

/// Like [`run`], but stops after `limit` effects. Tests use it as a kill.
pub fn steps(
    asker: &Asker,
    verb: Verb,
    name: Option<&str>,
    limit: usize,
) -> io::Result<Result<Transition, Refusal>> {
    let _moving = lock_jobs(asker.places)?;
    let decided = situation(asker, verb, name).and_then(|at| transition(verb, &at));
    let found = match decided {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    sweep(asker)?;
    for effect in found.effects.iter().take(limit) {
        if let Err(refusal) = apply(asker, effect)? {
            return Ok(Err(refusal));
        }
    }
    Ok(Ok(found))
}

/// Releases jobs that a killed verb left held.
fn sweep(asker: &Asker) -> io::Result<()> {
    let (me, own) = (asker.holder(), asker.job());
    for job in all(asker.places) {
        if job != own {
            super::release(asker.places, &job, &me)?;
        }
    }
    Ok(())
}

/// The job's state, as the session sees it.
pub fn inspect_job(asker: &Asker, job: &str) -> Seen {
    let Asker { places, .. } = asker;
    let record = exists(places, job).then(|| record(places, job));
    let me = asker.holder();
    let held = match holder(places, job) {
        None => Held::Nobody,
        Some(holder) if holder.is_same_worker(&me) => Held::Me,
        Some(holder) => Held::Other(holder),
    };
    Seen {
        name: job.to_owned(),
        file: places.compaction(job).exists(),
        auto: record.as_ref().map_or_else(|| is_default(places, job), |r| auto(places, job, r)),
        record,
        held,
    }
}

/// Whether nobody has named the job. An adopted job has another name, so a kill during the adoption
/// cannot adopt it twice.
pub fn auto(places: &Places, job: &str, record: &Record) -> bool {
    is_default(places, job) && (record.auto || record.created.is_none())
}

/// Collects the facts a verb decides by. Refuses a `resume` without a name if no job, or more than
/// one, matches.
pub fn situation(asker: &Asker, verb: Verb, name: Option<&str>) -> Result<Situation, Refusal> {
    let Asker { places, id, session, settings, .. } = asker;
    let known = all(places);
    let named = match name {
        Some(name) => Some(inspect_job(asker, &current_name(places, name))),
        None if verb == Verb::Resume => {
            let seen: Vec<Seen> = known.iter().map(|job| inspect_job(asker, job)).collect();
            Some(meant(&seen, id)?.clone())
        }
        None => None,
    };
    let own = inspect_job(asker, &asker.job());
    let own_name = own.name.as_str();
    let taken = named.as_ref().filter(|named| named.record.is_none()).and_then(|named| {
        let twin = known.iter().find(|job| job.eq_ignore_ascii_case(&named.name));
        let claimed = || is_default(places, &named.name) && places.job(&named.name).exists();
        match twin {
            Some(twin) => Some(Taken::Twin(twin.clone())),
            None if own_name != named.name && claimed() => Some(Taken::Default),
            None => None,
        }
    });
    let sealed = sealing::fresh_version(places, own_name, settings);
    let summed = verb == Verb::Complete && wrote_summary(asker, own_name);
    Ok(Situation {
        session: (*id).to_owned(),
        taken,
        asked: session.asked && !session.residue,
        under_way: under_way(asker),
        sealed,
        summed,
        own,
        named,
        known,
    })
}

/// The session's boundary, if it waits for a carrier.
fn under_way(asker: &Asker) -> Option<UnderWay> {
    let token = boundary::load(asker.places, asker.session.token.as_deref()?).ok()??;
    token.awaits_carrier_or_held(asker.id).then(|| UnderWay {
        job: token.job.clone(),
        delivery: token.delivery,
        clearing: token.step > crate::boundary::Step::Pending,
    })
}

/// Whether this session wrote the job's Prior Summary: it sealed or appended one, or the summary
/// has an entry that the session did not begin with.
fn wrote_summary(asker: &Asker, job: &str) -> bool {
    let Asker { places, id, session, settings, .. } = asker;
    let record = record(places, job);
    if record.summary.as_ref().is_some_and(|summary| summary.session == *id) {
        return true;
    }
    let shape = &settings.file.shape;
    let ids = |text: &str, summary: bool| -> Vec<EntryId> {
        let document = compaction::parse(text, shape);
        let role = |e: &&compaction::Entry| {
            !summary || e.section.is_some_and(|index| shape.role(index) == Role::Summary)
        };
        document.entries().filter(|e| !e.none).filter(role).map(|e| e.id).collect()
    };
    let text = |version| base::atomic::read_text(&sealed_path(places, job, version));
    let began = record.lineage.iter().rev().find(|link| link.to == *id);
    let before = match began.and_then(|link| link.version) {
        Some(version) => text(version).ok().flatten(),
        // Only a job created in this session began with nothing.
        None => (record.created >= session.started && session.started.is_some()).then(String::new),
    };
    let (Some(before), Ok(Some(now))) = (before, read(places, job)) else { return false };
    let before = ids(&before, false);
    ids(&now, true).iter().any(|id| !before.contains(id))
}

/// Applies one effect. Refuses, without changing anything, if another session took the job in
/// between. Fails while another process holds the lock.
fn apply(asker: &Asker, effect: &Effect) -> io::Result<Result<(), Refusal>> {
    let Asker { places, .. } = asker;
    let me = asker.holder();
    match effect {
        Effect::Create(job) | Effect::Take(job) => {
            let _held = lock(places, job)?;
            if let Err(by) = take_locked(places, job, &me)? {
                return Ok(Err(Refusal::Held { job: job.clone(), by, own: Some(asker.job()) }));
            }
            begin(asker, job, false)?;
            change_record(places, job, |record| {
                (record.state, record.paused_by) = (State::Active, None);
            })?;
        }
        Effect::Adopt { from, to } => adopt::adopt(asker, from, to)?,
        Effect::Leave { job, aside } => {
            let _held = lock(places, job)?;
            change_record(places, job, |record| {
                release_locked(record, &me);
                if *aside {
                    (record.state, record.paused_by) = (State::Paused, Some(me.session));
                }
            })?;
        }
        Effect::Close(job) => {
            let _held = lock(places, job)?;
            // An append may have come in since the check.
            if sealing::fresh_version(places, job, asker.settings).is_none() {
                let (job, missing) = (job.clone(), vec![Missing::Seal]);
                return Ok(Err(Refusal::Unfinished { job, missing }));
            }
            change_record(places, job, |record| {
                release_locked(record, &me);
                (record.state, record.paused_by) = (State::Completed, None);
            })?;
        }
    }
    Ok(Ok(()))
}
