//! The counts of one boundary and of all.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Keys had a forbidden effect, of this kind.
    Misfire(&'static str),
    /// The notes arrived twice.
    Double,
    /// The notes did not arrive complete.
    Lost,
    /// Text that the user typed is lost.
    DraftLost,
    /// This was left behind.
    Left(&'static str),
    /// The scenario could not be completed.
    Stuck,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misfire(kind) => write!(f, "misfire: {kind}"),
            Self::Double => f.write_str("double injection"),
            Self::Lost => f.write_str("lost injection"),
            Self::DraftLost => f.write_str("draft lost"),
            Self::Left(what) => write!(f, "left behind: {what}"),
            Self::Stuck => f.write_str("stuck"),
        }
    }
}

/// The result of one boundary.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Faults with details.
    pub faults: Vec<(Fault, String)>,
    /// Seconds to the first request of the new session, from the Stop hook or the end of the delay.
    pub seconds: Option<f64>,
    /// Why no new session started; this alone is no fault.
    pub refused: Option<String>,
    /// Other events, for the output: carriers, dialogs.
    pub met: Vec<String>,
    /// The scenario killed the client or terminal.
    pub killed: bool,
}

impl Outcome {
    pub fn fault(&mut self, fault: Fault, details: impl Into<String>) {
        self.faults.push((fault, details.into()));
    }

    /// Adds an event.
    pub fn met(&mut self, what: impl Into<String>) {
        self.met.push(what.into());
    }
}

/// The sum of many boundaries.
#[derive(Debug, Default)]
pub struct Tally {
    pub boundaries: usize,
    pub by_scenario: BTreeMap<String, usize>,
    pub faults: BTreeMap<Fault, usize>,
    pub refused: BTreeMap<String, usize>,
    pub met: BTreeMap<String, usize>,
    pub killed: usize,
    pub seconds: Vec<f64>,
    /// The slowest boundaries, each with number and scenario.
    pub slowest: Vec<(f64, String)>,
    /// One line per fault.
    pub details: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, name: &str, number: usize, outcome: Outcome) {
        self.boundaries += 1;
        *self.by_scenario.entry(name.to_owned()).or_default() += 1;
        for (fault, details) in outcome.faults {
            self.details.push(format!("#{number} {name}: {fault}: {details}"));
            *self.faults.entry(fault).or_default() += 1;
        }
        if let Some(why) = outcome.refused {
            self.details.push(format!("#{number} {name}: no new session: {why}"));
            *self.refused.entry(why).or_default() += 1;
        }
        for what in outcome.met {
            *self.met.entry(what).or_default() += 1;
        }
        self.killed += usize::from(outcome.killed);
        self.seconds.extend(outcome.seconds);
        let mine = outcome.seconds.map(|seconds| (seconds, format!("#{number} {name}")));
        self.slowest.extend(mine);
        self.slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
        self.slowest.truncate(3);
    }

    fn count(&self, like: impl Fn(&Fault) -> bool) -> usize {
        self.faults.iter().filter(|(fault, _)| like(fault)).map(|(_, count)| count).sum()
    }

    /// The number of misfires.
    pub fn misfires(&self) -> usize {
        self.count(|fault| matches!(fault, Fault::Misfire(_)))
    }

    /// Whether there are no faults, and nine of ten possible boundaries completed. A carrier that
    /// never acts would have no faults either.
    pub fn clean(&self) -> bool {
        let refused: usize = self.refused.values().sum();
        self.faults.is_empty() && refused * 10 <= self.boundaries - self.killed
    }

    /// Median and maximum of the times.
    pub fn times(&self) -> Option<(f64, f64)> {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        Some((*sorted.get(sorted.len() / 2)?, *sorted.last()?))
    }

    /// The result as text.
    pub fn report(&self, name: &str) -> String {
        let mut lines = vec![format!("{name}: {} boundaries", self.boundaries)];
        let mix: Vec<_> = self.by_scenario.iter().map(|(name, n)| format!("{name} {n}")).collect();
        lines.push(format!("  scenarios              {}", mix.join(", ")));
        let met: Vec<_> = self.met.iter().map(|(what, n)| format!("{what} {n}")).collect();
        lines.push(format!("  met                    {}", met.join(", ")));
        lines.push(format!("  misfires               {}", self.misfires()));
        for (fault, count) in &self.faults {
            if let Fault::Misfire(kind) = fault {
                lines.push(format!("    {count} × {kind}"));
            }
        }
        let counted = [
            ("double injections", self.count(|f| *f == Fault::Double)),
            ("lost injections", self.count(|f| *f == Fault::Lost)),
            ("drafts lost", self.count(|f| *f == Fault::DraftLost)),
            ("left behind", self.count(|f| matches!(f, Fault::Left(_)))),
            ("not played to the end", self.count(|f| *f == Fault::Stuck)),
            ("no new session", self.refused.values().sum()),
            ("killed on purpose", self.killed),
        ];
        lines.extend(counted.iter().map(|(what, count)| format!("  {what:<22} {count}")));
        for (why, count) in &self.refused {
            lines.push(format!("    {count} × {why}"));
        }
        if let Some((median, worst)) = self.times() {
            let (n, what) = (self.seconds.len(), "from Stop, or from the end of what held it up,");
            lines.push(format!("  {what} to the new session's first request:"));
            lines.push(format!("    median {median:.2} s, worst {worst:.2} s ({n} boundaries)"));
            let slow = self.slowest.iter().map(|(seconds, what)| format!("{what} {seconds:.2} s"));
            lines.push(format!("    slowest: {}", slow.collect::<Vec<_>>().join(", ")));
        }
        lines.extend(self.details.iter().map(|line| format!("  ! {line}")));
        lines.join("\n")
    }
}
