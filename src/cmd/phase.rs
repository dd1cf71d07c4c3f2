//! `phase`: enters and leaves the phases of a job, and lists them.

mod exit;

use std::collections::BTreeSet;
use std::fmt;

use anyhow::Context as _;
use serde::Serialize;

use super::{Context, Exit, Failure, Run, out, selector, show, stdin_text};
use crate::cli::{PhaseArgs, PhaseVerb};
use base::clock::Time;
use base::shown::local_minute;
use guard::files::jobs;
use guard::hook::boundary_flow;
use guard::hook::facts::Facts;
use notes::compaction::parse;
use notes::job::phase::{self, Missing};
use notes::job::{COACH_LETTERS, PastPhase, Phase, phase_name};

impl Run for PhaseArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let found = match self.what {
            PhaseVerb::List { .. } => selector::find_or_last(env, &self.selector)?,
            _ => selector::find(env, &self.selector)?,
        };
        let mut facts = selector::facts(env, now, &found)?;
        match &self.what {
            PhaseVerb::Enter { name, coach } => enter(&mut facts, name, coach.as_deref())?,
            PhaseVerb::Exit { notes } => {
                exit::run(&mut facts, notes)?;
                boundary_flow::after_note(&facts);
            }
            PhaseVerb::List { json } => show(&Phases::of(&facts, selector::job(&facts))?, *json)?,
        }
        Ok(Exit::Done)
    }
}

fn enter(facts: &mut Facts, name: &str, coach: Option<&str>) -> anyhow::Result<()> {
    let name = phase_name(name).map_err(Failure::usage)?;
    let coach = if coach == Some("-") { Some(stdin_text()?) } else { coach.map(str::to_owned) };
    if coach.as_ref().is_some_and(|text| text.chars().count() > COACH_LETTERS) {
        let what = format!("--coach may have {COACH_LETTERS} letters");
        return Err(Failure::usage(what).hint("keep the rest in a file and name it").into());
    }
    let open = selector::open(facts)?;
    let job = &open.job;
    let document = parse(&open.text, &facts.settings.file.shape);
    let had: BTreeSet<_> = document.entries().map(|entry| entry.id).collect();
    let record = jobs::record(&facts.places, job);
    if let Some(open) = &record.phase {
        let what = format!("the phase {:?} is open{}", open.name, since(open.entered));
        return Err(Failure::refused(what)
            .hint("leave it first with `brain-guard phase exit`")
            .into());
    }
    let kept = || phase::coaching(&record, &name).map(str::to_owned);
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
    out(exit_requirements(facts, &phase));
    Ok(())
}

/// What the exit will require.
fn exit_requirements(facts: &Facts, phase: &Phase) -> String {
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
    entered.map_or_else(String::new, |at| format!(" since {}", local_minute(Some(at))))
}

/// The phases of a job: the present one and past ones.
#[derive(Debug, Serialize)]
struct Phases {
    job: String,
    phase: Option<Open>,
    left: Vec<PastPhase>,
}

/// A phase that has not been left.
#[derive(Debug, Serialize)]
struct Open {
    name: String,
    entered: Option<Time>,
    session: String,
    coach: String,
    /// What an exit would lack now.
    missing: Vec<String>,
}

impl Phases {
    fn of(facts: &Facts, job: String) -> anyhow::Result<Self> {
        let record = jobs::record(&facts.places, &job);
        let shape = &facts.settings.file.shape;
        let source = jobs::read(&facts.places, &job)?.unwrap_or_default();
        let document = parse(&source, shape);
        let open = record.phase.map(|open| {
            let steps = facts.settings.phases.steps(&open.name);
            let missing = phase::missing(shape, &open, steps, &document, &[]);
            Open {
                missing: missing.iter().map(|one| one.describe(shape).to_string()).collect(),
                name: open.name,
                entered: open.entered,
                session: open.session,
                coach: open.coach,
            }
        });
        Ok(Self { job, phase: open, left: record.phases })
    }
}

impl fmt::Display for Phases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let job = &self.job;
        match &self.phase {
            None => writeln!(f, "the job {job} is in no phase")?,
            Some(open) => {
                let since = since(open.entered);
                writeln!(f, "the job {job} is in the phase {:?}{since}", open.name)?;
                if !open.coach.is_empty() {
                    writeln!(f, "its coaching: {}", open.coach)?;
                }
                match open.missing.join("\n  ") {
                    none if none.is_empty() => writeln!(f, "an exit would lack nothing")?,
                    missing => writeln!(f, "an exit would lack:\n  {missing}")?,
                }
            }
        }
        for past in &self.left {
            let (entered, left) = (local_minute(past.entered), local_minute(past.left));
            writeln!(f, "left: {:?}, {entered} to {left}", past.name)?;
        }
        Ok(())
    }
}
