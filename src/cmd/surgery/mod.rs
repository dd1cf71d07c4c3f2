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
pub mod pipeline;
mod record;
pub mod remove;
pub mod revive;
mod rows;
pub mod source;
pub mod start;
pub(crate) mod target;
pub mod view;
mod write;

use std::fmt;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use self::made::Made;
use self::source::Store;
use super::{Context, Exit, Failure, Run, err, out, show, succession};
use crate::cli::{ExportArgs, OutputArgs, SurgeryVerb};
use sessions::operation::Operation;

impl Run for SurgeryVerb {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        let Context { env, now } = context;
        match self {
            Self::CompressBefore { session, before, output } => {
                let operation = Operation::CompressBefore(source::when(before, now)?);
                perform(context, session.as_deref(), operation, output)
            }
            Self::CompressEngagement { session, engagement, output } => {
                let operation = Operation::CompressEngagement(engagement.clone());
                perform(context, session.as_deref(), operation, output)
            }
            Self::ExtractEngagement { session, engagement, output } => {
                let operation = Operation::ExtractEngagement(engagement.clone());
                perform(context, session.as_deref(), operation, output)
            }
            Self::Merge { a, b, no_table, output } => {
                let operation = Operation::Merge { with: b.clone(), has_table: !no_table };
                perform(context, Some(a), operation, output)
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
            Self::Revive(args) => args.run(context),
            Self::Log { session, json } => {
                let log = log::Log::of(env, session.as_deref())?;
                if log.is_empty() && !json {
                    err("surgery has made nothing yet");
                }
                show(&log, *json)?;
                Ok(Exit::Done)
            }
            Self::Remove { id, json } => {
                show(&remove::Removal::run(env, now, id.as_deref())?, *json)?;
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

/// Performs an operation that makes one session, and prints that.
fn perform(
    context: Context,
    session: Option<&str>,
    operation: Operation,
    output: &OutputArgs,
) -> anyhow::Result<Exit> {
    let store = Store::open(context.env)?;
    let session = store.session(context.env, session)?;
    let order = output.order(operation);
    if output.here {
        return succession::ask(context, &store, &session, order);
    }
    let made = pipeline::perform(context, &store, &session, &order, output.into())?;
    show(made.first().context("nothing was made")?, output.json)?;
    Ok(Exit::Done)
}

/// The successors of a split or an edit.
#[derive(Serialize)]
struct Children {
    sessions: Vec<Made>,
}

impl fmt::Display for Children {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.sessions.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("\n\n"))
    }
}

/// Splits a session by a map, or by its tags.
fn split(
    context: Context,
    session: Option<&str>,
    map: Option<&Path>,
    run: bool,
    output: &OutputArgs,
) -> anyhow::Result<Exit> {
    let order = output.order(Operation::Split(map.map(source::map).transpose()?));
    // Check for tmux before anything is written.
    let windows = run.then(|| start::Windows::find(context.env)).transpose()?;
    let store = Store::open(context.env)?;
    let session = store.session(context.env, session)?;
    if output.here {
        return succession::ask(context, &store, &session, order);
    }
    let made = pipeline::perform(context, &store, &session, &order, output.into())?;
    let all = Children { sessions: made };
    show(&all, output.json)?;
    let Some(windows) = windows else { return Ok(Exit::Done) };
    for made in &all.sessions {
        let name = view::child(made);
        let window = windows
            .open(context.env, made, &name)
            .with_context(|| format!("{name} was made, but its window could not be opened"))?;
        let line = format!("opened {name} in the tmux window {window}");
        if output.json { err(line) } else { out(line) }
    }
    Ok(Exit::Done)
}
