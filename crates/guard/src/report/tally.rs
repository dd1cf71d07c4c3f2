//! Sums for one session or several.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Line, Part, Point, What};
use crate::journal;

/// Text that the guard added to the context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Added {
    /// Bytes of notes, denials and refused turn ends.
    pub bytes: u64,
    /// The same in tokens, at the session's rate.
    pub tokens: u64,
    /// Bytes of delivered sealed files, which are the agent's own notes.
    pub delivered_bytes: u64,
    /// The same in tokens.
    pub delivered_tokens: u64,
}

/// How often a tool was denied in a tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denied {
    /// The tool.
    pub tool: String,
    /// Its band.
    pub band: String,
    /// The tier.
    pub tier: String,
    /// Denied calls.
    pub denied: u64,
    /// Calls that would have been denied without shadow mode.
    pub would_deny: u64,
}

/// Sums of one session or of several.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Responses of the main loop.
    pub responses: u64,
    /// The highest context usage, in percent of the limit.
    pub highest: f64,
    /// Notes to the agent.
    pub notes: u64,
    /// Denied calls.
    pub denied: u64,
    /// Calls that would have been denied without shadow mode.
    pub would_deny: u64,
    /// Reads that were allowed in part.
    pub partial: u64,
    /// Calls that a carve-out allowed.
    pub allowed: u64,
    /// Refused turn ends.
    pub stops: u64,
    /// Turn ends that would have been refused without shadow mode.
    pub would_stop: u64,
    /// Shell outputs that were cut.
    pub cut: u64,
    /// Sealed versions.
    pub seals: u64,
    /// Times the operator turned the guard off or on.
    pub overrides: u64,
    /// Compactions by the client itself.
    pub compactions: u64,
    /// Internal errors after which the guard continued.
    pub faults: u64,
    /// Denials by tool, band and tier, the most frequent first.
    pub denials: Vec<Denied>,
    /// Text that the guard added to the context.
    pub added: Added,
}

impl Added {
    /// What the guard added to one session.
    pub(super) fn of(events: &[Line], bytes_per_token: f64) -> Self {
        let added = journal::added(events);
        let (bytes, delivered_bytes) = (added.bytes(), added.delivered.bytes);
        let tokens = |bytes: u64| (bytes as f64 / bytes_per_token.max(1.0)).ceil() as u64;
        Self {
            bytes,
            tokens: tokens(bytes),
            delivered_bytes,
            delivered_tokens: tokens(delivered_bytes),
        }
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            tokens: self.tokens + other.tokens,
            delivered_bytes: self.delivered_bytes + other.delivered_bytes,
            delivered_tokens: self.delivered_tokens + other.delivered_tokens,
        }
    }
}

impl Totals {
    /// Of several sessions.
    pub(super) fn sum(parts: &[Part]) -> Self {
        let added = parts.iter().fold(Added::default(), |sum, part| sum.plus(&part.totals.added));
        let seals = parts.iter().map(|part| part.seals.len()).sum();
        let (events, points) =
            (parts.iter().flat_map(|part| &part.events), parts.iter().flat_map(|part| &part.fill));
        Self::of(events, points, seals, added)
    }

    /// Of the events and responses of one session or several.
    pub(super) fn of<'a>(
        events: impl IntoIterator<Item = &'a Line, IntoIter: Clone>,
        points: impl IntoIterator<Item = &'a Point, IntoIter: Clone>,
        seals: usize,
        added: Added,
    ) -> Self {
        let (events, points) = (events.into_iter(), points.into_iter());
        let count = |like: fn(&What) -> bool| {
            events.clone().filter(|event| like(&event.what)).count() as u64
        };
        let mut denials: BTreeMap<[&str; 3], (u64, u64)> = BTreeMap::new();
        for event in events.clone() {
            if let What::Deny(call) | What::WouldDeny(call) = &event.what {
                let key = [call.tool.as_str(), call.band.as_str(), event.tier.as_str()];
                let (denied, would) = denials.entry(key).or_default();
                *if matches!(event.what, What::Deny(_)) { denied } else { would } += 1;
            }
        }
        let denials = denials.into_iter().map(|([tool, band, tier], (denied, would_deny))| {
            let [tool, band, tier] = [tool, band, tier].map(str::to_owned);
            Denied { tool, band, tier, denied, would_deny }
        });
        let mut denials: Vec<Denied> = denials.collect();
        denials.sort_by_key(|d| std::cmp::Reverse(d.denied + d.would_deny));
        Self {
            responses: points.clone().filter(|p| !p.compacted).count() as u64,
            highest: points.map(|p| p.percent).fold(0.0, f64::max),
            notes: events.clone().filter(|line| line.is_note()).count() as u64,
            denied: count(|what| matches!(what, What::Deny(_))),
            would_deny: count(|what| matches!(what, What::WouldDeny(_))),
            partial: count(|what| matches!(what, What::Partial(_))),
            allowed: count(|what| matches!(what, What::Allow(_))),
            stops: count(|what| *what == What::Stop),
            would_stop: count(|what| *what == What::WouldStop),
            cut: count(|what| matches!(what, What::Cut(_))),
            seals: seals as u64,
            overrides: count(|what| matches!(what, What::Override { .. })),
            compactions: count(|what| *what == What::ClientCompaction),
            faults: count(|what| matches!(what, What::Fault { .. })),
            denials,
            added,
        }
    }
}
