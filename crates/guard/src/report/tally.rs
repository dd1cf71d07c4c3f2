//! Sums for one session or several.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Line, Point, What};
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

impl Totals {
    pub(super) fn from_events(
        events: &[Line],
        points: &[Point],
        seals: u64,
        bytes_per_token: f64,
    ) -> Self {
        let count = |like: fn(&What) -> bool| {
            events.iter().filter(|event| like(&event.what)).count() as u64
        };
        let mut denials: BTreeMap<[&str; 3], (u64, u64)> = BTreeMap::new();
        for event in events {
            if let What::Deny(call) | What::WouldDeny(call) = &event.what {
                let key = [call.tool.as_str(), call.band.as_str(), event.tier.as_str()];
                let (denied, would) = denials.entry(key).or_default();
                *if matches!(event.what, What::Deny(_)) { denied } else { would } += 1;
            }
        }
        let added = journal::added(events);
        let (bytes, delivered) = (added.bytes(), added.delivered.bytes);
        let tokens = |bytes: u64| (bytes as f64 / bytes_per_token.max(1.0)).ceil() as u64;
        Self {
            responses: points.iter().filter(|p| !p.compacted).count() as u64,
            highest: points.iter().map(|p| p.percent).fold(0.0, f64::max),
            notes: events.iter().filter(|line| line.is_note()).count() as u64,
            denied: count(|what| matches!(what, What::Deny(_))),
            would_deny: count(|what| matches!(what, What::WouldDeny(_))),
            partial: count(|what| matches!(what, What::Partial(_))),
            allowed: count(|what| matches!(what, What::Allow(_))),
            stops: count(|what| *what == What::Stop),
            would_stop: count(|what| *what == What::WouldStop),
            cut: count(|what| matches!(what, What::Cut(_))),
            seals,
            overrides: count(|what| matches!(what, What::Override { .. })),
            compactions: count(|what| *what == What::ClientCompaction),
            faults: count(|what| matches!(what, What::Fault { .. })),
            denials: ordered(denials.into_iter().map(|([tool, band, tier], (denied, would))| {
                Denied {
                    tool: tool.to_owned(),
                    band: band.to_owned(),
                    tier: tier.to_owned(),
                    denied,
                    would_deny: would,
                }
            })),
            added: Added {
                bytes,
                tokens: tokens(bytes),
                delivered_bytes: delivered,
                delivered_tokens: tokens(delivered),
            },
        }
    }

    pub(super) fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        let mut denials: BTreeMap<[String; 3], (u64, u64)> = BTreeMap::new();
        for one in all {
            sum.highest = sum.highest.max(one.highest);
            for (to, from) in [
                (&mut sum.responses, one.responses),
                (&mut sum.notes, one.notes),
                (&mut sum.denied, one.denied),
                (&mut sum.would_deny, one.would_deny),
                (&mut sum.partial, one.partial),
                (&mut sum.allowed, one.allowed),
                (&mut sum.stops, one.stops),
                (&mut sum.would_stop, one.would_stop),
                (&mut sum.cut, one.cut),
                (&mut sum.seals, one.seals),
                (&mut sum.overrides, one.overrides),
                (&mut sum.compactions, one.compactions),
                (&mut sum.faults, one.faults),
                (&mut sum.added.bytes, one.added.bytes),
                (&mut sum.added.tokens, one.added.tokens),
                (&mut sum.added.delivered_bytes, one.added.delivered_bytes),
                (&mut sum.added.delivered_tokens, one.added.delivered_tokens),
            ] {
                *to += from;
            }
            for d in &one.denials {
                let key = [d.tool.clone(), d.band.clone(), d.tier.clone()];
                let (denied, would) = denials.entry(key).or_default();
                (*denied, *would) = (*denied + d.denied, *would + d.would_deny);
            }
        }
        sum.denials = ordered(denials.into_iter().map(|([tool, band, tier], (denied, would))| {
            Denied { tool, band, tier, denied, would_deny: would }
        }));
        sum
    }
}

fn ordered(denials: impl Iterator<Item = Denied>) -> Vec<Denied> {
    let mut all: Vec<Denied> = denials.collect();
    all.sort_by_key(|d| std::cmp::Reverse(d.denied + d.would_deny));
    all
}
