//! `brain-guard store`: checks the stored sessions, cleans them up, counts them, and exports
//! transcripts.

mod check;
mod drop_old;
mod export;
mod gc;
mod stats;
mod walk;

use crate::cli::StoreVerb;
use crate::cmd::{Context, Exit, Run, show};

impl Run for StoreVerb {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let root = super::import::root(env)?;
        match self {
            Self::Check { repair, json } => {
                let report = check::Report::of(&root, *repair)?;
                show(&report, *json)?;
                Ok(if report.left() == 0 { Exit::Done } else { Exit::Refused })
            }
            Self::Export { session, out, edition } => {
                export::run(env, &root, session, out.as_deref(), *edition)
            }
            Self::Gc { dry_run, json } => {
                show(&gc::Removed::from(&root, *dry_run)?, *json)?;
                Ok(Exit::Done)
            }
            Self::DropOld { dry_run, json } => {
                let dropped = drop_old::Dropped::drop_packs(&root, *dry_run)?;
                show(&dropped, *json)?;
                Ok(if dropped.is_all() { Exit::Done } else { Exit::Refused })
            }
            Self::Stats { json } => {
                let bounds = super::import::Bounds::of(&super::import::settings(env));
                show(&stats::Stats::of(&root, bounds)?, *json)?;
                Ok(Exit::Done)
            }
        }
    }
}
