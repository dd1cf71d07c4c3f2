//! Collects what the journal gets about an event while it is handled.

use std::cell::{Cell, RefCell};

use crate::journal::{Line, What};
use crate::policy::stance::{Cap, Readings, Stance};
use base::clock::Time;

/// Journal data of one event.
#[derive(Debug, Default)]
pub struct Entry {
    pub(in crate::hook) moment: RefCell<Option<Moment>>,
    /// The decision on the call.
    pub(in crate::hook) decided: RefCell<Option<What>>,
    /// Bytes of the reply that come from the sealed file.
    pub(in crate::hook) delivered: Cell<usize>,
    /// The journal already has the reply.
    pub(in crate::hook) told: Cell<bool>,
}

#[derive(Debug, Clone, Default)]
pub(in crate::hook) struct Moment {
    pub(in crate::hook) tier: String,
    pub(in crate::hook) cap: Option<String>,
    pub(in crate::hook) readings: Readings,
}

impl Entry {
    /// Records the readings and the tier that they lead to.
    pub fn moment(&self, readings: &Readings, stance: &Stance, tier: &str) {
        let tier = if stance.rank > 0 { tier.to_owned() } else { String::new() };
        let cap = stance.cap.as_ref().map(Cap::why);
        *self.moment.borrow_mut() = Some(Moment { tier, cap, readings: *readings });
    }

    /// A line about what happened now, with the readings if there are any.
    pub(in crate::hook) fn line(&self, at: Time, what: What) -> Line {
        let Moment { tier, cap, readings } = self.moment.borrow().clone().unwrap_or_default();
        let Readings { context, file, .. } = readings;
        Line { tier, cap, context, file, ..Line::new(at, what) }
    }
}
