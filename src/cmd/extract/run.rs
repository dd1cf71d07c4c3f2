//! `extract plan` and `extract run`.

mod execute;

use anyhow::ensure;

use super::planned::{How, Planned};
use super::preview::Preview;
use super::read::{self, Read};
use super::source::{self, Kind, Source};
use super::{numbers, report_left_rows, view};
use crate::cli::ExtractArgs;
use crate::cmd::{Context, Exit, Failure, import, show};
use ::surgery::values::is_copy;
use base::clock::Time;
use base::env::Env;
use extract::entry::Entry;
use extract::plan;
use extract::rules::Stays;
use extract::when;
use sessions::cost::Cost;
use sessions::operation::Extraction;
use sessions::settings::{ExtractSettings, Fixed, triggers};

pub use execute::execute;

/// Shows what would be extracted.
///
/// # Errors
/// A session that cannot be read.
pub fn plan(Context { env, now }: Context, args: &ExtractArgs) -> anyhow::Result<Exit> {
    let settings = merged_settings(env, &args.what.clone().into())?;
    let source = source::find(env, &import::root(env)?, args.session.as_deref())?;
    preview(&source, &settings, now, args.json)
}

fn preview(
    source: &Source,
    settings: &ExtractSettings,
    now: Time,
    json: bool,
) -> anyhow::Result<Exit> {
    let shown = if json { usize::MAX } else { view::SHOWN };
    let (mut planned, preview, cost) = counted(source, settings, now, shown)?;
    // A manual run has no minimum; the report says if `watch` would skip it.
    let fixed = Fixed { min_saving: 0, ..settings.fixed.clone() };
    let by_hand = ExtractSettings { fixed, ..settings.clone() };
    planned.verdict = when::verdict(&planned.look, &by_hand, now);
    let little = source.kind == Kind::Jsonl && when::saves_too_little(&planned.look, settings);
    let report =
        view::PlanReport { source, planned: &planned, preview: &preview, cost, little, now };
    show(&report, json)?;
    Ok(Exit::Done)
}

/// Plans, and counts tokens.
///
/// # Errors
/// A session that cannot be read.
pub fn counted(
    source: &Source,
    settings: &ExtractSettings,
    now: Time,
    shown: usize,
) -> anyhow::Result<(Planned, Preview, Cost)> {
    let mut planned = plan_session(source, settings, now)?;
    planned.read.doubt.tell();
    let preview = Preview::read(source, &planned.plan, shown)?;
    // Counting tokens needs the memory of these entries.
    planned.read.forget(&planned.plan);
    planned.look = numbers::counted(source, &planned, &preview);
    let cost = numbers::cost(source, &planned)?;
    Ok((planned, preview, cost))
}

/// Extracts in place.
///
/// # Errors
/// Any failure leaves the session unchanged.
pub fn run(
    Context { env, now }: Context,
    source: &Source,
    args: &ExtractArgs,
    how: &How,
) -> anyhow::Result<Exit> {
    let settings = merged_settings(env, &args.what.clone().into())?;
    if args.session.is_none() && !how.dry_run {
        let what = format!("{} would be edited in place", source.path.display());
        return Err(Failure::usage(what).hint("name the session").into());
    }
    ensure!(
        how.out.is_none(),
        "--out is for Claude Code's sessions; {} is edited in place",
        source.path.display()
    );
    if how.dry_run {
        return preview(source, &settings, now, args.json);
    }
    report_left_rows(source.file.settle()?);
    let mut planned = plan_session(source, &settings, now)?;
    planned.read.doubt.tell();
    // The plan is complete, so free the memory of the entries.
    planned.read.entries = Vec::new();
    let done = execute(source, &settings, now, &planned)?;
    show(&view::DoneReport { source, done: &done, plan: &planned.plan }, args.json)?;
    Ok(Exit::Done)
}

/// The settings, with what an extraction overrides.
///
/// # Errors
/// An unknown type, or faulty settings: they might extract what the user wants to keep.
pub fn merged_settings(env: &Env, of: &Extraction) -> anyhow::Result<ExtractSettings> {
    let mut settings = super::asked::settings(env)?;
    settings.keep_recent = of.keep_recent.unwrap_or(settings.keep_recent);
    settings.min_value_length = of.min_length.unwrap_or(settings.min_value_length);
    if !of.types.is_empty() {
        settings.trigger_types.clone_from(&of.types);
    }
    for word in &settings.trigger_types {
        triggers(word)?;
    }
    Ok(settings)
}

/// Reads a session and plans.
///
/// # Errors
/// A session that cannot be read.
pub fn plan_session(
    source: &Source,
    settings: &ExtractSettings,
    now: Time,
) -> anyhow::Result<Planned> {
    let read = read::session_for_plan(source, Some(settings))?;
    let is_placeholder = |entry: &Entry, key: &str| read.is_placeholder(entry.row, key);
    let mut plan = plan::plan(&read.entries, settings, now, &is_placeholder, &read.no_gain);
    if source.kind == Kind::Claude {
        fit(&mut plan);
    }
    plan.broken(&read.broken);
    Ok(judged(source, settings, now, read, plan))
}

/// What a plan is worth.
pub fn judged(
    source: &Source,
    settings: &ExtractSettings,
    now: Time,
    read: Read,
    plan: plan::Plan,
) -> Planned {
    let amounts = numbers::amounts(source, &read, &plan);
    let look = numbers::look(&read, &plan, amounts);
    let verdict = when::verdict(&look, settings, now);
    let cold = when::cold(&look, settings, now);
    Planned { read, plan, amounts, look, cold, verdict }
}

/// Keeps only what the new session would contain: not what left the context. A copy is extracted
/// with its text.
fn fit(plan: &mut plan::Plan) {
    let mut away = 0;
    plan.items.retain(|item| {
        let copy = is_copy(&item.key);
        away += u64::from(!copy && !item.sent);
        !copy && item.sent
    });
    if away > 0 {
        *plan.stay.entry(Stays::Away).or_default() += away;
    }
}
