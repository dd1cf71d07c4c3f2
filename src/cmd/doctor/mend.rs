//! What `--fix` does: each kind of mending once, and a line that says what came of it.

use base::shown::counted;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;

use super::{Finding, World};
use crate::cmd::setup;
use guard::boundary::CLIENT_ENDED;
use guard::files::{boundary, jobs, prune};

/// Something that can be mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mend {
    /// The installation is completed, as `install` does it.
    Install,
    /// These become the user's alone.
    Private(Vec<PathBuf>),
    /// These boundaries end.
    Boundaries(Vec<String>),
    /// Jobs of the dead are let go.
    Holders,
    /// What is over is taken out.
    Prune,
}

/// What was done about a finding, or why not.
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

/// Mends what can be mended.
pub fn all(world: &World, found: &[Finding]) -> Vec<Done> {
    let mut mended = Vec::new();
    let mut done = Vec::new();
    for finding in found {
        let Some(mend) = finding.mend.as_ref().filter(|mend| !mended.contains(mend)) else {
            continue;
        };
        mended.push(mend);
        let (fixed, said) = match one(world, mend) {
            Ok(said) => (true, said),
            Err(e) => (false, format!("{e:#}")),
        };
        done.push(Done { check: finding.check, fixed, said });
    }
    done
}

fn one(world: &World, mend: &Mend) -> anyhow::Result<String> {
    match mend {
        Mend::Install => setup::mend(world.env),
        Mend::Private(paths) => {
            for path in paths {
                close(path).with_context(|| format!("could not change {}", path.display()))?;
            }
            Ok(format!(
                "made private: {}",
                counted(paths.len(), "file or folder", "files and folders")
            ))
        }
        Mend::Boundaries(ids) => {
            for id in ids {
                boundary::update(&world.places, id, |t| t.abandon(CLIENT_ENDED, world.now))
                    .with_context(|| format!("could not end the boundary {id}"))?;
            }
            Ok(format!("ended: {}", counted(ids.len(), "boundary", "boundaries")))
        }
        Mend::Holders => {
            jobs::free_dead(&world.places).context("could not let go of the jobs of the dead")?;
            Ok("let go of the jobs that sessions of clients that are gone still held".to_owned())
        }
        Mend::Prune => {
            let old = prune::look(&world.places, world.now, usize::MAX);
            prune::remove(&world.places, &old).context("could not take out all that is over")?;
            Ok(format!(
                "taken out: state of {} that ended over 30 days ago, {}, {}",
                counted(old.sessions.len(), "session", "sessions"),
                counted(old.boundaries.len(), "boundary", "boundaries"),
                counted(old.left.len(), "leftover", "leftovers"),
            ))
        }
    }
}

/// Takes everybody else's rights away.
///
/// # Errors
/// What the system says.
pub fn close(path: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(path)?.permissions().mode() & 0o777 & !OTHERS;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Bits that let anybody but the owner in.
pub const OTHERS: u32 = 0o077;
