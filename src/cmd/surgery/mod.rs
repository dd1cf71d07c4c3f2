//! `surgery` and `export-claude` restructure a session's history into a new session.
//! `surgery::plan` plans each operation from the store; existing sessions and the store's rows are
//! never changed.

mod edit;
pub mod extracted;
mod lines;
mod log;
pub mod made;
pub mod make;
pub mod numbers;
mod outside;
mod record;
mod rows;
pub mod source;
pub mod start;
pub(in crate::cmd) mod target;
mod undo;
pub mod view;
mod write;

use std::fmt;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use self::made::Made;
use self::source::Store;
use super::{Context, Exit, Failure, Run, err, out, show, succession, tag};
use crate::cli::{ExportArgs, OutputArgs, SurgeryVerb};
use surgery::plan::{self, Map, Plan};
use surgery::table::short;

impl Run for SurgeryVerb {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        let Context { env, now } = context;
        match self {
            Self::CompressBefore { session, before, output } => {
                let store = Store::open(env)?;
                let before = source::when(before, now)?;
                let session = store.session(env, session.as_deref())?;
                let plan = plan::compress_before(session, before, output.fidelity.into())?;
                make_and_show(context, &store, plan, output)
            }
            Self::CompressEngagement { session, engagement, output } => {
                let store = Store::open(env)?;
                let session = store.session(env, session.as_deref())?;
                tag::valid(engagement)?;
                let plan = plan::compress_engagement(session, engagement, output.fidelity.into())?;
                make_and_show(context, &store, plan, output)
            }
            Self::ExtractEngagement { session, engagement, output } => {
                let store = Store::open(env)?;
                let session = store.session(env, session.as_deref())?;
                tag::valid(engagement)?;
                let plan = plan::extract_engagement(session, engagement, output.fidelity.into())?;
                make_and_show(context, &store, plan, output)
            }
            Self::Merge { a, b, no_table, output } => {
                let store = Store::open(env)?;
                let a = store.session(env, Some(a))?;
                let b = store.session(env, Some(b))?;
                let plan = plan::merge(a, b, output.fidelity.into())?;
                let plan = Plan { voices: !no_table, ..plan };
                make_and_show(context, &store, plan, output)
            }
            Self::Split { words, by_tag, run, output } => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let (session, map) = match (words.as_slice(), by_tag) {
                    ([], true) => (None, None),
                    ([session], true) => (Some(*session), None),
                    ([map], false) => (None, Some(Path::new(map))),
                    ([session, map], false) => (Some(*session), Some(Path::new(map))),
                    _ => {
                        let what = "a split takes either a map or --by-tag";
                        return Err(Failure::usage(what)
                            .hint("see brain-guard surgery split --help")
                            .into());
                    }
                };
                split(context, session, map, *run, output)
            }
            Self::Edit { session, plan, output } => {
                edit::run(context, session.as_deref(), plan.as_deref(), output)
            }
            Self::Log { session, json } => {
                let log = log::Log::of(env, session.as_deref())?;
                if log.is_empty() && !json {
                    err("surgery has made nothing yet");
                }
                show(&log, *json)?;
                Ok(Exit::Done)
            }
            Self::Undo { id, json } => {
                show(&undo::Undone::run(env, now, id.as_deref())?, *json)?;
                Ok(Exit::Done)
            }
        }
    }
}

impl Run for ExportArgs {
    /// Each option is an operation.
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        let Self { session, what, no_table, output } = self.clone();
        let verb = if let Some(before) = what.full_after {
            SurgeryVerb::CompressBefore { session, before, output }
        } else if let Some(engagement) = what.engagement {
            SurgeryVerb::ExtractEngagement { session, engagement, output }
        } else if let Some(engagement) = what.compress_engagement {
            SurgeryVerb::CompressEngagement { session, engagement, output }
        } else if let Some(map) = what.split {
            return split(context, session.as_deref(), Some(&map), false, &output);
        } else {
            let [a, b] = <[String; 2]>::try_from(what.merge.unwrap_or_default())
                .map_err(|_| Failure::usage("--merge takes two sessions"))?;
            SurgeryVerb::Merge { a, b, no_table, output }
        };
        verb.run(context)
    }
}

/// Makes one session and prints the result.
fn make_and_show(
    Context { env, now }: Context,
    store: &Store,
    plan: Plan,
    output: &OutputArgs,
) -> anyhow::Result<Exit> {
    if output.here {
        return succession::ask(Context { env, now }, store, plan, output, None);
    }
    show(&make::make_session(env, now, store, plan, output)?, output.json)?;
    Ok(Exit::Done)
}

/// The successors of a split or an edit; always a list in JSON.
#[derive(Serialize)]
#[serde(transparent)]
struct Children(Vec<Made>);

impl fmt::Display for Children {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n\n"))
    }
}

/// Splits a session by a map, or by its tags.
fn split(
    Context { env, now }: Context,
    session: Option<&str>,
    map: Option<&Path>,
    run: bool,
    output: &OutputArgs,
) -> anyhow::Result<Exit> {
    let map = map.map(source::map).transpose()?;
    // Check for tmux before anything is written.
    let windows = run.then(|| start::Windows::find(env)).transpose()?;
    if let Some(out) = output.out.as_deref().filter(|out| !out.is_dir()) {
        let what = format!("{} is not a folder: a split makes several files", out.display());
        return Err(Failure::refused(what).hint("give a folder that is there with --out").into());
    }
    let store = Store::open(env)?;
    let session = store.session(env, session)?;
    let map = match map {
        Some(map) => map,
        None => Map::by_tag(&session).ok_or_else(|| {
            let what = format!("no round of {} is tagged", short(&session.id));
            Failure::refused(what).hint("tag them first: brain-guard tag --help, or write a map")
        })?,
    };
    let mut plans = plan::split(&session, &map, output.fidelity.into())?;
    if output.here {
        let context = Context { env, now };
        return succession::ask(context, &store, plans.swap_remove(0), output, None);
    }
    let all = Children(make::make_sessions(env, now, &store, plans, output)?);
    show(&all, output.json)?;
    let Some(windows) = windows else { return Ok(Exit::Done) };
    for made in &all.0 {
        let name = view::child(made);
        let window = windows
            .open(env, made, &name)
            .with_context(|| format!("{name} was made, but its window could not be opened"))?;
        let line = format!("opened {name} in the tmux window {window}");
        if output.json { err(line) } else { out(line) }
    }
    Ok(Exit::Done)
}
