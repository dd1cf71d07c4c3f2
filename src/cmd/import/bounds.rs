//! The bounds of a store that fills by itself: which sessions the import at a session's end removes
//! again.

use std::cmp::Reverse;
use std::fs;
use std::time::Duration;

use chrono::TimeDelta;
use serde::Serialize;

use super::hold;
use crate::cmd::purge::remove_all;
use base::clock::Time;
use sessions::settings::{ImportWhen, SurgerySettings};
use store::blocks::{Folder, Root};
use store::index::Index;

/// Bytes of a GB.
const GB: u64 = 1000 * 1000 * 1000;

/// How much of the store stays. 0 is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The size of all sessions on the disk, in GB.
    pub gb: u32,
    /// Days after a session's last import.
    pub days: u32,
}

/// The sessions of a store, as the bounds see them.
#[derive(Debug, Default)]
struct Held {
    /// Those that may be removed, the latest import first.
    free: Vec<Session>,
    /// Bytes of the sessions that others point to, which stay.
    pointed_to_bytes: u64,
}

#[derive(Debug)]
struct Session {
    folder: Folder,
    imported: Time,
    bytes: u64,
}

/// What was removed.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    pub sessions: Vec<String>,
    pub bytes: u64,
}

impl Bounds {
    /// The bounds in the settings; `None` if sessions are imported by hand only.
    pub fn of(settings: &SurgerySettings) -> Option<Self> {
        let SurgerySettings { import, keep_gb: gb, keep_days: days, .. } = *settings;
        (import == ImportWhen::SessionEnd).then_some(Self { gb, days })
    }

    /// Removes the sessions that were imported longest ago, until the rest is within the bounds. One
    /// that is being imported stays for the next time.
    ///
    /// # Errors
    /// A store that can't be read or written. What was removed before is gone.
    pub fn apply(self, root: &Root, index: &Index, now: Time) -> anyhow::Result<Removed> {
        let held = Held::of(root, index)?;
        let mut removed = Removed::default();
        for session in held.beyond(self, now) {
            if !remove(index, &session.folder)? {
                continue;
            }
            removed.bytes += session.bytes;
            removed.sessions.push(session.folder.session.clone());
        }
        Ok(removed)
    }
}

/// Removes a session from the store. Returns `false` if it is being imported, and so stays.
///
/// # Errors
/// A store that can't be written.
pub fn remove(index: &Index, folder: &Folder) -> anyhow::Result<bool> {
    let Ok(_held) = hold(folder, Duration::ZERO) else { return Ok(false) };
    index.forget(folder)?;
    remove_all(&folder.path)?;
    Ok(true)
}

impl Held {
    /// Looks at the sizes and times of all sessions.
    ///
    /// # Errors
    /// A store that can't be read.
    fn of(root: &Root, index: &Index) -> anyhow::Result<Self> {
        let pointed_to = index.pointed_to()?;
        let mut held = Self::default();
        for folder in root.all()? {
            let files = fs::read_dir(&folder.path)?.flatten();
            let bytes = files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum();
            if pointed_to.contains(&folder.session) {
                held.pointed_to_bytes += bytes;
            } else if let Ok(imported) = fs::metadata(folder.blocks()).and_then(|m| m.modified()) {
                held.free.push(Session { folder, imported: imported.into(), bytes });
            }
        }
        held.free.sort_by_key(|session| Reverse(session.imported));
        Ok(held)
    }

    /// The sessions beyond the bounds, the earliest import first.
    fn beyond(&self, bounds: Bounds, now: Time) -> impl Iterator<Item = &Session> {
        let oldest = now - TimeDelta::days(bounds.days.into());
        let mut bytes = self.pointed_to_bytes;
        // The session that was just imported stays, whatever its size.
        let stays = |(at, session): (usize, &Session)| {
            bytes += session.bytes;
            let small = bounds.gb == 0 || bytes <= u64::from(bounds.gb) * GB;
            let young = bounds.days == 0 || session.imported >= oldest;
            at == 0 || (small && young)
        };
        let stay = self.free.iter().enumerate().map(stays).take_while(|stays| *stays).count();
        self.free[stay..].iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(name: &str, imported: &str, gb: u64) -> Session {
        let folder = Folder { agent: "a".into(), session: name.into(), path: name.into() };
        Session { folder, imported: imported.parse().unwrap(), bytes: gb * GB }
    }

    #[test]
    fn the_earliest_imports_go_until_the_rest_is_within_the_bounds() {
        let now = "2026-07-01T00:00:00Z".parse().unwrap();
        let free = vec![
            session("big", "2026-06-30T00:00:00Z", 7),
            session("second", "2026-05-01T00:00:00Z", 1),
            session("third", "2026-04-01T00:00:00Z", 1),
            session("old", "2025-12-31T00:00:00Z", 1),
        ];
        let held = Held { free, pointed_to_bytes: GB };
        let beyond = |gb, days| {
            let beyond = held.beyond(Bounds { gb, days }, now);
            beyond.map(|session| session.folder.session.clone()).collect::<Vec<_>>()
        };
        assert!(beyond(0, 0).is_empty());
        assert_eq!(beyond(0, 180), ["old"]);
        assert_eq!(beyond(10, 0), ["old"]);
        assert_eq!(beyond(9, 180), ["old", "third"]);
        assert_eq!(beyond(1, 1), ["old", "third", "second"], "the latest stays");
    }
}
