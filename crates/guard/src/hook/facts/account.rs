//! What is gathered for the journal while an event is handled.

use std::cell::{Cell, RefCell};

use crate::files::journal::Called;
use crate::policy::stance::{Cap, Readings, Stance};

/// What is gathered while an event is handled.
#[derive(Debug, Default)]
pub struct Account {
    pub(in crate::hook) moment: RefCell<Option<Moment>>,
    pub(in crate::hook) call: RefCell<Option<Called>>,
    /// Bytes of the reply that are the sealed file's and not ours.
    pub(in crate::hook) delivered: Cell<usize>,
    /// The reply is accounted for.
    pub(in crate::hook) told: Cell<bool>,
}

#[derive(Debug, Clone, Default)]
pub(in crate::hook) struct Moment {
    pub(in crate::hook) tier: String,
    pub(in crate::hook) cap: Option<String>,
    pub(in crate::hook) readings: Readings,
}

impl Account {
    /// The gauges as they were read, and the stance they made.
    pub fn moment(&self, readings: &Readings, stance: &Stance, tier: &str) {
        let tier = if stance.rank > 0 { tier.to_owned() } else { String::new() };
        let cap = stance.cap.as_ref().map(Cap::why);
        *self.moment.borrow_mut() = Some(Moment { tier, cap, readings: *readings });
    }

    /// The decision on a call that is to be accounted for.
    pub fn call(&self, called: Called) {
        *self.call.borrow_mut() = Some(called);
    }
}
