//! One look at the watched files: which of them are read at all, what came of each, and when
//! each is due again. The time and what is done with a file come in as arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use serde::Serialize;

use crate::cmd::extract::planned::Done;
use base::atomic::Mark;
use base::clock::Time;
use extract::when::Verdict;

/// A file that was written more recently is in use: the writer would refuse it, too.
const IDLE: TimeDelta = TimeDelta::seconds(30);

/// After so long an unchanged file that could not be read is tried again: who mends its
/// folder's rights doesn't change it.
const MENDED: TimeDelta = TimeDelta::minutes(10);

/// What came of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "came", rename_all = "kebab-case")]
pub enum Came {
    /// It was extracted from.
    Extracted {
        /// What went.
        #[serde(flatten)]
        done: Done,
        /// Why now.
        verdict: Verdict,
        /// When more may go, as a restore protects no longer.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// It would be, were `extract.enabled` true.
    Would {
        /// Values that would go.
        values: u64,
        /// Bytes of them.
        bytes: u64,
    },
    /// There is something to extract, which doesn't pay yet.
    Waits {
        /// Turns after which it would pay.
        turns: Option<u32>,
        /// When its prompt cache has expired.
        until: Time,
    },
    /// There is something to extract, too little for a file to be written anew.
    Little {
        /// Values that would go.
        values: u64,
        /// Bytes that the file would have less.
        bytes: u64,
        /// When more may go, as a restore protects no longer.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// There is nothing to extract; perhaps once a restore protects no longer.
    Nothing {
        /// When that is.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// Not now: a run is under way, somebody holds its lock, or wrote it meanwhile.
    Refused {
        /// Who or what.
        why: String,
    },
    /// Watching never writes such a session.
    Never {
        /// Why, and what does.
        why: String,
    },
    /// Files of its kind are not written as they are.
    Unsupported {
        /// Why.
        why: String,
    },
    /// It could not be read, or not be written.
    Failed {
        /// Why.
        why: String,
    },
}

impl Came {
    /// When an unchanged file is looked at again: `None` where only a change can make a
    /// difference.
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

/// What came of which file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// The file.
    pub path: PathBuf,
    /// What came of it.
    #[serde(flatten)]
    pub came: Came,
}

/// What is known of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    /// The file when that came of it.
    mark: Mark,
    /// When an unchanged file is due again.
    again: Option<Time>,
    /// Whether it is of those that are never written.
    never: bool,
}

impl Known {
    /// Whether the file is to be read, which has this mark now.
    fn due(&self, mark: Mark, now: Time) -> bool {
        let another = self.mark.3 != mark.3;
        another || !self.never && (self.mark != mark || self.again.is_some_and(|at| at <= now))
    }
}

/// A moment: what is asked of the system.
pub struct Moment<'a> {
    /// Now.
    pub now: Time,
    /// A file's mark.
    pub mark: &'a dyn Fn(&Path) -> Option<Mark>,
    /// Whether to end; asked between two files.
    pub ended: &'a dyn Fn() -> bool,
}

/// The files that are watched.
#[derive(Debug, Default)]
pub struct Watched {
    files: BTreeMap<PathBuf, Known>,
}

impl Watched {
    /// All files are due: the settings are others.
    pub fn forget(&mut self) {
        self.files.clear();
    }

    /// Looks at these files; `act` reads one and does what is to be done with it. Files that
    /// were not read, for they are as they were, are in no answer.
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
            // What was extracted from is another file now. Of all else the mark from before it
            // was read counts: what was written meanwhile is a change.
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

/// A file that was written a moment ago is not even read: a run is under way in it.
fn in_use(path: &Path, mark: Mark, now: Time) -> Option<Came> {
    let age = now.timestamp_nanos_opt()?.checked_sub(mark.0)?;
    (0..IDLE.num_nanoseconds()?).contains(&age).then(|| {
        let why = format!(
            "{} was written {} s ago: a run may be under way",
            path.display(),
            age / 1_000_000_000
        );
        Came::Refused { why }
    })
}

#[cfg(test)]
mod tests;
