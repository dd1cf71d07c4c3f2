//! What went wrong, counted.

use std::fmt;

/// What must not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A fresh session without the sealed notes.
    Missing,
    /// Notes that arrived twice.
    Double,
    /// Notes that arrived otherwise than they were sealed.
    Changed,
    /// A fact that is neither delivered nor kept.
    Fact,
    /// A call that was denied or let through against the table.
    Verdict,
    /// Nothing happened for longer than the bound.
    Stall,
    /// What the person typed is gone.
    Typed,
    /// A boundary that the person had put off, or one too many.
    Boundary,
}

/// All of them with what they are called in the table.
const ALL: [(Fault, &str); 8] = [
    (Fault::Missing, "deliveries missing"),
    (Fault::Double, "deliveries doubled"),
    (Fault::Changed, "deliveries changed"),
    (Fault::Fact, "facts lost"),
    (Fault::Verdict, "wrong verdicts"),
    (Fault::Stall, "stalls"),
    (Fault::Typed, "drafts or prompts lost"),
    (Fault::Boundary, "boundaries against the person"),
];

/// Faults with the session in which they happened.
#[derive(Debug, Default)]
pub struct Faults(pub Vec<(usize, Fault, String)>);

impl Faults {
    /// Adds one.
    pub fn add(&mut self, session: usize, fault: Fault, details: impl Into<String>) {
        self.0.push((session, fault, details.into()));
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (kind, name) in ALL {
            let count = self.0.iter().filter(|(_, fault, _)| *fault == kind).count();
            writeln!(f, "  {name:<30} {count:>4}")?;
        }
        for (session, fault, details) in &self.0 {
            writeln!(f, "  ! session {session}: {fault:?}: {details}")?;
        }
        Ok(())
    }
}
