//! What a phase is told as it is entered, and how much its exit must reflect.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::job::{COACH_LETTERS, phase_name};

/// The most entries a reflection may be asked for.
const MOST_STEPS: u64 = 10;

/// The phases of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct PhaseSettings {
    /// Process Insight entries that a phase must write before it may be left; `none: why` counts only at 0. A project may only raise it.
    pub reflection_steps: u64,
    /// Phases by name, in any case; `*` stands for those that are not named.
    pub names: BTreeMap<String, NamedPhase>,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NamedPhase {
    /// What the agent is told as it enters, and again in every session that wakes up in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coach: Option<String>,
    /// As for all phases, for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflection_steps: Option<u64>,
}

impl Default for PhaseSettings {
    fn default() -> Self {
        Self { reflection_steps: 1, names: BTreeMap::new() }
    }
}

impl PhaseSettings {
    /// What the first of a phase's entries (its own, then `*`) says.
    fn first<T>(&self, name: &str, get: impl Fn(&NamedPhase) -> Option<T>) -> Option<T> {
        let name = name.to_lowercase();
        let mut own = self.names.iter().filter(|(key, _)| key.to_lowercase() == name);
        own.find_map(|(_, phase)| get(phase)).or_else(|| self.names.get("*").and_then(get))
    }

    /// The coaching for a phase of this name.
    pub fn coach(&self, name: &str) -> Option<String> {
        self.first(name, |phase| phase.coach.clone())
    }

    /// The reflection asked for at the exit of a phase of this name.
    pub fn steps(&self, name: &str) -> u64 {
        self.first(name, |phase| phase.reflection_steps).unwrap_or(self.reflection_steps)
    }

    /// What is wrong with these values, as (key path, what).
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
