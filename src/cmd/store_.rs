//! `brain-guard store`: whether what is kept of sessions is whole, what of it nothing refers
//! to any more, and how much there is.

mod check;
mod gc;
mod stats;
mod walk;

use crate::cli::StoreVerb;
use crate::cmd::Exit;
use crate::env::Env;

/// Does it.
///
/// # Errors
/// What the system says of the store.
pub fn run(env: &Env, what: &StoreVerb) -> anyhow::Result<Exit> {
    let root = super::inscribe::root(env)?;
    match *what {
        StoreVerb::Check { repair, json } => check::run(&root, repair, json),
        StoreVerb::Gc { dry_run, json } => gc::run(&root, dry_run, json),
        StoreVerb::Stats { json } => stats::run(&root, json),
    }
}
