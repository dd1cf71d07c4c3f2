//! Settings of a job's phases: the text given to the agent on entry, and the entries required
//! on exit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use notes::job::{COACH_LETTERS, phase_name};

/// The highest valid `reflection_steps`.
const MOST_STEPS: u64 = 10;

/// The phases of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PhaseSettings {
    /// Process Insight entries that the agent must write before it leaves a phase. `none: why` counts only at 0. A project may only raise it.
    pub reflection_steps: u64,
    /// Phases by name, in any letter case. `*` stands for all other phases.
    pub names: BTreeMap<String, NamedPhase>,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NamedPhase {
    /// Text for the agent when it enters the phase, and in every session that starts in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coach: Option<String>,
    /// Overrides `phases.reflection_steps` for this phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflection_steps: Option<u64>,
}

impl Default for PhaseSettings {
    fn default() -> Self {
        Self { reflection_steps: 1, names: BTreeMap::new() }
    }
}

impl PhaseSettings {
    /// The first value that `get` finds: in the phase's own entry, then in `*`.
    fn first<T>(&self, name: &str, get: impl Fn(&NamedPhase) -> Option<T>) -> Option<T> {
        let name = name.to_lowercase();
        let mut own = self.names.iter().filter(|(key, _)| key.to_lowercase() == name);
        own.find_map(|(_, phase)| get(phase)).or_else(|| self.names.get("*").and_then(get))
    }

    /// The text for the agent on entry to the phase.
    pub fn coach(&self, name: &str) -> Option<String> {
        self.first(name, |phase| phase.coach.clone())
    }

    /// The entries that the phase requires on exit.
    pub fn steps(&self, name: &str) -> u64 {
        self.first(name, |phase| phase.reflection_steps).unwrap_or(self.reflection_steps)
    }

    /// The first invalid value, as (key path, message).
    pub(super) fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        if self.reflection_steps > MOST_STEPS {
            let why = format!("must be between 0 and {MOST_STEPS}");
            return Some((vec!["phases", "reflection_steps"], why));
        }
        for (key, named) in &self.names {
            let why = if named.reflection_steps.is_some_and(|steps| steps > MOST_STEPS) {
                format!("reflection_steps must be between 0 and {MOST_STEPS}")
            } else if named.coach.as_ref().is_some_and(|c| c.chars().count() > COACH_LETTERS) {
                format!(
                    "coach may have {COACH_LETTERS} letters; keep the rest in a file and name it"
                )
            } else if let Err(why) = phase_name(key) {
                why.to_string()
            } else {
                continue;
            };
            return Some((vec!["phases", "names"], format!("{key:?}: {why}")));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(json: serde_json::Value) -> PhaseSettings {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_phase_is_found_by_its_name_in_any_case_and_else_by_the_star() {
        let phases = phases(serde_json::json!({"names": {
            "Design": {"coach": "look twice"}, "*": {"coach": "any", "reflection_steps": 2}, "ship": {"reflection_steps": 0},
        }}));
        assert_eq!(phases.problem(), None);
        let of = |name: &str| (phases.coach(name), phases.steps(name));
        assert_eq!(of("design"), (Some("look twice".into()), 2));
        assert_eq!(of("ship"), (Some("any".into()), 0));
        assert_eq!(of("else"), (Some("any".into()), 2));
        assert_eq!(
            (PhaseSettings::default().coach("x"), PhaseSettings::default().steps("x")),
            (None, 1)
        );
    }

    #[test]
    fn values_that_can_not_hold_are_named() {
        for (json, key) in [
            (serde_json::json!({"reflection_steps": 11}), "reflection_steps"),
            (serde_json::json!({"names": {"a": {"reflection_steps": 11}}}), "names"),
            (serde_json::json!({"names": {"": {}}}), "names"),
            (serde_json::json!({"names": {"a": {"coach": "x".repeat(2001)}}}), "names"),
        ] {
            assert_eq!(phases(json).problem().unwrap().0[1], key);
        }
    }
}
