//! Decides what a job verb does, or refuses it with a way out. This is the only place that knows
//! which step may follow which.

mod terms;

use super::refusal::{Missing, Refusal};
use super::{Record, State};
use crate::job::Delivery;

pub use terms::{Done, Effect, Held, NextWork, Seen, Situation, Transition, UnderWay, Verb};

/// Decides what a verb does.
///
/// # Errors
/// Why it is refused, with the way out.
pub fn transition(verb: Verb, at: &Situation) -> Result<Transition, Refusal> {
    if at.under_way.as_ref().is_some_and(|boundary| boundary.clearing) {
        return Err(Refusal::Clearing);
    }
    match verb {
        Verb::Focus { no_clear } => focus(at, no_clear, false),
        Verb::Resume => focus(at, false, true),
        Verb::Pause => pause(at),
        Verb::Complete => complete(at),
    }
}

fn focus(at: &Situation, no_clear: bool, resume: bool) -> Result<Transition, Refusal> {
    let Some(named) = &at.named else { return Err(Refusal::NothingPaused) };
    let job = named.name.clone();
    if let Held::Other(by) = &named.held {
        let own = Some(at.own.name.clone()).filter(|own| *own != job);
        return Err(Refusal::Held { job, by: by.clone(), own });
    }
    let Some(record) = &named.record else { return begin(at, named, no_clear, resume) };
    let own = at.own.name == job;
    if own && record.state == State::Active {
        return Ok(stays(job));
    }
    let here = own || resume && record.paused_by.as_ref() == Some(&at.session);
    let what = if named.file { Delivery::Reload } else { Delivery::Template };
    let crosses = (!no_clear && !here).then_some(what);
    let mut effects = vec![Effect::Take(job.clone())];
    effects.extend(leave(at, &job));
    let next_work = NextWork::Focus {
        job: job.clone(),
        adopted: None,
        created: !named.file,
        clear: crosses.is_some(),
    };
    let done = Done::Taken { job, reopened: record.state == State::Completed, here };
    Ok(Transition { effects, next_work, crosses, done })
}

/// The session works on this job already.
fn stays(job: String) -> Transition {
    Transition {
        effects: Vec::new(),
        next_work: NextWork::Stays,
        crosses: None,
        done: Done::Stays(job),
    }
}

/// Handles a named job that does not exist yet.
fn begin(
    at: &Situation,
    named: &Seen,
    no_clear: bool,
    resume: bool,
) -> Result<Transition, Refusal> {
    let job = named.name.clone();
    if resume {
        return Err(Refusal::NoSuchJob { job, known: at.known.clone() });
    }
    if at.own.name == job {
        // Its own default job, whose file the first note creates.
        return Ok(stays(job));
    }
    if let Some(taken) = &at.taken {
        return Err(Refusal::NameTaken { job, taken: taken.clone() });
    }
    // The prompt that started the job, and everything found since, are in this conversation. So it
    // is not cleared.
    let own = &at.own;
    let bootstraps = at.asked && own.auto;
    let active = own.record.as_ref().is_some_and(|record| record.state == State::Active);
    if bootstraps && active && !matches!(own.held, Held::Other(_)) {
        let (from, to) = (own.name.clone(), job.clone());
        let (adopted, created) = (Some(from.clone()), !own.file);
        let next_work = NextWork::Focus { job, adopted, created, clear: false };
        let effects = vec![Effect::Adopt { from: from.clone(), to: to.clone() }];
        return Ok(Transition {
            effects,
            next_work,
            crosses: None,
            done: Done::Adopted { from, to },
        });
    }
    let crosses = (!no_clear && !bootstraps).then_some(Delivery::Template);
    let mut effects = vec![Effect::Create(job.clone())];
    effects.extend(leave(at, &job));
    let clear = crosses.is_some();
    let next_work = NextWork::Focus { job: job.clone(), adopted: None, created: true, clear };
    Ok(Transition { effects, next_work, crosses, done: Done::Created(job) })
}

/// What happens to the session's job when it switches to another one.
fn leave(at: &Situation, next: &str) -> Option<Effect> {
    let own = Some(&at.own).filter(|own| own.name != next)?;
    let active = own.record.as_ref()?.state == State::Active;
    let aside = active && !own.auto;
    let mine = !matches!(own.held, Held::Other(_));
    mine.then(|| Effect::Leave { job: own.name.clone(), aside })
}

/// The session's job, if it may change it.
fn own_job(at: &Situation) -> Result<(&Seen, &Record), Refusal> {
    let own = &at.own;
    let record = own.record.as_ref().ok_or(Refusal::NoJob)?;
    match &own.held {
        Held::Other(by) => Err(Refusal::Held { job: own.name.clone(), by: by.clone(), own: None }),
        Held::Nobody | Held::Me => Ok((own, record)),
    }
}

fn pause(at: &Situation) -> Result<Transition, Refusal> {
    let (own, record) = own_job(at)?;
    if record.state == State::Completed {
        return Err(Refusal::NoJob);
    }
    let job = own.name.clone();
    let effects = vec![Effect::Leave { job: job.clone(), aside: true }];
    let next_work = NextWork::Pause { job: job.clone() };
    Ok(Transition { effects, next_work, crosses: None, done: Done::Paused(job) })
}

fn complete(at: &Situation) -> Result<Transition, Refusal> {
    let (own, record) = own_job(at)?;
    let job = own.name.clone();
    if let Some(boundary) = &at.under_way
        && (boundary.delivery != Delivery::Sealed || boundary.job != job)
    {
        return Err(Refusal::OtherBoundary { job: boundary.job.clone() });
    }
    let phase = record.phase.as_ref().map(|phase| Missing::PhaseExit(phase.name.clone()));
    let summary = (!at.summed).then_some(Missing::Summary);
    let seal = at.sealed.is_none().then_some(Missing::Seal);
    let missing: Vec<Missing> = [phase, summary, seal].into_iter().flatten().collect();
    let Some(version) = at.sealed.filter(|_| missing.is_empty()) else {
        return Err(Refusal::Unfinished { job, missing });
    };
    let effects = vec![Effect::Close(job.clone())];
    let next_work = NextWork::Complete { job: job.clone(), version };
    let crosses = Some(Delivery::Transition);
    Ok(Transition { effects, next_work, crosses, done: Done::Completed { job, version } })
}

/// The job that a `resume` without a name means: the one this session paused, otherwise the only
/// free one.
///
/// # Errors
/// There is none, or there are several. The message lists them.
pub fn meant<'a>(jobs: &'a [Seen], session: &str) -> Result<&'a Seen, Refusal> {
    let paused = |seen: &&Seen| {
        let paused = seen.record.as_ref().is_some_and(|record| record.state == State::Paused);
        paused && !matches!(seen.held, Held::Other(_))
    };
    let paused: Vec<&Seen> = jobs.iter().filter(paused).collect();
    let by = |seen: &&&Seen| {
        let record = seen.record.as_ref();
        record.and_then(|record| record.paused_by.as_deref()) == Some(session)
    };
    let mine: Vec<&&Seen> = paused.iter().filter(by).collect();
    match (mine.as_slice(), paused.as_slice()) {
        ([one], _) => Ok(one),
        ([], [one]) => Ok(one),
        ([], []) => Err(Refusal::NothingPaused),
        _ => {
            let names = paused.iter().map(|seen| seen.name.clone()).collect();
            Err(Refusal::SeveralPaused(names))
        }
    }
}

#[cfg(test)]
mod tests;
