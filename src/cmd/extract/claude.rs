//! Extracts from Claude Code sessions into a new session, with surgery's exporter and checks. The
//! session itself is never written: a running client only appends, and would undo the change.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use super::planned::How;
use super::record;
use super::run::{counted, merged_settings};
use super::source::{self, Source};
use crate::cli::ExtractArgs;
use crate::cmd::surgery::extracted::Chosen;
use crate::cmd::surgery::pipeline;
use crate::cmd::surgery::source::Store;
use crate::cmd::surgery::target::{Destination, client_folder};
use crate::cmd::surgery::view::resume_command;
use crate::cmd::{Context, Exit, Failure, import, show, succession};
use ::surgery::plan::{Performed, Plan, in_whole};
use ::surgery::table::short;
use base::env::Env;
use base::shown::local_minute;
use sessions::operation::{Extraction, Fidelity, Operation, Order};
use sessions::round::Session;
use store::extracted::Record;

/// The answer if nothing could be extracted.
#[derive(Serialize)]
struct Nothing {
    session: String,
    id: Option<String>,
    extracted: [(); 0],
}

impl fmt::Display for Nothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "nothing to extract from {}; `brain-guard extract plan` says what stays, and why",
            self.session
        )
    }
}

/// Makes a new session without the values that the settings extract.
///
/// # Errors
/// A session that cannot be read, or an export that fails; no session is made then.
pub fn run(
    context: Context,
    source: &Source,
    args: &ExtractArgs,
    how: &How,
) -> anyhow::Result<Exit> {
    let store = Store::open(context.env)?;
    let session = store.session(context.env, Some(&source.path.to_string_lossy()))?;
    let order = Order::from(Operation::Extract(args.what.clone().into()));
    if how.here {
        return succession::ask(context, &store, &session, order);
    }
    let planned = pipeline::plan_sessions(context, &store, &session, &order)?;
    if planned.plans.is_empty() {
        show(&Nothing { session: session.id, id: None, extracted: [] }, args.json)?;
        return Ok(Exit::Done);
    }
    if !how.again && !how.dry_run {
        refuse_second_copy(context.env, &store, &session)?;
    }
    let to = Destination { out: how.out.as_deref(), dry_run: how.dry_run };
    let made = pipeline::make(context, &store, planned, to)?;
    let made = made.first().context("nothing was made")?;
    if made.path.is_some() {
        log(&format!("claude/{}", made.id), &made.extracted);
    }
    show(made, args.json)?;
    Ok(Exit::Done)
}

/// The plan of an extraction, and the values that it takes.
///
/// # Errors
/// A session that cannot be read.
pub fn plan(
    Context { env, now }: Context,
    session: &Session,
    extraction: &Extraction,
    fidelity: Fidelity,
) -> anyhow::Result<(Plan, Chosen)> {
    let settings = merged_settings(env, extraction)?;
    let path = session.source.as_deref().context("the session's file is not known")?;
    let source = source::open(&import::root(env)?, Path::new(path))?;
    let (planned, .., cost) = counted(&source, &settings, now, 0)?;
    let redact = !settings.keep_purge_control_calls;
    let chosen = Chosen::of_plan(planned.plan.items, redact, cost);
    let performed = Performed::Extract {
        keep_recent: settings.keep_recent,
        min_value_length: settings.min_value_length,
        trigger_types: settings.trigger_types,
    };
    Ok((in_whole(session.clone(), performed, fidelity), chosen))
}

/// Checks that no session that `extract run` made from this one is still there. A second one would
/// be forgotten, or continued by mistake.
///
/// # Errors
/// There is one; the error says how to continue, remove, or make another.
fn refuse_second_copy(env: &Env, store: &Store, session: &Session) -> anyhow::Result<()> {
    let mut exports = store.index.exports()?.into_iter().rev();
    let copy = exports.find(|export| {
        Performed::is_extraction(&export.operation)
            && export.removed.is_none()
            && export.detail.sources.iter().any(|(_, id)| *id == session.id)
            && Path::new(&export.path).is_file()
    });
    let Some(copy) = copy else { return Ok(()) };
    let (path, cwd) = (Path::new(&copy.path), session.cwd.as_deref());
    let own = cwd.and_then(|cwd| client_folder(env, cwd));
    let id = own.filter(|own| path.parent() == Some(own)).map(|_| copy.id.as_str());
    let name = short(&copy.id);
    let what = format!(
        "{} was extracted already, into {name} ({})",
        short(&session.id),
        local_minute(Some(copy.made))
    );
    let hint = format!(
        "nothing was written.\n  continue it    {}\n  remove it      brain-guard surgery remove {name}\n  make another   the same command with --again",
        resume_command(cwd, id, path)
    );
    Err(Failure::refused(what).hint(hint).into())
}

/// Emits one debug record per entry.
fn log(session: &str, records: &[Record]) {
    let mut entries: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
    for extract in records.iter().filter_map(Record::extract) {
        entries.entry(&extract.entry).or_default().push((&extract.key, extract.bytes));
    }
    for (entry, values) in entries {
        record::extracted(session, entry, &values);
    }
}
