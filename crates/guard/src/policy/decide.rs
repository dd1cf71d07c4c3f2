//! Decides on one tool call.

use serde::{Deserialize, Serialize};

use super::bands::Band;
use super::command::OwnCommand;
use super::ramp::Ramp;
use super::stance::Stance;

/// What a call touches that belongs to the guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Nothing of the guard.
    Other,
    /// The compaction file itself, through Read, Edit or Write.
    CompactionFile,
    /// Notes of this project or a saved output, to be read.
    Kept,
    /// Only our own verbs.
    Own(OwnCommand),
    /// Our settings, our state or our program.
    Operator,
}

/// One tool call.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its band.
    pub band: Band,
    /// A subagent made it.
    pub subagent: bool,
    /// What it touches that belongs to the guard.
    pub target: Target,
    /// Why its command, which names the program, is not one of the agent's own.
    pub not_own: Option<String>,
    /// The notes are sealed, and the boundary is pending.
    pub sealed: bool,
    /// It asks a person, and nobody is there to answer.
    pub unanswerable: bool,
}

/// Why a call is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Denial {
    /// The tier blocks the tool's band.
    Tier,
    /// The notes are sealed, so the turn should end.
    Sealed,
    /// Only the operator may do it.
    Operator,
    /// Subagents may not run `close`, `seal`, `phase` and `job`.
    MainLoopOnly,
    /// A question at the end of the session that nobody can answer.
    Unanswerable,
}

/// The decision on one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// No opinion: the client's own rules apply.
    Pass,
    /// Runs without a permission prompt.
    Allow,
    /// The hook executes the verbs itself.
    Execute,
    /// This many lines of an already read file may be read again.
    PartialRead(u64),
    /// Refused.
    Deny(Denial),
}

/// A decision, and the denial that shadow mode prevents.
#[derive(Debug)]
pub struct Decided {
    /// The actual decision.
    pub made: Decision,
    /// The prevented denial.
    pub would: Option<Denial>,
}

impl Decided {
    /// In shadow mode, which denies nothing and records everything. `uncapped` decides as if it did
    /// not cap the tier.
    pub fn in_shadow(made: Decision, uncapped: impl FnOnce() -> Option<Decision>) -> Self {
        let denial = |decision| match decision {
            Decision::Deny(denial) => Some(denial),
            Decision::Pass | Decision::Allow | Decision::Execute | Decision::PartialRead(_) => None,
        };
        let would = denial(made).or_else(|| {
            let decision = if made == Decision::Pass { uncapped() } else { None };
            decision.and_then(denial)
        });
        Self { made: if would.is_some() { Decision::Pass } else { made }, would }
    }
}

impl From<Decision> for Decided {
    fn from(made: Decision) -> Self {
        Self { made, would: None }
    }
}

/// The decision on a call. `known_file` returns whether the session has read or edited the call's
/// file before; it is called only if needed.
pub fn decide(
    call: &Call,
    stance: &Stance,
    ramp: &Ramp,
    partial_lines: u64,
    known_file: impl FnOnce() -> bool,
) -> Decision {
    let by_tier = || decide_by_tier(call, stance, ramp, partial_lines, known_file);
    match &call.target {
        Target::Operator => Decision::Deny(Denial::Operator),
        Target::CompactionFile => Decision::Allow,
        Target::Own(own) if call.subagent && !own.is_open_to_subagents() => {
            Decision::Deny(Denial::MainLoopOnly)
        }
        Target::Own(_) => Decision::Execute,
        // These files are outside the project, where the client would ask.
        Target::Kept => match by_tier() {
            Decision::Pass => Decision::Allow,
            decision => decision,
        },
        Target::Other => by_tier(),
    }
}

fn decide_by_tier(
    call: &Call,
    stance: &Stance,
    ramp: &Ramp,
    partial_lines: u64,
    known_file: impl FnOnce() -> bool,
) -> Decision {
    if call.subagent {
        return Decision::Pass;
    }
    if call.unanswerable && (call.sealed || is_at_top(stance, ramp)) {
        return Decision::Deny(Denial::Unanswerable);
    }
    if call.band == Band::Control {
        return Decision::Pass;
    }
    if call.sealed {
        return Decision::Deny(Denial::Sealed);
    }
    let Some(tier) = ramp.tier(stance.effective(ramp)) else { return Decision::Pass };
    if !tier.blocks.contains(&call.band) {
        return Decision::Pass;
    }
    let re_reads = call.tool == "Read" && !tier.blocks.contains(&Band::Write);
    if re_reads && known_file() {
        return Decision::PartialRead(partial_lines);
    }
    Decision::Deny(Denial::Tier)
}

/// Whether only the compaction file may be changed.
pub fn is_at_top(stance: &Stance, ramp: &Ramp) -> bool {
    ramp.first_blocking() <= ramp.top() && stance.effective(ramp) >= ramp.top()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::command::OwnCall;
    use crate::policy::stance::{Cap, Gauge};
    use crate::settings::Settings;

    fn stance(rank: usize, cap: Option<Cap>) -> Stance {
        Stance { rank, context_rank: rank, file_rank: 0, gauge: Gauge::Context, cap }
    }

    fn verdict(call: &Call, rank: usize, cap: Option<Cap>, known: bool) -> Decision {
        let ramp = Settings::default().ramp(967_000);
        decide(call, &stance(rank, cap), &ramp, 200, || known)
    }

    fn call(tool: &'static str, band: Band) -> Call<'static> {
        let target = Target::Other;
        let (subagent, sealed, unanswerable) = Default::default();
        Call { tool, band, subagent, target, not_own: None, sealed, unanswerable }
    }

    fn own(verb: &str) -> Target {
        let words = vec![verb.to_owned()];
        let call = OwnCall { words, input: None, after_success: false };
        Target::Own(OwnCommand { folder: None, calls: vec![call] })
    }

    #[test]
    fn bands_by_rank() {
        use Decision::{Deny, PartialRead, Pass};
        let deny = Deny(Denial::Tier);
        for (tool, band, expected) in [
            ("Read", Band::Read, [Pass, Pass, deny, deny]),
            ("Edit", Band::Write, [Pass, Pass, Pass, deny]),
            ("Bash", Band::Shell, [Pass, Pass, Pass, deny]),
            ("Agent", Band::Dispatch, [Pass, Pass, Pass, deny]),
            ("ToolSearch", Band::Control, [Pass, Pass, Pass, Pass]),
        ] {
            for (rank, want) in expected.iter().enumerate() {
                assert_eq!(&verdict(&call(tool, band), rank, None, false), want, "{tool} {rank}");
                let mut inside = call(tool, band);
                inside.subagent = true;
                assert_eq!(verdict(&inside, rank, None, false), Pass);
                assert_eq!(verdict(&call(tool, band), rank, Some(Cap::NoCarrier), false), Pass);
            }
        }
        assert_eq!(verdict(&call("Read", Band::Read), 2, None, true), PartialRead(200));
        assert_eq!(verdict(&call("Read", Band::Read), 3, None, true), deny);
    }

    #[test]
    fn notes_and_verbs_are_free_at_every_rank() {
        for rank in 0..=3 {
            let mut c = call("Bash", Band::Shell);
            c.target = own("seal");
            c.sealed = true;
            assert_eq!(verdict(&c, rank, None, false), Decision::Execute);
            c.subagent = true;
            assert_eq!(verdict(&c, rank, None, false), Decision::Deny(Denial::MainLoopOnly));
            c.target = own("append");
            assert_eq!(verdict(&c, rank, None, false), Decision::Execute);
            let mut c = call("Edit", Band::Write);
            c.target = Target::CompactionFile;
            assert_eq!(verdict(&c, rank, None, false), Decision::Allow);
            c.target = Target::Operator;
            assert_eq!(
                verdict(&c, rank, Some(Cap::Override), false),
                Decision::Deny(Denial::Operator)
            );
        }
    }

    #[test]
    fn what_is_kept_is_read_where_reads_are_free() {
        let mut c = call("Read", Band::Read);
        c.target = Target::Kept;
        assert_eq!(verdict(&c, 1, None, false), Decision::Allow);
        assert_eq!(verdict(&c, 2, None, false), Decision::Deny(Denial::Tier));
        c.subagent = true;
        assert_eq!(verdict(&c, 2, None, false), Decision::Allow);
    }

    #[test]
    fn after_the_seal_only_the_turns_end_is_left() {
        let mut c = call("Bash", Band::Shell);
        c.sealed = true;
        assert_eq!(verdict(&c, 1, None, false), Decision::Deny(Denial::Sealed));
        c.band = Band::Control;
        assert_eq!(verdict(&c, 3, None, false), Decision::Pass);
    }
}
