//! From a job verb and what is true around it to effects, or to a refusal with its
//! way out. The one place that knows what may follow what.

use super::refusal::{Missing, Refusal};
use super::{Holder, Record, State};
use crate::boundary::Delivery;

/// What is asked. The job a verb names is in the [`Situation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Works on the named job from now on.
    Focus {
        /// The session is not to be cleared for it.
        no_clear: bool,
    },
    /// Puts the session's job aside.
    Pause,
    /// Takes the named job up again.
    Resume,
    /// Closes the session's job.
    Complete,
}

/// A job as a verb finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// Its record; `None` where the name was claimed at most, and there is no job.
    pub record: Option<Record>,
    /// It has a compaction file.
    pub file: bool,
    /// Named by the guard.
    pub auto: bool,
    /// Who works on it.
    pub held: Held,
}

/// Who works on a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// No session that lives.
    Nobody,
    /// The session that asks.
    Me,
    /// Another one.
    Other(Holder),
}

/// Why a name can't become a new job's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// A job of this name is there, in other case.
    Twin(String),
    /// The guard gave it to another session as its default job's.
    Default,
}

/// A boundary that the session ends in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderWay {
    /// The job that crosses.
    pub job: String,
    /// What of it.
    pub delivery: Delivery,
    /// The carrier was told to clear: it can't be taken back.
    pub clearing: bool,
}

/// What is true around a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    /// The session that asks.
    pub session: String,
    /// Its job; `None` right after it left one.
    pub own: Option<Seen>,
    /// The job the verb names; for a `resume` without a name, the one that is meant.
    pub named: Option<Seen>,
    /// Why the name can't become a new job's.
    pub taken: Option<Taken>,
    /// The jobs there are, for who named none of them.
    pub known: Vec<String>,
    /// A person's prompt began the turn.
    pub asked: bool,
    /// The boundary the session ends in.
    pub under_way: Option<UnderWay>,
    /// The version of the own job's file, if its seal is unbroken.
    pub sealed: Option<u64>,
    /// The own job's Prior Summary is this session's work.
    pub summed: bool,
}

/// One thing to do; each is done whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Makes the job, named, from the template, and holds it.
    Create(String),
    /// Gives a default job its name, with all that belongs to it, and holds it.
    Adopt {
        /// The default job.
        from: String,
        /// Its name from now on.
        to: String,
    },
    /// Holds the job, which is active from now on; its file is made where there is none.
    Take(String),
    /// Lets go of the job.
    Leave {
        /// The job.
        job: String,
        /// It is paused from now on.
        aside: bool,
    },
    /// Closes the job and lets go of it.
    Close(String),
    /// Leaves word for the hooks: the session's own job and the boundary are theirs.
    Ask(Ask),
}

/// What the hooks are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// The session works on this job.
    Focus {
        /// The job.
        job: String,
        /// The default job it was.
        adopted: Option<String>,
        /// It is new.
        created: bool,
        /// The session is to be cleared for it.
        clear: bool,
    },
    /// The job was put aside.
    Pause {
        /// The job.
        job: String,
    },
    /// The job is closed.
    Complete {
        /// The job.
        job: String,
        /// Version of its sealed file.
        version: u64,
    },
}

/// What a verb leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// In this order; a kill between two leaves every job whole.
    pub effects: Vec<Effect>,
    /// What the boundary delivers that is asked for; `None` where none is.
    pub crosses: Option<Delivery>,
    /// What was done.
    pub done: Done,
}

/// What a verb did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// It was the session's job already.
    Stays(String),
    /// The session's default job has a name now.
    Adopted {
        /// The default job.
        from: String,
        /// Its name.
        to: String,
    },
    /// The job is new.
    Created(String),
    /// The job is the session's now.
    Taken {
        /// The job.
        job: String,
        /// It was completed.
        reopened: bool,
        /// This session put it aside, so its thread is still here.
        here: bool,
    },
    /// The job was put aside.
    Paused(String),
    /// The job is closed.
    Completed {
        /// The job.
        job: String,
        /// Version of its sealed file.
        version: u64,
    },
}

/// What a verb does.
///
/// # Errors
/// Why it may not, with the way out.
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
        let own = at.own.as_ref().map(|own| own.name.clone()).filter(|own| *own != job);
        return Err(Refusal::Held { job, by: by.clone(), own });
    }
    let Some(record) = &named.record else { return begin(at, named, no_clear, resume) };
    let own = at.own.as_ref().is_some_and(|own| own.name == job);
    if own && record.state == State::Active {
        return Ok(Transition { effects: Vec::new(), crosses: None, done: Done::Stays(job) });
    }
    let here = own || resume && record.paused_by.as_ref() == Some(&at.session);
    let what = if named.file { Delivery::Reload } else { Delivery::Template };
    let crosses = (!no_clear && !here).then_some(what);
    let mut effects = vec![Effect::Take(job.clone())];
    effects.extend(leave(at, &job));
    effects.push(Effect::Ask(Ask::Focus {
        job: job.clone(),
        adopted: None,
        created: !named.file,
        clear: crosses.is_some(),
    }));
    let done = Done::Taken { job, reopened: record.state == State::Completed, here };
    Ok(Transition { effects, crosses, done })
}

/// The named job is none yet.
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
    if at.own.as_ref().is_some_and(|own| own.name == job) {
        // The claimed name of its own default job: made with the first note.
        return Ok(Transition { effects: Vec::new(), crosses: None, done: Done::Stays(job) });
    }
    if let Some(taken) = &at.taken {
        return Err(Refusal::NameTaken { job, taken: taken.clone() });
    }
    // A person's prompt that begins a job is in this conversation, and so is what was
    // found out since: it stays.
    let bootstraps = at.asked && at.own.as_ref().is_none_or(|own| own.auto);
    let adopts = |own: &&Seen| {
        let active = own.record.as_ref().is_some_and(|record| record.state == State::Active);
        bootstraps && active && !matches!(own.held, Held::Other(_))
    };
    if let Some(own) = at.own.as_ref().filter(adopts) {
        let (from, to) = (own.name.clone(), job.clone());
        let (adopted, created) = (Some(from.clone()), !own.file);
        let ask = Ask::Focus { job, adopted, created, clear: false };
        let effects = vec![Effect::Adopt { from: from.clone(), to: to.clone() }, Effect::Ask(ask)];
        return Ok(Transition { effects, crosses: None, done: Done::Adopted { from, to } });
    }
    let crosses = (!no_clear && !bootstraps).then_some(Delivery::Template);
    let mut effects = vec![Effect::Create(job.clone())];
    effects.extend(leave(at, &job));
    let clear = crosses.is_some();
    effects.push(Effect::Ask(Ask::Focus { job: job.clone(), adopted: None, created: true, clear }));
    Ok(Transition { effects, crosses, done: Done::Created(job) })
}

/// What becomes of the session's job when it turns to another one.
fn leave(at: &Situation, next: &str) -> Option<Effect> {
    let own = at.own.as_ref().filter(|own| own.name != next)?;
    let active = own.record.as_ref()?.state == State::Active;
    let aside = active && !own.auto;
    let mine = !matches!(own.held, Held::Other(_));
    mine.then(|| Effect::Leave { job: own.name.clone(), aside })
}

/// The session's job, if there is one that it may change.
fn own(at: &Situation) -> Result<(&Seen, &Record), Refusal> {
    let own = at.own.as_ref().ok_or(Refusal::NoJob)?;
    let record = own.record.as_ref().ok_or(Refusal::NoJob)?;
    match &own.held {
        Held::Other(by) => Err(Refusal::Held { job: own.name.clone(), by: by.clone(), own: None }),
        Held::Nobody | Held::Me => Ok((own, record)),
    }
}

fn pause(at: &Situation) -> Result<Transition, Refusal> {
    let (own, record) = own(at)?;
    if record.state == State::Completed {
        return Err(Refusal::NoJob);
    }
    let job = own.name.clone();
    let effects = vec![
        Effect::Leave { job: job.clone(), aside: true },
        Effect::Ask(Ask::Pause { job: job.clone() }),
    ];
    Ok(Transition { effects, crosses: None, done: Done::Paused(job) })
}

fn complete(at: &Situation) -> Result<Transition, Refusal> {
    let (own, record) = own(at)?;
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
    let mut effects = vec![Effect::Close(job.clone())];
    effects.push(Effect::Ask(Ask::Complete { job: job.clone(), version }));
    let crosses = Some(Delivery::Transition);
    Ok(Transition { effects, crosses, done: Done::Completed { job, version } })
}

/// The paused job that a `resume` without a name means: the one this session put
/// aside, else the only one that nobody works on.
///
/// # Errors
/// None or several; the message lists them.
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
