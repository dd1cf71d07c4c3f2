//! A project's settings file. It comes with a checkout, so it can only tighten, and it has no texts
//! that an agent or a user would read as the guard's own words.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Settings;
use crate::policy::bands::Band;

/// What a project may set. Every value counts only where it is stricter than the user's.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ProjectSettings {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    tiers: BTreeMap<String, Thresholds>,
    bands: BTreeMap<String, Band>,
    file: Words,
    coach: Limits,
    phases: Phases,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Thresholds {
    context: Option<f64>,
    file: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Words {
    words: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    reread_lines: Option<u64>,
    shell_chars: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Phases {
    reflection_steps: Option<u64>,
    names: BTreeMap<String, Steps>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Steps {
    reflection_steps: Option<u64>,
}

/// The lowest thresholds for a project's tiers, in percent. Lower ones would block a session from
/// its start.
const LEAST_CONTEXT: f64 = 10.0;
const LEAST_FILE: f64 = 50.0;

impl ProjectSettings {
    /// The user's settings with the project's values over them, and then what is left of them
    /// where they may only tighten.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn over(&self, user: &Settings) -> Result<(Settings, Settings), (Vec<String>, String)> {
        let mut asked = user.clone();
        let known: Vec<String> = user.placed(u64::MAX).into_iter().map(|tier| tier.name).collect();
        for (name, tier) in &self.tiers {
            let wrong = |key: &[&str], why: String| {
                let key = [&["tiers", name], key].concat();
                Err((key.into_iter().map(str::to_owned).collect(), why))
            };
            if !known.contains(name) {
                let known = known.join(", ");
                return wrong(&[], format!("a project has no tiers of its own; known: {known}"));
            }
            if tier.context.is_some_and(|at| at < LEAST_CONTEXT) {
                return wrong(&["context"], format!("must be {LEAST_CONTEXT} or more"));
            }
            if tier.file.is_some_and(|at| at < LEAST_FILE) {
                return wrong(&["file"], format!("must be {LEAST_FILE} or more"));
            }
            let place = asked.tiers.entry(name.clone()).or_default();
            place.context = tier.context.or(place.context);
            place.file = tier.file.or(place.file);
        }
        if let Some((tool, _)) = self.bands.iter().find(|(_, band)| **band != Band::Read) {
            let why = "must be `read`, which is blocked first".to_owned();
            return Err((vec!["bands".to_owned(), tool.clone()], why));
        }
        asked.bands.extend(self.bands.clone());
        asked.file.words = self.file.words.unwrap_or(asked.file.words);
        let coach = &mut asked.coach;
        coach.reread_lines = self.coach.reread_lines.unwrap_or(coach.reread_lines);
        coach.shell_chars = self.coach.shell_chars.unwrap_or(coach.shell_chars);
        let steps = self.phases.reflection_steps;
        asked.phases.reflection_steps = steps.unwrap_or(asked.phases.reflection_steps);
        for (name, phase) in &self.phases.names {
            let steps = phase.reflection_steps.unwrap_or_else(|| asked.phases.steps(name));
            asked.phases.names.entry(name.clone()).or_default().reflection_steps = Some(steps);
        }
        if let Some(why) = asked.problem() {
            return Err(why);
        }
        Ok((user.tightened(&asked), asked))
    }
}
