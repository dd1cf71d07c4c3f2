//! Checks values, so that a bad one can neither switch the guard off nor block a run.

use super::tiers::{LONG_LIMIT, PRESETS};
use super::{FileSettings, Settings, When};
use crate::boundary::BoundarySettings;

/// The key, and what its value must be.
type Problem = (Vec<&'static str>, String);

const ORDER: &str = "tiers must rise in the same order on both gauges, within 0 to 100";

impl Settings {
    /// The first invalid value. The caller ignores the key that set it.
    pub fn problem(&self) -> Option<Problem> {
        let said = |key: &[&'static str], what: &str| Some((key.to_vec(), what.to_owned()));
        if let Some(problem) = self
            .file
            .problem()
            .or_else(|| self.boundary.problem())
            .or_else(|| self.phases.problem())
            .or_else(|| self.extract.problem())
        {
            return Some(problem);
        }
        if self.context.window.is_some_and(|w| w < 10_000) {
            return said(&["context", "window"], "must be 10,000 tokens or more");
        }
        if self.coach.every_percent <= 0.0 {
            return said(&["coach", "every_percent"], "must be above 0");
        }
        if self.coach.shell_chars < 200 {
            return said(&["coach", "shell_chars"], "must be 200 or more");
        }
        if let Some(problem) = self.phases.problem() {
            return Some(problem);
        }
        // Only numbers from the user can break the order, because the presets are ordered.
        for limit in [LONG_LIMIT, LONG_LIMIT - 1] {
            if let Some(why) = self.tiers_problem(limit, limit == LONG_LIMIT) {
                return said(&["tiers"], why);
            }
        }
        self.when.iter().find_map(|when| Some((vec!["when"], self.when_problem(when)?)))
    }

    fn tiers_problem(&self, limit: u64, ordered: bool) -> Option<&'static str> {
        let mut tiers = self.placed(limit);
        let sane = |at: f64, most: f64| (0.0..=most).contains(&at);
        if !tiers.iter().all(|t| sane(t.context, 100.0) && sane(t.file, 200.0)) {
            return Some(ORDER);
        }
        if tiers.iter().all(|t| t.blocks.is_empty()) {
            return Some(
                "one tier that blocks must be left; `shadow`: true is the way to block nothing",
            );
        }
        tiers.sort_by(|a, b| a.context.total_cmp(&b.context));
        let rise = tiers.windows(2).all(|w| w[0].context < w[1].context && w[0].file < w[1].file);
        (ordered && !rise).then_some(ORDER)
    }

    /// What is wrong with an entry of `when`, once it is applied to these settings.
    fn when_problem(&self, when: &When) -> Option<String> {
        if when.words.is_some_and(|words| words < FileSettings::LEAST_WORDS) {
            return Some(format!("words must be {} or more", FileSettings::LEAST_WORDS));
        }
        if let (Some(least), Some(most)) = (when.window_at_least, when.window_at_most)
            && least > most
        {
            return Some("window_at_least is larger than window_at_most".into());
        }
        if when.tiers.is_empty() {
            return None;
        }
        let mut held = self.clone();
        held.overlay(when);
        if let Some(name) = held.placeless().find(|name| when.tiers.contains_key(*name)) {
            return Some(incomplete_message(name));
        }
        // The entry may match long windows, short ones, or both, so one valid case is enough.
        let long = when.window_at_most.is_none_or(|most| most >= LONG_LIMIT);
        let short = when.window_at_least.is_none_or(|least| least < 2 * LONG_LIMIT);
        let limits = [(LONG_LIMIT, long), (LONG_LIMIT - 1, short)];
        let found: Vec<_> = limits
            .iter()
            .filter(|(_, met)| *met)
            .map(|(limit, _)| held.tiers_problem(*limit, true))
            .collect();
        let worst = found.iter().all(Option::is_some).then(|| found.first().copied().flatten());
        worst.flatten().map(str::to_owned)
    }
}

/// The message about a custom tier without thresholds.
pub(super) fn incomplete_message(name: &str) -> String {
    format!(
        "unknown tier {name} (known: {}); a new tier needs `context` and `file`",
        PRESETS.join(", ")
    )
}

impl FileSettings {
    const LEAST_WORDS: u64 = 100;

    fn problem(&self) -> Option<Problem> {
        if self.words < Self::LEAST_WORDS {
            return Some((vec!["file", "words"], format!("must be {} or more", Self::LEAST_WORDS)));
        }
        for (key, value) in [
            ("seal_target", self.seal_target),
            ("summary_slice", self.summary_slice),
            ("git_slice", self.git_slice),
        ] {
            if !(value > 0.0 && value <= 1.0) {
                return Some((vec!["file", key], "must be above 0 and at most 1".into()));
            }
        }
        if let Err(why) = self.shape.validate() {
            return Some((vec!["file", "shape"], why.to_string()));
        }
        if !(0.0..=100.0).contains(&self.min_written) {
            return Some((vec!["file", "min_written"], "must be between 0 and 100".into()));
        }
        None
    }
}

impl BoundarySettings {
    fn problem(&self) -> Option<Problem> {
        // A step of 0 seconds fails every boundary; one without end blocks the run.
        for (key, value, most) in [
            ("step_seconds", self.step_seconds, 3_600),
            ("give_up_seconds", self.give_up_seconds, 86_400),
        ] {
            if !(1..=most).contains(&value) {
                return Some((vec!["boundary", key], format!("must be between 1 and {most}")));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn problems_name_the_key() {
        for (settings, key, says) in [
            (json!({"file": {"words": 5}}), &["file", "words"][..], "100 or more"),
            (json!({"file": {"git_slice": 0}}), &["file", "git_slice"], "above 0"),
            (json!({"tiers": {"coach": {"file": 99}}}), &["tiers"], "must rise"),
            (json!({"tiers": {"coach": {"context": 101}}}), &["tiers"], "within 0 to 100"),
            (
                json!({"tiers": {"block-reads": {"off": true}, "narrow": {"off": true}}}),
                &["tiers"],
                "one tier that blocks",
            ),
            (
                json!({"tiers": {"block-reads": {"blocks": []}, "narrow": {"blocks": []}}}),
                &["tiers"],
                "one tier",
            ),
            (json!({"boundary": {"step_seconds": 0}}), &["boundary", "step_seconds"], "between 1"),
            (
                json!({"boundary": {"give_up_seconds": 0}}),
                &["boundary", "give_up_seconds"],
                "86400",
            ),
            (json!({"when": [{}, {"words": 5}]}), &["when"], "words must be 100"),
            (
                json!({"when": [{"window_at_least": 2, "window_at_most": 1}]}),
                &["when"],
                "window_at_least is larger",
            ),
            (
                json!({"when": [{"tiers": {"mine": {"context": 3}}}]}),
                &["when"],
                "unknown tier mine",
            ),
            (
                json!({"when": [{"window_at_most": 200_000, "tiers": {"coach": {"context": 65}}}]}),
                &["when"],
                "must rise",
            ),
            (
                json!({"when": [{"tiers": {"narrow": {"off": true}, "block-reads": {"off": true}}}]}),
                &["when"],
                "one tier that blocks",
            ),
        ] {
            let settings: Settings = serde_json::from_value(settings).unwrap();
            let (at, why) = settings.problem().unwrap();
            assert_eq!(at, key, "{why}");
            assert!(why.contains(says), "{why}");
        }
        // 65 keeps the order in only one of the two profiles, and one is enough.
        let some: Settings = serde_json::from_value(json!({"when": [
            {"model": "*haiku*", "tiers": {"coach": {"context": 45}, "narrow": {"context": 65}}},
        ]}))
        .unwrap();
        assert_eq!(some.problem(), None);
        assert_eq!(Settings::default().problem(), None);
    }
}
