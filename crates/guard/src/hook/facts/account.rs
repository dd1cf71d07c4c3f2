//! Collects journal data while an event is handled.

use std::cell::{Cell, RefCell};

use crate::files::journal::Called;
use crate::policy::stance::{Cap, Readings, Stance};

/// Journal data of one event.
#[derive(Debug, Default)]
pub struct Account {
    pub(in crate::hook) moment: RefCell<Option<Moment>>,
    pub(in crate::hook) call: RefCell<Option<Called>>,
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

impl Account {
    /// Records the readings and the tier that they lead to.
    pub fn moment(&self, readings: &Readings, stance: &Stance, tier: &str) {
        let tier = if stance.rank > 0 { tier.to_owned() } else { String::new() };
        let cap = stance.cap.as_ref().map(Cap::why);
        *self.moment.borrow_mut() = Some(Moment { tier, cap, readings: *readings });
    }

    /// Records the decision on a call.
    pub fn call(&self, called: Called) {
        *self.call.borrow_mut() = Some(called);
    }
}
