//! `brain-guard store`: whether what is kept of sessions is whole, what of it nothing refers
//! to any more, how much there is, and a session's transcript as it was.

mod check;
mod export;
mod gc;
mod stats;
mod walk;

use crate::cli::StoreVerb;
use crate::cmd::Exit;
use base::env::Env;

/// Does it.
///
/// # Errors
/// What the system says of the store.
pub fn run(env: &Env, what: &StoreVerb) -> anyhow::Result<Exit> {
    let root = super::inscribe::root(env)?;
    match what {
        StoreVerb::Check { repair, json } => check::run(&root, *repair, *json),
        StoreVerb::Export { session, out, edition } => {
            export::run(&root, session, out.as_deref(), *edition)
        }
        StoreVerb::Gc { dry_run, json } => gc::run(&root, *dry_run, *json),
        StoreVerb::Stats { json } => stats::run(&root, *json),
    }
}
