//! Counts the faults.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A fresh session did not get the sealed notes.
    Missing,
    /// Notes arrived twice.
    Double,
    /// Notes differ from the sealed version.
    Changed,
    /// A fact is neither delivered nor archived.
    Fact,
    /// A call was denied or allowed against the rules.
    Verdict,
    /// Nothing happened within the limit.
    Stall,
    /// Text that the person typed is lost.
    Typed,
    /// A boundary came although the person had put it off, or came twice.
    Boundary,
    /// A newer model refused thinking, because what was before it had changed.
    Thinking,
}

/// All faults with their names in the table.
const ALL: [(Fault, &str); 9] = [
    (Fault::Missing, "deliveries missing"),
    (Fault::Double, "deliveries doubled"),
    (Fault::Changed, "deliveries changed"),
    (Fault::Fact, "facts lost"),
    (Fault::Verdict, "wrong verdicts"),
    (Fault::Stall, "stalls"),
    (Fault::Typed, "drafts or prompts lost"),
    (Fault::Boundary, "boundaries against the person"),
    (Fault::Thinking, "thinking refused"),
];

/// Faults with the session in which they happened.
#[derive(Debug, Default)]
pub struct Faults(pub Vec<(usize, Fault, String)>);

impl Faults {
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
