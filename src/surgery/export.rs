//! Writes a plan as the rows of a new session, one piece at a time.

use super::plan::Plan;
use crate::clock::Time;

/// What the rows of the new session share.
#[derive(Debug, Clone)]
pub struct Birth {
    /// The new session's id, a UUID.
    pub id: String,
    /// The folder it will run in.
    pub cwd: String,
    /// When it is made.
    pub now: Time,
}

/// Turns pieces into rows. Fed in the plan's order; keeps what the chain needs and nothing else.
pub struct Exporter<'p> {
    plan: &'p Plan,
    birth: Birth,
}

impl<'p> Exporter<'p> {
    /// An exporter of this plan.
    pub fn new(plan: &'p Plan, birth: Birth) -> Self {
        Self { plan, birth }
    }

    /// Appends the message that holds an index table to `out`.
    pub fn index(&mut self, places: &[super::plan::Place], out: &mut Vec<u8>) {
        let _ = (&self.plan, &self.birth, places, out);
        todo!()
    }

    /// Appends a round, whose rows are given as they are in the store, to `out`.
    pub fn round(&mut self, place: super::plan::Place, rows: &[&[u8]], out: &mut Vec<u8>) {
        let _ = (place, rows, out);
        todo!()
    }
}
