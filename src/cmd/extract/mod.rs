//! `extract`: keep recent, extract old, restore.

mod ahead;
mod around;
mod asked;
mod claude;
pub mod context;
mod gain;
mod gc;
mod known;
mod long;
mod numbers;
mod planned;
mod preview;
mod progress;
pub mod read;
mod record;
pub mod redact;
pub mod restore;
pub mod run;
pub mod said;
pub mod set;
pub mod source;
mod status;
mod tail;
#[cfg(test)]
mod tests;
mod view;
mod watch;

use crate::cli::ExtractVerb;
use crate::cmd::{Exit, err};
use base::clock::Time;
use base::env::Env;
use extract::redact::bare;

/// Says where rows are that could not be brought into a session.
fn told(left: Option<String>) {
    if let Some(left) = left {
        err(left);
    }
}

/// Runs `extract`.
///
/// # Errors
/// What keeps it from being done; nothing is changed then.
pub fn run(env: &Env, now: Time, what: ExtractVerb) -> anyhow::Result<Exit> {
    match what {
        ExtractVerb::Plan { args } => run::plan(env, now, &args),
        ExtractVerb::Run { args, dry_run, offline, out } => {
            run::run(env, now, &args, &planned::How { dry_run, offline, out })
        }
        ExtractVerb::Watch { paths, once, json } => watch::run(env, &paths, once, json),
        // As output is what is done where nothing is said.
        ExtractVerb::Restore {
            session,
            entry,
            keys,
            from,
            as_output: _,
            in_place,
            unmarked,
            offline,
            json,
        } => {
            let how = restore::How { from, in_place, unmarked, offline, json };
            restore::run(env, now, &session, bare(&entry), &keys, how)
        }
        ExtractVerb::SetExtractable { session, entry, value, offline, json } => {
            set::run(env, now, &session, bare(&entry), &value, offline, json)
        }
        ExtractVerb::Context { session, json } => context::run(env, &session, json),
        ExtractVerb::Status { json } => status::run(env, json),
        ExtractVerb::Gc { forget, yes, dry_run, json } => {
            gc::run(env, now, gc::Ask { forget, yes, dry_run, json })
        }
    }
}
