//! Explains a decision: which carve-outs were checked for a call, and what each said. The decision
//! itself does not use this.

use super::event::{Event, ToolCall};
use super::facts::Facts;
use super::shadow::Decided;
use super::target::{absolute, own_command};
use super::wire::ToolInput;
use crate::files::journal::{Called, Tried, Verdict};
use crate::files::state;
use crate::hook::messages::NearMiss;
use crate::policy::bands::Band;
use crate::policy::command::OwnCall;
use crate::policy::decide::{Call, Decision, Denial, Target};
use crate::policy::ramp::Ramp;
use crate::policy::stance::Stance;
use crate::policy::verbs;

/// One call as the decision saw it.
pub struct TracedCall<'a> {
    pub facts: &'a Facts<'a>,
    pub event: &'a Event<'a>,
    /// The call as the client sent it.
    pub raw: &'a ToolCall<'a>,
    pub input: &'a ToolInput<'a>,
    /// The call as the policy decided it.
    pub call: &'a Call<'a>,
}

impl TracedCall<'_> {
    /// Why a shell command that names one of the agent's verbs was not accepted as one.
    pub fn near_miss(&self) -> Option<NearMiss> {
        let command = self.input.command.as_deref()?;
        if self.call.band != Band::Shell || self.call.target != Target::Other {
            return None;
        }
        let mut after = command.split("brain-guard").skip(1);
        let verb = after.find_map(|rest| {
            let word = rest.split_whitespace().next().filter(|_| rest.starts_with(' '))?;
            verbs::AGENT_VERBS.into_iter().find(|verb| *verb == word)
        })?;
        let reason = self.own_verbs().err()?;
        Some(NearMiss { verb, reason })
    }

    /// Records the decision for the journal if it is worth a line.
    pub fn account(&self, ramp: &Ramp, stance: &Stance, decided: &Decided) {
        let Decided { made: decision, would } = decided;
        let passed = *decision == Decision::Pass && would.is_none();
        let above = !self.call.subagent && stance.rank > 0;
        if passed && !above {
            return;
        }
        let denied = match decision {
            Decision::Deny(denial) => Some(*denial),
            _ => *would,
        };
        let verdict = match decision {
            _ if would.is_some() => Verdict::WouldDeny,
            Decision::Pass => Verdict::Pass,
            Decision::Allow | Decision::Execute => Verdict::Allow,
            Decision::PartialRead(_) => Verdict::Partial,
            Decision::Deny(_) => Verdict::Deny,
        };
        let squeezed = !passed || stance.effective(ramp) >= ramp.first_blocking();
        self.facts.account.call(Called {
            id: self.raw.id.to_owned(),
            tool: self.call.tool.to_owned(),
            band: self.call.band.name().to_owned(),
            subagent: self.call.subagent,
            verdict,
            why: denied.map(|d| d.name().to_owned()),
            tried: if squeezed { self.tried(ramp, stance) } else { Vec::new() },
            passes: (denied == Some(Denial::Tier)).then(|| self.passes(ramp)).flatten(),
        });
    }

    /// The first tier that blocks the call's band. Below it the call passes.
    fn passes(&self, ramp: &Ramp) -> Option<String> {
        let tier = ramp.tiers().iter().find(|t| t.blocks.contains(&self.call.band))?;
        Some(format!(
            "below the tier {} ({:.1} % of the context, {:.1} % of the file)",
            tier.name, tier.context, tier.file
        ))
    }

    fn tried(&self, ramp: &Ramp, stance: &Stance) -> Vec<Tried> {
        let mut tried = Vec::new();
        let mut add = |name: &str, outcome: Result<String, String>| {
            let held = outcome.is_ok();
            let why = outcome.unwrap_or_else(|why| why);
            tried.push(Tried { carve_out: name.to_owned(), held, why });
        };
        if self.call.target == Target::Operator {
            let theirs = "it would change the guard's own state, settings or program";
            add("the operator's", Err(theirs.to_owned()));
            return tried;
        }
        add("compaction file", self.compaction_file());
        if self.input.command.is_some() {
            add("own verbs", self.own_verbs());
        }
        add("control band", self.control());
        if self.call.tool == "Read" {
            add("partial re-read", self.re_read(ramp, stance));
        }
        let inside = "made by a subagent, where only the guard's own verbs are looked at";
        let outside = "made by the main loop";
        add(
            "subagent",
            if self.call.subagent { Ok(inside) } else { Err(outside) }
                .map(str::to_owned)
                .map_err(str::to_owned),
        );
        tried
    }

    fn compaction_file(&self) -> Result<String, String> {
        if !matches!(self.call.tool, "Read" | "Edit" | "Write") {
            return Err(format!("{} is not Read, Edit or Write", self.call.tool));
        }
        let live = self.facts.places.compaction(&self.facts.session.job);
        let path = self.input.file_path.as_deref().unwrap_or_default();
        let path = absolute(self.event, path);
        if self.call.target == Target::CompactionFile {
            Ok(format!("it is {}", live.display()))
        } else {
            Err(format!("{} is not {}", path.display(), live.display()))
        }
    }

    fn own_verbs(&self) -> Result<String, String> {
        let command = self.input.command.as_deref().unwrap_or_default();
        let own = own_command(self.facts, self.event, command)?;
        let verbs: Vec<&str> = own.calls.iter().map(OwnCall::verb).collect();
        if self.call.subagent && !verbs.iter().all(|verb| verbs::is_subagent_verb(verb)) {
            return Err("close, seal, phase and job are the main loop's".to_owned());
        }
        Ok(verbs.join(", "))
    }

    fn control(&self) -> Result<String, String> {
        let band = self.call.band;
        let line = format!("{} is in the band {}", self.call.tool, band.name());
        if band == Band::Control { Ok(line) } else { Err(line) }
    }

    fn re_read(&self, ramp: &Ramp, stance: &Stance) -> Result<String, String> {
        let tier = ramp.tier(stance.rank);
        if tier.is_some_and(|t| t.blocks.contains(&Band::Write)) {
            return Err("this tier blocks edits too, which a re-read is for".into());
        }
        let path = absolute(self.event, self.input.file_path.as_deref().unwrap_or_default());
        let path = path.to_string_lossy();
        if state::knows_file(&self.facts.places, self.facts.id, &path) {
            Ok(format!("{path} was read or edited in this session"))
        } else {
            Err(format!("{path} was neither read nor edited in this session"))
        }
    }
}
