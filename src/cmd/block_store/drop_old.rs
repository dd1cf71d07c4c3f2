//! `brain-guard store drop-old`: removes the packs, in which earlier builds stored sessions.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::cmd::import::{self, count};
use base::shown::size;
use store::blocks::{self, Packs, Root};

/// What happened to the packs.
#[derive(Debug, Default, Serialize)]
pub struct Dropped {
    /// Folders of packs that were removed, or would be.
    removed: Vec<PathBuf>,
    bytes: u64,
    /// Why others stay.
    kept: Vec<String>,
    #[serde(skip)]
    dry_run: bool,
}

impl Dropped {
    /// Copies the packs of all sessions that are not copied yet, compares each copy with them, and
    /// removes them.
    ///
    /// # Errors
    /// A store that cannot be listed.
    pub fn drop_packs(root: &Root, dry_run: bool) -> anyhow::Result<Self> {
        let mut dropped = Self { dry_run, ..Self::default() };
        for folder in root.all()? {
            let all = blocks::list_packs(&folder)?;
            if all.is_empty() {
                continue;
            }
            match import::hold(&folder, import::PATIENCE) {
                Ok(_held) => all.iter().for_each(|packs| dropped.drop(packs)),
                Err(e) => dropped.kept.push(e.to_string()),
            }
        }
        Ok(dropped)
    }

    fn drop(&mut self, packs: &Packs) {
        let bytes = packs.size().unwrap_or_default();
        let done = packs.verify().and_then(|()| if self.dry_run { Ok(()) } else { packs.remove() });
        match done {
            Ok(()) => {
                self.removed.push(packs.path.clone());
                self.bytes += bytes;
            }
            Err(e) => self.kept.push(e.to_string()),
        }
    }

    pub fn is_all(&self) -> bool {
        self.kept.is_empty()
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for why in &self.kept {
            writeln!(f, "kept: {why}")?;
        }
        let done = if self.dry_run { "would be removed" } else { "removed" };
        let folders = count(self.removed.len(), "folder");
        write!(f, "{folders} of packs, {}, {done}", size(self.bytes))
    }
}
