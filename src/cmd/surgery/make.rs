//! Makes sessions from plans: counts, exports, validates, writes and records them. A split
//! publishes none before all are ready.

use super::made::Made;
use std::cell::RefCell;
use std::io;

use anyhow::Context as _;

use super::extracted::{Chosen, Keeper, Shown};
use super::source::Store;
use super::target::{Destination, Target, cwd};
use super::{lines, numbers, outside, record, write};
use crate::cmd::progress::Counted;
use base::clock::Time;
use base::env::Env;
use base::new_file::NewFile;
use store::index::{Detail, Export};
use surgery::export::Birth;
use surgery::plan::Plan;

/// Makes a session from each plan, or none.
///
/// # Errors
/// Unreadable blocks, an unwritable place, or an invalid output.
pub fn make_sessions(
    env: &Env,
    now: Time,
    store: &Store,
    plans: Vec<Plan>,
    chosen: &Chosen,
    to: Destination,
) -> anyhow::Result<Vec<Made>> {
    let count = plans.len();
    let mut ready = Vec::with_capacity(count);
    for (number, mut plan) in plans.into_iter().enumerate() {
        plan.carry(&mut |id| store.known(id));
        plan.folder = store.last_folder(&plan)?;
        let target = Target::of(env, now, &plan, number, to.out)?;
        ready.push(prepare(env, now, store, plan, target, chosen, to.dry_run)?);
    }
    if to.dry_run {
        return Ok(ready.into_iter().map(|ready| ready.made).collect());
    }
    let mut all = Vec::with_capacity(count);
    for Ready { made, draft, keeper } in ready {
        let recorded = draft
            .context("nothing was written")
            .and_then(|draft| publish(store, now, made, draft, &keeper));
        match recorded {
            Ok(made) => {
                outside::tell_clients(env, &made);
                all.push(made);
            }
            Err(why) => {
                for made in &all {
                    take_back(store, now, made);
                }
                return Err(why);
            }
        }
    }
    for made in &mut all {
        tag_rounds(store, made);
    }
    Ok(all)
}

/// Tags the rounds that a split gave to an engagement.
fn tag_rounds(store: &Store, made: &mut Made) {
    let Some((session, engagement)) = made.plan.sessions.first().zip(made.plan.operation.child())
    else {
        return;
    };
    let rounds: Vec<u32> = made.plan.retagged().map(|round| round.seq).collect();
    if rounds.is_empty() {
        return;
    }
    if let Err(why) = store.index.tag(&store.folder(session), &rounds, Some(engagement)) {
        made.notes.push(format!("not all copies of its rounds could be tagged: {why}"));
    }
}

/// A session that is complete except for its name.
struct Ready<'c> {
    made: Made,
    draft: Option<NewFile>,
    keeper: Keeper<'c>,
}

/// Counts, exports and validates.
fn prepare<'c>(
    env: &Env,
    now: Time,
    store: &Store,
    plan: Plan,
    target: Target,
    chosen: &'c Chosen,
    dry_run: bool,
) -> anyhow::Result<Ready<'c>> {
    let Target { id, path, by_id, notes } = target;
    let readers = store.readers(&plan)?;
    let cost = chosen.cost.map_or_else(|| numbers::plan_cost(&plan, &readers, now), Ok)?;
    let cwd = cwd(&plan).unwrap_or_default().to_owned();
    let title = numbers::title(&plan, &readers)?;
    let birth = Birth { id: id.clone(), cwd, now, tokens: cost.after, base: cost.base, title };
    let keeper = Keeper::of(store, &plan, &id, &path, now, chosen, dry_run)?;
    let keeper = RefCell::new(keeper);
    let whole = plan.whole().filter_map(|place| plan.at(place)).map(|(_, round)| round.bytes);
    let bytes: u64 = whole.sum();
    let (report, draft) = if dry_run {
        let mut begin = || Shown::new(&keeper, Counted::new(bytes, io::sink()));
        let (report, sink) = write::rows(env, &plan, &birth, &readers, &keeper, &mut begin)?;
        sink.done().done();
        (report, None)
    } else {
        let mut begin = || Shown::new(&keeper, Counted::new(bytes, NewFile::begin(&path)?));
        let (report, sink) = write::rows(env, &plan, &birth, &readers, &keeper, &mut begin)
            .with_context(|| format!("could not write {}", path.display()))?;
        (report, Some(sink.done().done()))
    };
    let keeper = keeper.into_inner();
    store.unchanged()?;
    let mut made = Made {
        id,
        path: (!dry_run).then_some(path),
        companions: Vec::new(),
        by_id,
        rows: report.rows,
        bytes: report.bytes,
        cost,
        notes: Vec::new(),
        plan,
        report,
        extracted: keeper.taken(),
    };
    made.notes = lines::left_out(store, &made.plan, &made.report)?;
    made.notes.extend(store.notes());
    made.notes.extend(made.report.notes.iter().cloned().chain(notes));
    Ok(Ready { made, draft, keeper })
}

/// Records a session, then gives it its name. A kill in between leaves a log line without a
/// session, never a session that cannot be removed.
fn publish(
    store: &Store,
    now: Time,
    mut made: Made,
    mut draft: NewFile,
    keeper: &Keeper,
) -> anyhow::Result<Made> {
    let path = made.path.clone().context("a dry run has no file")?;
    let failed = || format!("could not write {}", path.display());
    let written = draft.settle().with_context(failed)?;
    made.companions = write::beside(&made.plan, &made.report, &path, &mut made.notes)?;
    let mut export = Export {
        id: made.id.clone(),
        made: now,
        operation: made.plan.operation.shown(),
        path: path.display().to_string(),
        bytes: written.bytes,
        removed: None,
        detail: Detail::default(),
    };
    let recorded = record::detail(store, &made, written.mark).and_then(|detail| {
        export.detail = detail;
        Ok(store.index.add_export(&export)?)
    });
    if let Err(why) = recorded {
        write::remove_beside(&made.companions, &path);
        return Err(why).context("could not record the new session, so it was not made");
    }
    let written = match keeper.keep().and_then(|()| draft.finish()) {
        Ok(written) => written,
        Err(why) => {
            write::remove_beside(&made.companions, &path);
            // The earlier error is the one to report.
            let _ = store.index.mark_removed(&made.id, now);
            return Err(why).with_context(failed);
        }
    };
    export.detail.mark = written.mark;
    // If that fails, `remove` uses the record from before.
    let _ = store.index.detail_export(&made.id, &export.detail);
    Ok(made)
}

/// Removes a session after another one of its split failed.
fn take_back(store: &Store, now: Time, made: &Made) {
    remove(made);
    // The other session's error is the one to report; the log shows that the file is gone.
    let _ = store.index.mark_removed(&made.id, now);
}

fn remove(made: &Made) {
    if let Some(path) = &made.path {
        // The earlier error is the one to report.
        let _ = std::fs::remove_file(path);
        write::remove_beside(&made.companions, path);
    }
}
