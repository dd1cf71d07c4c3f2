//! What `--fix` does: each repair once, with a line about its result.

use base::shown::count_with_noun;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;

use super::{Finding, World};
use crate::cmd::install;
use guard::boundary::CLIENT_ENDED;
use guard::files::{boundary, jobs, prune};

/// A repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mend {
    /// Complete the installation, as `install` does.
    Install,
    /// Make these private to the user.
    Private(Vec<PathBuf>),
    /// End these boundaries.
    Boundaries(Vec<String>),
    /// Release the jobs of clients that are gone.
    Holders,
    /// Remove expired state.
    Prune,
}

/// The result of a repair.
#[derive(Debug, Serialize)]
pub struct Done {
    check: &'static str,
    fixed: bool,
    said: String,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.fixed { "fixed" } else { "failed" };
        write!(f, "{word:<7}  {:<11}  {}", self.check, self.said)
    }
}

/// Repairs what can be repaired.
pub fn all(world: &World, found: &[Finding]) -> Vec<Done> {
    let mut mended = Vec::new();
    let mut done = Vec::new();
    for finding in found {
        let Some(mend) = finding.mend.as_ref().filter(|mend| !mended.contains(mend)) else {
            continue;
        };
        mended.push(mend);
        let (fixed, said) = match repair(world, mend) {
            Ok(said) => (true, said),
            Err(e) => (false, format!("{e:#}")),
        };
        done.push(Done { check: finding.check, fixed, said });
    }
    done
}

fn repair(world: &World, mend: &Mend) -> anyhow::Result<String> {
    match mend {
        Mend::Install => install::mend(world.env),
        Mend::Private(paths) => {
            for path in paths {
                make_private(path)
                    .with_context(|| format!("could not change {}", path.display()))?;
            }
            Ok(format!(
                "made private: {}",
                count_with_noun(paths.len(), "file or folder", "files and folders")
            ))
        }
        Mend::Boundaries(ids) => {
            for id in ids {
                boundary::update(&world.places, id, |t| t.abandon(CLIENT_ENDED, world.now))
                    .with_context(|| format!("could not end the boundary {id}"))?;
            }
            Ok(format!("ended: {}", count_with_noun(ids.len(), "boundary", "boundaries")))
        }
        Mend::Holders => {
            jobs::free_dead(&world.places)
                .context("could not release the jobs of clients that are gone")?;
            Ok("released the jobs of clients that are gone".to_owned())
        }
        Mend::Prune => {
            let old = prune::find_old(&world.places, world.now, usize::MAX);
            prune::remove(&world.places, &old).context("could not remove all of the old state")?;
            Ok(format!(
                "removed: state of {} that ended over 30 days ago, {}, {}",
                count_with_noun(old.sessions.len(), "session", "sessions"),
                count_with_noun(old.boundaries.len(), "boundary", "boundaries"),
                count_with_noun(old.left.len(), "leftover", "leftovers"),
            ))
        }
    }
}

/// Removes the access rights of everybody else.
///
/// # Errors
/// An I/O error.
pub fn make_private(path: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(path)?.permissions().mode() & 0o777 & !OTHERS;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Permission bits of everybody but the owner.
pub const OTHERS: u32 = 0o077;
