//! `surgery` and `export-claude`: a session's history restructured into a new session. Each
//! operation is planned by `surgery::plan` from what is in the store; nothing in the store and
//! no session that was there is altered.

pub mod extracted;
mod freed;
mod lines;
mod log;
pub mod made;
pub mod make;
pub mod numbers;
mod progress;
mod record;
mod rows;
pub mod source;
pub mod start;
mod target;
mod undo;
pub mod view;
mod write;

use std::path::Path;

use anyhow::Context as _;

use self::made::Made;
use self::source::Store;
use super::{Exit, err, out, out_json, tag};
use crate::cli::{ExportArgs, OutputArgs, SurgeryVerb};
use base::clock::Time;
use base::env::Env;
use surgery::plan::{self, Plan};

/// Runs `surgery`.
///
/// # Errors
/// What keeps the operation from being done; nothing is written then.
pub fn run(env: &Env, now: Time, what: SurgeryVerb) -> anyhow::Result<Exit> {
    match what {
        SurgeryVerb::CompressBefore { session, before, output } => {
            let store = Store::open(env)?;
            let before = source::when(&before, now)?;
            let session = store.session(env, session.as_deref())?;
            let plan = plan::compress_before(session, before, output.fidelity.into())?;
            one(env, now, &store, plan, &output)
        }
        SurgeryVerb::CompressEngagement { session, engagement, output } => {
            let store = Store::open(env)?;
            let session = store.session(env, session.as_deref())?;
            tag::valid(&engagement)?;
            let plan = plan::compress_engagement(session, &engagement, output.fidelity.into())?;
            one(env, now, &store, plan, &output)
        }
        SurgeryVerb::ExtractEngagement { session, engagement, output } => {
            let store = Store::open(env)?;
            let session = store.session(env, session.as_deref())?;
            tag::valid(&engagement)?;
            let plan = plan::extract_engagement(session, &engagement, output.fidelity.into())?;
            one(env, now, &store, plan, &output)
        }
        SurgeryVerb::Merge { a, b, no_table, output } => {
            let store = Store::open(env)?;
            let a = store.session(env, Some(&a))?;
            let b = store.session(env, Some(&b))?;
            let mut rows = store.rows(&[&a, &b])?;
            let plan = plan::merge(a, b, output.fidelity.into(), &mut rows)?;
            let plan = Plan { voices: !no_table, ..plan };
            one(env, now, &store, plan, &output)
        }
        SurgeryVerb::Split { session, map, run, output } => {
            split(env, now, session.as_deref(), &map, run, &output)
        }
        SurgeryVerb::Inject(args) => super::inject::run(env, &args),
        SurgeryVerb::Log { session, json } => log::run(env, session.as_deref(), json),
        SurgeryVerb::Undo { id, json } => undo::run(env, now, id.as_deref(), json),
    }
}

/// Runs `export-claude`: each of its options is an operation.
///
/// # Errors
/// As [`run`].
pub fn export(env: &Env, now: Time, args: ExportArgs) -> anyhow::Result<Exit> {
    let ExportArgs { session, what, no_table, output } = args;
    let verb = if let Some(before) = what.full_after {
        SurgeryVerb::CompressBefore { session, before, output }
    } else if let Some(engagement) = what.engagement {
        SurgeryVerb::ExtractEngagement { session, engagement, output }
    } else if let Some(engagement) = what.compress_engagement {
        SurgeryVerb::CompressEngagement { session, engagement, output }
    } else if let Some(map) = what.split {
        SurgeryVerb::Split { session, map, run: false, output }
    } else {
        let [a, b] = <[String; 2]>::try_from(what.merge.unwrap_or_default())
            .map_err(|_| anyhow::anyhow!("--merge takes two sessions"))?;
        SurgeryVerb::Merge { a, b, no_table, output }
    };
    run(env, now, verb)
}

/// Makes one session and tells of it.
fn one(
    env: &Env,
    now: Time,
    store: &Store,
    plan: Plan,
    output: &OutputArgs,
) -> anyhow::Result<Exit> {
    let made = make::one(env, now, store, plan, output)?;
    tell(std::slice::from_ref(&made), output)?;
    Ok(Exit::Done)
}

/// Prints what was made. One is one object in JSON, the children of a split are a list.
///
/// # Errors
/// Values that can't be JSON.
pub fn tell(all: &[Made], output: &OutputArgs) -> anyhow::Result<()> {
    match all {
        [made] if output.json => out_json(&view::json(made)),
        all if output.json => out_json(&all.iter().map(view::json).collect::<Vec<_>>()),
        all => {
            let texts: Vec<String> = all.iter().map(view::text).collect();
            out(texts.join("\n\n"));
            Ok(())
        }
    }
}

fn split(
    env: &Env,
    now: Time,
    session: Option<&str>,
    map: &Path,
    run: bool,
    output: &OutputArgs,
) -> anyhow::Result<Exit> {
    let map = source::map(map)?;
    // Whether the windows can be opened is known before anything is written.
    let windows = run.then(|| start::Windows::find(env)).transpose()?;
    if let Some(out) = output.out.as_deref().filter(|out| !out.is_dir()) {
        anyhow::bail!(
            "{} is no folder: a split makes several files; give a folder that is there with --out",
            out.display()
        );
    }
    let store = Store::open(env)?;
    let session = store.session(env, session)?;
    let plans = plan::split(&session, &map, output.fidelity.into())?;
    let all = make::all(env, now, &store, plans, output)?;
    if output.json {
        out_json(&all.iter().map(view::json).collect::<Vec<_>>())?;
    } else {
        tell(&all, output)?;
    }
    let Some(windows) = windows else { return Ok(Exit::Done) };
    for made in &all {
        let name = view::child(made);
        let window = windows
            .open(env, made, &name)
            .with_context(|| format!("{name} was made, but its window could not be opened"))?;
        let line = format!("opened {name} in the tmux window {window}");
        if output.json { err(line) } else { out(line) }
    }
    Ok(Exit::Done)
}
