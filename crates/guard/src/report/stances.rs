//! Which tier applied when. The journal names it. Between its lines the context usage tells,
//! because below all tiers the journal is silent.

use serde::Serialize;

use super::{Line, Point};
use crate::policy::ramp::Ramp;
use base::clock::Time;

/// A period during which one tier applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Band {
    /// Its start.
    pub from: Time,
    /// Its end.
    pub to: Time,
    /// The tier's name.
    pub tier: String,
    /// The tier's rank, from 1.
    pub rank: usize,
    /// The tier blocks some tools.
    pub blocks: bool,
    /// Why it did not block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct State {
    context: usize,
    file: usize,
    cap: Option<String>,
}

impl State {
    fn rank(&self) -> usize {
        self.context.max(self.file)
    }

    fn apply_point(&mut self, ramp: &Ramp, point: &Point) {
        if point.compacted {
            (self.context, self.file) = (0, 0);
        }
        self.context = ramp.context_rank(point.percent, self.context);
    }

    fn apply_event(&mut self, ramp: &Ramp, event: &Line) {
        let named = (0..=ramp.top()).find(|rank| ramp.name(*rank) == event.tier);
        let Some(rank) = named else { return };
        let context = event
            .context
            .map_or(self.context, |reading| ramp.context_rank(reading.percent(), self.context));
        self.context = context.min(rank);
        self.file = if rank > self.context { rank } else { 0 };
        self.cap.clone_from(&event.cap);
    }
}

/// The tiers from the first point to `end`, without periods below all tiers.
pub(super) fn bands(
    ramp: &Ramp,
    points: &[Point],
    events: &[Line],
    end: Option<Time>,
) -> Vec<Band> {
    let mut state = State::default();
    let mut bands: Vec<Band> = Vec::new();
    let mut open: Option<Band> = None;
    let (mut points, mut events) = (points.iter().peekable(), events.iter().peekable());
    loop {
        let next = match (points.peek(), events.peek()) {
            (None, None) => break,
            (Some(point), Some(event)) => point.at <= event.at,
            (point, None) => point.is_some(),
            (None, Some(_)) => false,
        };
        let at = if next {
            let Some(point) = points.next() else { break };
            state.apply_point(ramp, point);
            point.at
        } else {
            let Some(event) = events.next() else { break };
            if event.tier.is_empty() {
                continue;
            }
            state.apply_event(ramp, event);
            event.at
        };
        let rank = state.rank();
        let blocks = rank >= ramp.first_blocking();
        if !blocks {
            state.cap = None;
        }
        if open.as_ref().is_some_and(|band| band.rank == rank && band.cap == state.cap) {
            continue;
        }
        bands.extend(open.take().map(|band| Band { to: at, ..band }));
        if rank > 0 {
            let (tier, cap) = (ramp.name(rank).to_owned(), state.cap.clone());
            open = Some(Band { from: at, to: at, tier, rank, blocks, cap });
        }
    }
    bands.extend(open.map(|band| Band { to: end.unwrap_or(band.from).max(band.from), ..band }));
    bands
}
