//! `extract`: replaces long old values by placeholders, and restores them.

mod asked;
pub mod claude;
pub mod context;
mod decide;
pub mod extractable_flag;
mod gain;
mod gc;
mod long;
mod numbers;
mod placeholder_lookup;
mod planned;
mod preview;
pub mod read;
pub mod record;
pub mod redact;
pub mod restore;
pub mod run;
pub mod set;
pub mod source;
mod status;
mod tail;
#[cfg(test)]
mod tests;
mod view;
mod watch;

use crate::cli::ExtractVerb;
use crate::cmd::{Context, Exit, Run, err, import, show};
use extract::redact::bare;

/// Reports where rows are that could not be added to a session.
fn report_left_rows(left: Option<String>) {
    if let Some(left) = left {
        err(left);
    }
}

impl Run for ExtractVerb {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        let Context { env, now } = context;
        match self {
            Self::Plan { args } => run::plan(context, args),
            Self::Decide { args } => decide::run(context, args, false),
            Self::Keep { args } => decide::run(context, args, true),
            Self::Run { args, dry_run, again, here, out } => {
                let how = planned::How {
                    dry_run: *dry_run,
                    again: *again,
                    here: *here,
                    out: out.clone(),
                };
                let root = import::root(env)?;
                let source = source::find(env, &root, args.session.as_deref())?;
                match source.kind {
                    source::Kind::Claude => claude::run(context, &source, args, &how),
                    _ => run::run(context, &source, args, &how),
                }
            }
            Self::Watch { paths, once, json } => watch::run(env, paths, *once, *json),
            Self::Restore { session, entry, keys, from, lines, in_place, unmarked, json } => {
                let how = restore::How {
                    from: *from,
                    lines: *lines,
                    in_place: *in_place,
                    unmarked: *unmarked,
                    json: *json,
                };
                restore::run(env, now, session, bare(entry), keys, how)
            }
            Self::SetExtractable { session, entry, value, json } => {
                show(&set::Said::run(env, now, session, bare(entry), value)?, *json)?;
                Ok(Exit::Done)
            }
            Self::Context { session, json } => {
                show(&context::load(env, session.as_deref())?, *json)?;
                Ok(Exit::Done)
            }
            Self::Status { json } => {
                show(&status::Status::of(env)?, *json)?;
                Ok(Exit::Done)
            }
            Self::Gc { forget, yes, dry_run, json } => {
                let ask = gc::Ask { forget: *forget, yes: *yes, dry_run: *dry_run, json: *json };
                gc::run(env, now, ask)
            }
        }
    }
}
