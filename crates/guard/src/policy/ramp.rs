//! An ordered list of tiers, with thresholds for both the context and the compaction file.

use std::collections::BTreeSet;

use serde::Serialize;

use super::bands::Band;

/// One tier of the ramp.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tier {
    /// Its name: `coach`, `block-reads`, `narrow`, or one from the settings.
    pub name: String,
    /// Percent of the context's limit at which it begins.
    pub context: f64,
    /// Percent of the compaction file's limit at which it begins.
    pub file: f64,
    /// The bands that the main agent may not use: their calls are denied.
    pub blocks: BTreeSet<Band>,
}

/// Tiers in order of severity. Rank 0 restricts nothing; rank `n` is the n-th tier.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ramp {
    tiers: Vec<Tier>,
}

/// Percentage points below its threshold at which a tier ends. Without this margin, a figure that
/// wavers around a threshold would cause a new note at every call.
pub const HYSTERESIS: f64 = 1.0;

impl Ramp {
    /// Sorts tiers by their context threshold. What a tier blocks, all stricter ones block, too.
    pub fn new(mut tiers: Vec<Tier>) -> Self {
        tiers.sort_by(|a, b| a.context.total_cmp(&b.context));
        let mut taken = BTreeSet::new();
        for tier in &mut tiers {
            tier.blocks.append(&mut taken);
            taken.clone_from(&tier.blocks);
        }
        Self { tiers }
    }

    /// The tiers, mildest first.
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// The highest rank, where only the compaction file may be changed.
    pub fn top(&self) -> usize {
        self.tiers.len()
    }

    /// The tier of a rank; `None` for 0 and for ranks past the end.
    pub fn tier(&self, rank: usize) -> Option<&Tier> {
        rank.checked_sub(1).and_then(|i| self.tiers.get(i))
    }

    /// The tier's name at a rank, `free` for 0.
    pub fn name(&self, rank: usize) -> &str {
        self.tier(rank).map_or("free", |t| t.name.as_str())
    }

    /// The lowest rank that blocks anything, from which on a cap has an effect; past the end if none
    /// does.
    pub fn first_blocking(&self) -> usize {
        self.tiers.iter().position(|t| !t.blocks.is_empty()).map_or(self.tiers.len() + 1, |i| i + 1)
    }

    /// The highest rank that blocks nothing, which is the most that a capped stance reaches.
    pub fn last_harmless(&self) -> usize {
        self.first_blocking() - 1
    }

    /// Rank of the context usage at `percent`, coming from rank `from`.
    pub fn context_rank(&self, percent: f64, from: usize) -> usize {
        self.rank(percent, from, |t| t.context)
    }

    /// Rank of the compaction file at `percent`, coming from rank `from`.
    pub fn file_rank(&self, percent: f64, from: usize) -> usize {
        self.rank(percent, from, |t| t.file)
    }

    fn rank(&self, percent: f64, from: usize, at: impl Fn(&Tier) -> f64) -> usize {
        let reached = |slack: f64| {
            self.tiers.iter().rposition(|t| percent >= at(t) - slack).map_or(0, |i| i + 1)
        };
        // Goes up at the threshold itself, and down only below the margin.
        reached(0.0).max(reached(HYSTERESIS).min(from))
    }

    /// The ramp for a session whose first reading was `base` percent, which the agent did not
    /// cause. All tiers move up until the first begins at least 5 points above `base`. The last
    /// stays at or below 95 % of the limit, and the order is kept.
    pub fn shifted(&self, base: f64) -> Self {
        let Some(first) = self.tiers.first() else { return self.clone() };
        let shift = (base - (first.context - 5.0)).max(0.0);
        if shift == 0.0 {
            return self.clone();
        }
        let mut tiers = self.tiers.clone();
        let mut ceiling = 95.0;
        for tier in tiers.iter_mut().rev() {
            tier.context = (tier.context + shift).min(ceiling).max(tier.context.min(ceiling));
            ceiling = tier.context - 1.0;
        }
        Self { tiers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tier(name: &str, context: f64, file: f64, blocks: &[Band]) -> Tier {
        Tier { name: name.into(), context, file, blocks: blocks.iter().copied().collect() }
    }

    fn ramp() -> Ramp {
        Ramp::new(vec![
            tier("narrow", 30.0, 100.0, &[Band::Read, Band::Write, Band::Shell, Band::Dispatch]),
            tier("coach", 20.0, 70.0, &[]),
            tier("block-reads", 25.0, 85.0, &[Band::Read]),
        ])
    }

    #[test]
    fn ranks_and_names() {
        let r = ramp();
        for (percent, rank, name) in [
            (5.0, 0, "free"),
            (20.0, 1, "coach"),
            (25.0, 2, "block-reads"),
            (29.99, 2, "block-reads"),
            (31.0, 3, "narrow"),
        ] {
            assert_eq!(r.context_rank(percent, 0), rank);
            assert_eq!(r.name(rank), name);
        }
        assert_eq!(r.file_rank(86.0, 0), 2);
        assert_eq!((r.first_blocking(), r.last_harmless(), r.top()), (2, 1, 3));
    }

    #[test]
    fn a_tier_is_left_one_percent_below_it() {
        let r = ramp();
        assert_eq!(r.context_rank(24.5, 2), 2);
        assert_eq!(r.context_rank(23.9, 2), 1);
        assert_eq!(r.context_rank(24.5, 1), 1);
        assert_eq!(r.context_rank(3.0, 3), 0);
    }

    #[test]
    fn base_shift_keeps_order_and_ceiling() {
        let r = ramp();
        assert_eq!(r.shifted(10.0), r);
        let up = r.shifted(18.0);
        assert!((up.tiers()[0].context - 23.0).abs() < 1e-9);
        assert!((up.tiers()[2].context - 33.0).abs() < 1e-9);
        let high = r.shifted(90.0);
        assert!(high.tiers()[2].context <= 95.0);
        assert!(high.tiers().windows(2).all(|w| w[0].context < w[1].context));
    }

    proptest! {
        #[test]
        fn monotone(a in 0.0..120.0f64, b in 0.0..120.0f64, from in 0usize..4, base in 0.0..100.0f64) {
            let r = ramp().shifted(base);
            let (low, high) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!(r.context_rank(low, from) <= r.context_rank(high, from));
            prop_assert!(r.context_rank(low, 0) <= r.context_rank(low, from));
            prop_assert!(r.tiers().windows(2).all(|w| w[0].context < w[1].context));
            // The shift never tightens.
            prop_assert!(r.context_rank(low, 0) <= ramp().context_rank(low, 0));
        }
    }
}
