//! `phase`: enters and leaves the phases of a job, and lists them.

mod exit;

use std::collections::BTreeSet;

use anyhow::Context as _;
use serde_json::json;

use super::{Exit, err, out, out_json, stdin_text, whose};
use crate::cli::{PhaseVerb, Whose};
use base::clock::Time;
use base::env::Env;
use guard::compaction::parse;
use guard::files::{jobs, origin};
use guard::hook::facts::Facts;
use guard::job::Phase;
use guard::job::phase::{self, Missing};
use guard::job::{COACH_LETTERS, phase_name};

/// Runs the verb.
///
/// # Errors
/// No session, or what the system says of the job's files.
pub fn run(env: &Env, now: Time, whose: &Whose, what: PhaseVerb) -> anyhow::Result<Exit> {
    let found = match what {
        PhaseVerb::List { .. } => whose::find_or_last(env, whose)?,
        _ => whose::find(env, whose)?,
    };
    let facts = whose::facts(env, now, &found)?;
    match what {
        PhaseVerb::Enter { name, coach } => enter(&facts, &name, coach),
        PhaseVerb::Exit { notes } => exit::run(&facts, &notes),
        PhaseVerb::List { json } => list(&facts, &whose::job(&facts), json),
    }
}

fn usage(why: impl std::fmt::Display) -> Exit {
    err(why);
    Exit::Usage
}

fn refused(why: impl std::fmt::Display) -> Exit {
    err(why);
    Exit::Refused
}

fn enter(facts: &Facts, name: &str, coach: Option<String>) -> anyhow::Result<Exit> {
    let name = match phase_name(name) {
        Ok(name) => name,
        Err(why) => return Ok(usage(why)),
    };
    let coach = if coach.as_deref() == Some("-") { Some(stdin_text()?) } else { coach };
    if coach.as_ref().is_some_and(|text| text.chars().count() > COACH_LETTERS) {
        return Ok(usage(format_args!(
            "--coach may have {COACH_LETTERS} letters; keep the rest in a file and name it"
        )));
    }
    let open = match whose::open(facts)? {
        Ok(open) => open,
        Err(exit) => return Ok(exit),
    };
    let job = &open.job;
    let document = parse(&open.text, &facts.settings.file.shape);
    let had: BTreeSet<_> = document.entries().map(|entry| entry.id).collect();
    let record = jobs::record(&facts.places, job);
    if let Some(open) = &record.phase {
        return Ok(refused(format_args!(
            "the phase {:?} is open{}; leave it first with `brain-guard phase exit`",
            open.name,
            since(open.entered)
        )));
    }
    // What others wrote into the record is nobody's word here.
    let own = origin::origin(&facts.places, job).is_own();
    let kept = || phase::coaching(&record, &name).filter(|_| own).map(str::to_owned);
    let coach = coach.or_else(kept).or_else(|| facts.settings.phases.coach(&name));
    let phase = Phase {
        name,
        coach: coach.unwrap_or_default().trim().to_owned(),
        entered: Some(facts.now),
        session: facts.id.to_owned(),
        had: had.into_iter().collect(),
        wrote: Vec::new(),
        coached: false,
    };
    jobs::change_record(&facts.places, job, |record| record.phase = Some(phase.clone()))
        .with_context(|| format!("could not write the record of the job {job}"))?;
    out(format_args!("entered the phase {:?} of the job {job}", phase.name));
    if !phase.coach.is_empty() {
        out(format_args!("\n{}\n", phase.coach));
    }
    out(asked(facts, &phase));
    Ok(Exit::Done)
}

/// What the exit will ask for.
fn asked(facts: &Facts, phase: &Phase) -> String {
    let shape = &facts.settings.file.shape;
    let steps = facts.settings.phases.steps(&phase.name);
    let missing = phase::missing(shape, phase, steps, &parse("", shape), &[]);
    let needs = |missing: &Missing| match missing {
        Missing::Section(index) => shape.name(Some(*index)).to_owned(),
        Missing::Reflection { section, needs, .. } => {
            format!("{} ({needs} that reflect on the work)", shape.name(Some(*section)))
        }
        Missing::Steering => "and a steering note on what this coaching did to the work".to_owned(),
    };
    let needs: Vec<_> = missing.iter().map(needs).collect();
    format!(
        "to leave it: `brain-guard phase exit`, with entries of this phase (or `none: why`) in {}",
        needs.join(", ")
    )
}

fn since(entered: Option<Time>) -> String {
    entered.map_or_else(String::new, |at| {
        format!(" since {}", at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
    })
}

fn list(facts: &Facts, job: &str, json: bool) -> anyhow::Result<Exit> {
    let record = jobs::record(&facts.places, job);
    let shape = &facts.settings.file.shape;
    let source = jobs::read(&facts.places, job)?.unwrap_or_default();
    let document = parse(&source, shape);
    let lacks: Vec<String> = record
        .phase
        .iter()
        .flat_map(|open| {
            let steps = facts.settings.phases.steps(&open.name);
            phase::missing(shape, open, steps, &document, &[])
        })
        .map(|one| one.named(shape).to_string())
        .collect();
    if json {
        let open = record.phase.as_ref().map(|open| {
            json!({
                "name": open.name, "entered": open.entered, "session": open.session,
                "coach": open.coach, "missing": lacks,
            })
        });
        out_json(&json!({"job": job, "phase": open, "left": record.phases}))?;
        return Ok(Exit::Done);
    }
    match &record.phase {
        None => out(format_args!("the job {job} is in no phase")),
        Some(open) => {
            out(format_args!(
                "the job {job} is in the phase {:?}{}",
                open.name,
                since(open.entered)
            ));
            if !open.coach.is_empty() {
                out(format_args!("its coaching: {}", open.coach));
            }
            if lacks.is_empty() {
                out("an exit would lack nothing");
            } else {
                out(format_args!("an exit would lack:\n  {}", lacks.join("\n  ")));
            }
        }
    }
    for past in &record.phases {
        let at = |time: Option<Time>| {
            time.map_or_else(|| "?".to_owned(), |at| at.format("%Y-%m-%d %H:%M").to_string())
        };
        out(format_args!("left: {:?}, {} to {} UTC", past.name, at(past.entered), at(past.left)));
    }
    Ok(Exit::Done)
}
