//! The stance: the worse of the two ramps' tiers, and whether it may block.

use serde::{Deserialize, Serialize};

use super::ramp::Ramp;
use sessions::gauge::Reading;

/// Which of the two gauges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gauge {
    /// Tokens of the conversation.
    Context,
    /// Words of the compaction file.
    File,
}

/// Why a stance that would block doesn't: the first that holds, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cap {
    /// The operator took the override.
    Override,
    /// Settings: decide and log, block nothing.
    Shadow,
    /// Settings: `-p` and SDK runs are only coached.
    Headless,
    /// Plan mode: an allow still opens a dialog there, so nothing is denied.
    Plan,
    /// No carrier can carry out a boundary now.
    NoCarrier,
    /// The compaction file cannot be written: what stands in the way.
    NotWritable(String),
    /// The budget is spent or a boundary failed: the reason.
    Lifted(String),
    /// A session that was already full when first seen.
    Grace,
}

impl Cap {
    /// What `explain` and the user's notice say.
    pub fn why(&self) -> String {
        match self {
            Self::Override => "the operator's override is active".into(),
            Self::Shadow => "shadow mode is on in the settings".into(),
            Self::Headless => "this is a headless run and `headless` is not `boundary`".into(),
            Self::Plan => "the session is in plan mode".into(),
            Self::NoCarrier => "no carrier can clear this session now".into(),
            Self::NotWritable(why) => format!("the notes can't be written: {why}"),
            Self::Lifted(why) => why.clone(),
            Self::Grace => "the session was already this full when it was first seen".into(),
        }
    }
}

/// What holds for one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Stance {
    /// Rank on the ramp by the gauges alone.
    pub rank: usize,
    /// Rank of the context's gauge.
    pub context_rank: usize,
    /// Rank of the file's gauge.
    pub file_rank: usize,
    /// The gauge that decides.
    pub gauge: Gauge,
    /// Why nothing is blocked although the rank would.
    pub cap: Option<Cap>,
}

impl Stance {
    /// The rank that counts for blocking.
    pub fn effective(&self, ramp: &Ramp) -> usize {
        if self.cap.is_some() { self.rank.min(ramp.last_harmless()) } else { self.rank }
    }
}

/// What the two gauges say, and what is known of the file's growth.
#[derive(Debug, Clone, Copy, Default)]
pub struct Readings {
    /// The context's, if any source had one.
    pub context: Option<Reading>,
    /// The compaction file's, if there is a file.
    pub file: Option<Reading>,
    /// Percent of the file's limit written since its last birth.
    pub written: f64,
}

/// Ranks before this call, for the hysteresis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranks {
    /// On the context's gauge.
    pub context: usize,
    /// On the file's gauge.
    pub file: usize,
}

/// The file's ramp blocks only after so much of its limit was written since its
/// last birth, so that no chain of seals makes the sessions ever shorter.
pub const MIN_WRITTEN: f64 = 15.0;

/// The stance by the gauges. `cap` is asked only where it matters.
pub fn stance(
    ramp: &Ramp,
    readings: &Readings,
    from: Ranks,
    min_written: f64,
    cap: impl FnOnce(usize) -> Option<Cap>,
) -> Stance {
    let context_rank = readings.context.map_or(0, |r| ramp.context_rank(r.percent(), from.context));
    let file_rank = readings.file.map_or(0, |r| {
        let rank = ramp.file_rank(r.percent(), from.file);
        if readings.written >= min_written { rank } else { rank.min(ramp.last_harmless()) }
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
            stance(&ramp, &readings, Ranks::default(), MIN_WRITTEN, |_| None)
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
        let s = stance(&ramp, &readings, Ranks::default(), MIN_WRITTEN, |_| Some(Cap::NoCarrier));
        assert_eq!((s.rank, s.effective(&ramp)), (3, 1));
        let calm = Readings { context: Some(reading(21, 100)), ..Readings::default() };
        let s = stance(&ramp, &calm, Ranks::default(), MIN_WRITTEN, |_| panic!("not asked"));
        assert_eq!(s.effective(&ramp), 1);
    }
}
