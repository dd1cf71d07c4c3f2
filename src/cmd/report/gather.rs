//! Reads the sources of a report: transcripts, journals, sealed versions, tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, bail};

use base::clock::Time;
use base::env::Env;
use base::paths::{Places, is_safe_name};
use base::{atomic, rows};
use guard::files::journal::Journal;
use guard::files::{boundary, jobs, state};
use guard::hook::facts::Facts;
use guard::journal::{Line, What};
use guard::report::{Crossing, Point, Report, Seal, Source, Subject};
use notes::compaction;
use sessions::course::Course;
use sessions::fill::BYTES_PER_TOKEN;

/// Times in a session that are needed to measure its boundaries.
#[derive(Default)]
struct Turns {
    ends: Vec<Time>,
    requests: Vec<Time>,
}

///
/// # Errors
/// No such job.
pub(super) fn report(
    env: &Env,
    now: Time,
    places: &Places,
    subject: Subject,
) -> anyhow::Result<Report> {
    let ids = match &subject {
        Subject::Session(id) => vec![id.clone()],
        Subject::Job(name) => sessions(places, name)?,
    };
    let (mut sources, mut turns, mut tokens) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
    for id in &ids {
        let facts = Facts::for_session(env, now, &places.project, id)
            .context("HOME is not set, so there is no place for state")?;
        let lines = Journal::of_session(places, id).lines();
        tokens.extend(lines.iter().filter_map(token));
        let (source, turn) = source(&facts, lines);
        sources.push(source);
        turns.insert(id.clone(), turn);
    }
    let boundaries =
        tokens.iter().filter_map(|id| measure_boundary(env, now, places, id, &mut turns)).collect();
    let project = places.project.display().to_string();
    Ok(Report::of(subject, project, sources, boundaries, now))
}

/// All sessions and jobs, one line each, for the user to choose from.
pub(super) fn list_subjects(places: &Places) -> Vec<String> {
    let all = state::all(places).unwrap_or_default();
    let session = |id: &String| {
        let session = state::load(places, id).ok().flatten()?;
        let at = session.started.map(|at| at.with_timezone(&chrono::Local));
        let at = at.map(|at| at.format(", begun %Y-%m-%d %H:%M").to_string()).unwrap_or_default();
        Some((session.started, format!("session {id} (job {}{at})", session.job)))
    };
    let mut found: Vec<_> = all.iter().filter_map(session).collect();
    found.sort();
    found.into_iter().map(|(_, line)| line).collect()
}

/// The sessions of a job: those in its lineage, and those that work on it now.
fn sessions(places: &Places, job: &str) -> anyhow::Result<Vec<String>> {
    if !is_safe_name(job) {
        bail!("{job:?} can't be a job's name; `brain-guard job list` shows them");
    }
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for link in jobs::record(places, job).lineage {
        ids.extend([link.from, link.to]);
    }
    let all = state::all(places)?;
    let works = |id: &&String| {
        state::load(places, id).ok().flatten().is_some_and(|session| session.job == job)
    };
    ids.extend(all.iter().filter(works).cloned());
    // A session without state has nothing to report.
    ids.retain(|id| all.contains(id));
    if ids.is_empty() {
        let jobs = jobs::all(places);
        let list = if jobs.is_empty() { "none".into() } else { jobs.join(", ") };
        if jobs::exists(places, job) {
            bail!("no session of the job {job} is known in {}", places.project.display());
        }
        bail!("no job {job} in {}; jobs there: {list}", places.project.display());
    }
    Ok(ids.into_iter().collect())
}

fn token(line: &Line) -> Option<String> {
    match &line.what {
        What::Boundary(step) if is_safe_name(&step.token) => Some(step.token.clone()),
        _ => None,
    }
}

fn source(facts: &Facts, events: Vec<Line>) -> (Source, Turns) {
    let session = &facts.session;
    let mut missing = Vec::new();
    let course = match &facts.transcript {
        None => {
            missing.push("its transcript is unknown: no hook has reported it".to_owned());
            Course::default()
        }
        Some(path) => course(path, &mut missing),
    };
    let limits = limits(facts, &course);
    let mut model = None;
    let points = course.used.into_iter().map(|used| {
        model = used.model.clone().or(model.take());
        let limit = limits.get(&model).copied().unwrap_or(1);
        Point::new(used.at, used.tokens, limit, used.model, used.compacted)
    });
    let points: Vec<Point> = points.collect();
    if events.is_empty() {
        missing.push("its journal is empty: below the first tier nothing is written".to_owned());
    }
    let seals = seals(facts, &events);
    let limit = points.last().map_or(u64::MAX, |p| p.limit);
    let source = Source {
        id: facts.id.to_owned(),
        job: session.job.clone(),
        parent: session.parent.clone(),
        started: session.started,
        ended: session.ended,
        ramp: facts.ramp(limit),
        points,
        events,
        seals,
        bytes_per_token: facts
            .transcript_usage()
            .map_or(BYTES_PER_TOKEN, |fill| fill.bytes_per_token),
        missing,
    };
    (source, Turns { ends: course.turn_ends, requests: course.requests })
}

fn course(path: &Path, missing: &mut Vec<String>) -> Course {
    let mut course = Course::default();
    if let Err(e) = rows::lines(path, |line| course.feed(line)) {
        missing.push(if e.kind() == std::io::ErrorKind::NotFound {
            format!(
                "its transcript is not written yet, or gone, so its context usage is unknown: {}",
                path.display()
            )
        } else {
            format!(
                "its transcript can't be read, so its context usage is unknown: {}: {e}",
                path.display()
            )
        });
    }
    if course.unread > 0 {
        missing.push(format!("{} rows of its transcript could not be read", course.unread));
    }
    course
}

/// The limit of each model. The highest usage matters, because it may prove that a window is larger
/// than assumed.
fn limits(facts: &Facts, course: &Course) -> BTreeMap<Option<String>, u64> {
    let mut most: BTreeMap<Option<String>, u64> = BTreeMap::new();
    let mut model = None;
    for used in &course.used {
        model = used.model.clone().or(model);
        let most = most.entry(model.clone()).or_default();
        *most = (*most).max(used.tokens);
    }
    let limit = |(model, most): (Option<String>, u64)| {
        let limit = facts.limit_for(model.as_deref(), most);
        (model, limit)
    };
    most.into_iter().map(limit).collect()
}

/// The versions that the session sealed. The sealed files supply what the journal does not have.
fn seals(facts: &Facts, lines: &[Line]) -> Vec<Seal> {
    let shape = &facts.settings.file.shape;
    let words = |path: &Path| {
        let text = atomic::read_text(path).ok().flatten()?;
        Some(compaction::gauge_words(&text, shape) as u64)
    };
    let mut found: BTreeMap<(String, u64), Seal> = BTreeMap::new();
    for line in lines {
        let What::Sealed(sealed) = &line.what else { continue };
        if !is_safe_name(&sealed.job) {
            continue;
        }
        let path = jobs::sealed_path(&facts.places, &sealed.job, sealed.version);
        let (before, after) = match sealed.words {
            Some((before, after)) => (Some(before), after),
            None => (words(&path.with_extension("raw.md")), words(&path).unwrap_or(0)),
        };
        let seal =
            Seal { at: line.at, job: sealed.job.clone(), version: sealed.version, before, after };
        // Sealing again without a change gives the same version.
        found.entry((sealed.job.clone(), sealed.version)).or_insert(seal);
    }
    found.into_values().collect()
}

/// One boundary. Reads the transcripts of its sessions if they are not in the report.
fn measure_boundary(
    env: &Env,
    now: Time,
    places: &Places,
    id: &str,
    turns: &mut BTreeMap<String, Turns>,
) -> Option<Crossing> {
    let token = boundary::load(places, id).ok().flatten()?;
    for session in [Some(&token.parent), token.child.as_ref()].into_iter().flatten() {
        if !turns.contains_key(session) && is_safe_name(session) {
            let facts = Facts::for_session(env, now, &places.project, session)?;
            let course = facts.transcript.as_deref().map(|path| course(path, &mut Vec::new()));
            let course = course.unwrap_or_default();
            let turn = Turns { ends: course.turn_ends, requests: course.requests };
            turns.insert(session.clone(), turn);
        }
    }
    let child = token.child.as_ref().and_then(|child| turns.get(child));
    let first_request =
        child.and_then(|turns| turns.requests.iter().find(|at| **at >= token.created)).copied();
    let ended = turns.get(&token.parent).and_then(|turns| {
        let before = |at: &&Time| first_request.is_none_or(|first| **at <= first);
        turns.ends.iter().rev().find(before).filter(|at| **at >= token.created)
    });
    let seconds = ended
        .zip(first_request)
        .map(|(end, first)| (first - *end).num_milliseconds() as f64 / 1000.0);
    Some(Crossing {
        token: id.to_owned(),
        job: token.job.clone(),
        from: token.parent.clone(),
        to: token.child.clone(),
        carrier: token.carrier.name().to_owned(),
        step: token.step.name().to_owned(),
        why: token.why.as_ref().map(ToString::to_string),
        version: token.version,
        opened: token.created,
        turn_ended: ended.copied(),
        first_request,
        seconds,
    })
}
