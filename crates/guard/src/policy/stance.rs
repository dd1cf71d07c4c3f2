//! The stance: the stricter of the tiers by context and by compaction file, and whether it may
//! block.

use serde::{Deserialize, Serialize};

use super::ramp::Ramp;
use sessions::gauge::Reading;

/// One of the two gauges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gauge {
    /// Tokens of the conversation.
    Context,
    /// Words of the compaction file.
    File,
}

/// A session that is full at its start is only coached until it has grown by this many percent, or
/// made this many calls.
pub const GRACE_PERCENT: f64 = 1.0;
/// See [`GRACE_PERCENT`].
pub const GRACE_CALLS: u64 = 25;

/// Why a tier that would block does not: the first reason that applies, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cap {
    /// The operator's override is active.
    Override,
    /// Setting `shadow`: decide and log, block nothing.
    Shadow,
    /// Setting `off`: do nothing.
    Off,
    /// Setting `headless`: `-p` and SDK runs only get notes.
    Headless,
    /// Plan mode: even an allowed call opens a dialog there, so nothing is denied.
    Plan,
    /// A rule of the client's settings keeps the agent from its notes.
    Refusing(String),
    /// No carrier can perform a boundary now.
    NoCarrier,
    /// The compaction file cannot be written, for this reason.
    NotWritable(String),
    /// The last boundary failed, for this reason.
    Failed(String),
    /// No boundary can begin, for this reason.
    Lifted(String),
    /// The session was already full at its first call.
    Grace,
}

impl Cap {
    /// The reason in words, for `explain` and the user's notice.
    pub fn why(&self) -> String {
        match self {
            Self::Override => "the user paused brain-guard".into(),
            Self::Shadow => "shadow mode is on in the settings".into(),
            Self::Off => "brain-guard is off in the settings".into(),
            Self::Headless => "this is a headless run and `headless` is not `boundary`".into(),
            Self::Plan => "the session is in plan mode".into(),
            Self::Refusing(rule) => format!("a rule keeps the agent from its notes: {rule}"),
            Self::NoCarrier => "no carrier can clear this session now".into(),
            Self::NotWritable(why) => format!("the notes can't be written: {why}"),
            Self::Failed(why) => format!("the last boundary failed: {why}"),
            Self::Lifted(why) => why.clone(),
            Self::Grace => {
                format!(
                    "the session was already this full when it was first seen, resumed or compacted; blocks apply after {GRACE_PERCENT} % or {GRACE_CALLS} calls more"
                )
            }
        }
    }
}

/// The tier that applies to one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Stance {
    /// The rank before any cap: the higher one of the two gauges.
    pub rank: usize,
    /// Rank by the context usage.
    pub context_rank: usize,
    /// Rank by the compaction file.
    pub file_rank: usize,
    /// The gauge with the higher rank.
    pub gauge: Gauge,
    /// Why nothing is blocked although the rank blocks.
    pub cap: Option<Cap>,
}

impl Stance {
    /// The rank after the cap, which decides about blocking.
    pub fn effective(&self, ramp: &Ramp) -> usize {
        if self.cap.is_some() { self.rank.min(ramp.last_harmless()) } else { self.rank }
    }
}

/// The readings of both gauges, and the growth of the file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Readings {
    /// The context usage, if known.
    pub context: Option<Reading>,
    /// The compaction file's size, if there is a file.
    pub file: Option<Reading>,
    /// Percent of the file's limit that this session wrote.
    pub written: f64,
}

/// The ranks before this call, for the hysteresis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranks {
    /// By the context usage.
    pub context: usize,
    /// By the compaction file.
    pub file: usize,
}

/// The file blocks tools only after a session wrote this percentage of its limit. Otherwise each
/// seal would make the next session shorter.
const MIN_WRITTEN: f64 = 15.0;

/// The stance by the gauges. `cap` is called only if the rank blocks.
pub fn stance(
    ramp: &Ramp,
    readings: &Readings,
    from: Ranks,
    cap: impl FnOnce(usize) -> Option<Cap>,
) -> Stance {
    let context_rank = readings.context.map_or(0, |r| ramp.context_rank(r.percent(), from.context));
    let file_rank = readings.file.map_or(0, |r| {
        let rank = ramp.file_rank(r.percent(), from.file);
        if readings.written >= MIN_WRITTEN { rank } else { rank.min(ramp.last_harmless()) }
    });
    let rank = context_rank.max(file_rank);
    let gauge = if file_rank > context_rank { Gauge::File } else { Gauge::Context };
    let cap = if rank >= ramp.first_blocking() { cap(rank) } else { None };
    Stance { rank, context_rank, file_rank, gauge, cap }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use sessions::gauge::Source;

    fn reading(used: u64, limit: u64) -> Reading {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        Reading { used, limit, source: Source::Transcript, at }
    }

    #[test]
    fn the_worse_of_two_and_the_file_needs_growth() {
        let ramp = Settings::default().ramp(967_000);
        let at = |context, file, written| {
            let readings = Readings { context, file, written };
            stance(&ramp, &readings, Ranks::default(), |_| None)
        };
        let s = at(Some(reading(21, 100)), Some(reading(1900, 2000)), 20.0);
        assert_eq!((s.rank, s.gauge), (2, Gauge::File));
        let s = at(Some(reading(21, 100)), Some(reading(2400, 2000)), 14.0);
        assert_eq!((s.rank, s.file_rank), (1, 1));
        let s = at(Some(reading(31, 100)), None, 0.0);
        assert_eq!((s.rank, s.gauge), (3, Gauge::Context));
        assert_eq!(at(None, None, 0.0).rank, 0);
    }

    #[test]
    fn a_cap_leaves_coaching() {
        let ramp = Settings::default().ramp(967_000);
        let readings = Readings { context: Some(reading(31, 100)), ..Readings::default() };
        let s = stance(&ramp, &readings, Ranks::default(), |_| Some(Cap::NoCarrier));
        assert_eq!((s.rank, s.effective(&ramp)), (3, 1));
        let calm = Readings { context: Some(reading(21, 100)), ..Readings::default() };
        let s = stance(&ramp, &calm, Ranks::default(), |_| panic!("not asked"));
        assert_eq!(s.effective(&ramp), 1);
    }
}
