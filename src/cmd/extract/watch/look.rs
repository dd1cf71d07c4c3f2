//! One check of the watched files: which to read, what came of each, and when each is due again.
//! Time and action are arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use serde::Serialize;

use crate::cmd::extract::planned::Done;
use base::atomic::Mark;
use base::clock::Time;
use extract::when::Verdict;

/// A file written more recently is in use; writing it would be refused, too.
const IDLE: TimeDelta = TimeDelta::seconds(30);

/// An unchanged but unreadable file is retried after this time, because fixing a folder's
/// permissions does not change it.
const MENDED: TimeDelta = TimeDelta::minutes(10);

/// The result for a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "came", rename_all = "kebab-case")]
pub enum Came {
    /// Values were extracted.
    Extracted {
        #[serde(flatten)]
        done: Done,
        /// Why now.
        verdict: Verdict,
        /// When a restored entry is no longer protected.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// `extract.enabled` is false; otherwise values would be extracted.
    Would {
        /// Values to extract.
        values: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// An extraction does not break even yet.
    Waits {
        /// Turns until it would break even.
        turns: Option<u32>,
        /// When its prompt cache expires.
        until: Time,
    },
    /// An extraction would save too little to rewrite the file.
    Little {
        /// Values to extract.
        values: u64,
        /// Bytes that the file would shrink by.
        bytes: u64,
        /// When a restored entry is no longer protected.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// There is nothing to extract now.
    Nothing {
        /// When a restored entry is no longer protected.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// Not now: it is in use, locked, or was written meanwhile.
    Refused {
        /// Who or what prevents it.
        why: String,
    },
    /// A watch never writes such a session.
    Never {
        /// Why, and the command that works.
        why: String,
    },
    /// Files of its kind cannot be edited.
    Unsupported {
        /// Why.
        why: String,
    },
    /// It could not be read or written.
    Failed {
        /// Why.
        why: String,
    },
}

impl Came {
    /// When to check an unchanged file again; `None` if only a change matters.
    fn again(&self, now: Time) -> Option<Time> {
        match self {
            Self::Waits { until, .. } => Some(*until),
            Self::Extracted { until, .. }
            | Self::Nothing { until }
            | Self::Little { until, .. } => *until,
            Self::Refused { .. } => Some(now),
            Self::Failed { .. } => Some(now + MENDED),
            Self::Would { .. } | Self::Never { .. } | Self::Unsupported { .. } => None,
        }
    }
}

/// The result for a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    pub path: PathBuf,
    #[serde(flatten)]
    pub came: Came,
}

/// What is known about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    /// The file's mark at the last result.
    mark: Mark,
    /// When to check it again if it is unchanged.
    again: Option<Time>,
    /// Whether a watch never writes it.
    never: bool,
}

impl Known {
    /// Whether to read the file, given its current mark.
    fn due(&self, mark: Mark, now: Time) -> bool {
        let another = self.mark.3 != mark.3;
        another || !self.never && (self.mark != mark || self.again.is_some_and(|at| at <= now))
    }
}

/// What a check needs from the system.
pub struct Moment<'a> {
    pub now: Time,
    /// Returns a file's mark.
    pub mark: &'a dyn Fn(&Path) -> Option<Mark>,
    /// Whether to stop; asked between two files.
    pub ended: &'a dyn Fn() -> bool,
}

#[derive(Debug, Default)]
pub struct Watched {
    files: BTreeMap<PathBuf, Known>,
}

impl Watched {
    /// Makes all files due, because the settings changed.
    pub fn forget(&mut self) {
        self.files.clear();
    }

    /// Checks these files; `act` reads and handles one. Unchanged files that are not read have no
    /// result.
    pub fn look(
        &mut self,
        files: &[PathBuf],
        moment: &Moment,
        act: &mut dyn FnMut(&Path) -> Came,
    ) -> Vec<Seen> {
        let there: BTreeSet<&PathBuf> = files.iter().collect();
        self.files.retain(|path, _| there.contains(path));
        let mut seen = Vec::new();
        for path in files {
            if (moment.ended)() {
                break;
            }
            let Some(mark) = (moment.mark)(path) else { continue };
            if self.files.get(path).is_some_and(|known| !known.due(mark, moment.now)) {
                continue;
            }
            let came = match in_use(path, mark, moment.now) {
                Some(busy) => busy,
                None => act(path),
            };
            // An extraction makes the file new. In all other cases the mark from before reading
            // counts, so that a write since then is a change.
            let mark = match came {
                Came::Extracted { .. } => (moment.mark)(path).unwrap_or(mark),
                _ => mark,
            };
            let never = matches!(came, Came::Never { .. });
            let known = Known { mark, again: came.again(moment.now), never };
            self.files.insert(path.clone(), known);
            seen.push(Seen { path: path.clone(), came });
        }
        seen
    }
}

/// A file written a moment ago is not even read: a run is in progress.
fn in_use(path: &Path, mark: Mark, now: Time) -> Option<Came> {
    let age = now.timestamp_nanos_opt()?.checked_sub(mark.0)?;
    (0..IDLE.num_nanoseconds()?).contains(&age).then(|| {
        let why = format!(
            "{} was written {} s ago, so a run may be in progress",
            path.display(),
            age / 1_000_000_000
        );
        Came::Refused { why }
    })
}

#[cfg(test)]
mod tests;
