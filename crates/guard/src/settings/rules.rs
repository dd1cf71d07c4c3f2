//! Checks values, so that a bad one can neither switch the guard off nor block a run.

use super::tiers::{LONG_LIMIT, PRESETS};
use super::{FileSettings, Notifier, Settings, TierSetting, project_glob};
use crate::policy::ramp::Tier;

/// The key, and what its value must be.
type Problem = (Vec<String>, String);

fn problem(key: &[&str], why: impl Into<String>) -> Problem {
    (key.iter().map(|part| (*part).to_owned()).collect(), why.into())
}

impl Settings {
    /// The first value that breaks a rule.
    pub fn problem(&self) -> Option<Problem> {
        let nested =
            |found: Option<(Vec<&'static str>, String)>| found.map(|(key, why)| problem(&key, why));
        if let Some(found) = self.file.problem() {
            return Some(found);
        }
        if let Some(found) =
            nested(self.phases.problem()).or_else(|| nested(self.extract.problem()))
        {
            return Some(found);
        }
        if self.context.window.is_some_and(|w| w < 10_000) {
            return Some(problem(&["context", "window"], "must be 10,000 tokens or more"));
        }
        if self.coach.shell_chars < 200 {
            return Some(problem(&["coach", "shell_chars"], "must be 200 or more"));
        }
        if self.notify.still_minutes == 0 {
            return Some(problem(&["notify", "still_minutes"], "must be 1 or more"));
        }
        if let Notifier::Program(words) = &self.notify.by {
            let program = words.first().map_or("", String::as_str);
            if program.is_empty() || (program.contains('/') && !program.starts_with('/')) {
                let why = "must begin with a program: its full path, or its name on the PATH";
                return Some(problem(&["notify", "by"], why));
            }
        }
        for key in self.projects.keys() {
            if let Err(why) = project_glob(key, None) {
                return Some(problem(&["projects", key], why));
            }
        }
        // Only numbers from the user can break the order, because the presets are ordered.
        let long = self.placed(LONG_LIMIT);
        self.tiers_problem(&long).or_else(|| self.order_problem(&long))
    }

    fn tiers_problem(&self, placed: &[Tier]) -> Option<Problem> {
        let whole = |tier: &TierSetting| {
            tier.off == Some(true) || (tier.context.is_some() && tier.file.is_some())
        };
        for (name, tier) in &self.tiers {
            if !PRESETS.contains(&name.as_str()) && !whole(tier) {
                let known = PRESETS.join(", ");
                let why = format!(
                    "unknown tier {name} (known: {known}); a new tier needs `context` and `file`"
                );
                return Some(problem(&["tiers", name], why));
            }
        }
        let short = self.placed(LONG_LIMIT - 1);
        for tier in placed.iter().chain(&short) {
            for (key, at, most) in [("context", tier.context, 100.0), ("file", tier.file, 200.0)] {
                if !(0.0..=most).contains(&at) {
                    let why = format!("must be between 0 and {most}");
                    return Some(problem(&["tiers", &tier.name, key], why));
                }
            }
        }
        if placed.iter().all(|tier| tier.blocks.is_empty()) {
            let why =
                "one tier that blocks must be left; `mode`: `shadow` is the way to block nothing";
            return Some(problem(&["tiers"], why));
        }
        None
    }

    /// Says which tier to move, and how far, where a stricter one begins before a milder one.
    fn order_problem(&self, tiers: &[Tier]) -> Option<Problem> {
        let rises = |a: &Tier, b: &Tier| a.context < b.context && a.file < b.file;
        let is_set =
            |tier: &Tier, of: fn(&TierSetting) -> bool| self.tiers.get(&tier.name).is_some_and(of);
        let pairs = tiers.iter().enumerate();
        let pairs = pairs.flat_map(|(at, one)| tiers[at + 1..].iter().map(move |two| [one, two]));
        let falling = pairs.filter(|[one, two]| !rises(one, two) && !rises(two, one));
        // The gauge that the user set is to blame, and the other one says which tier is milder.
        let judged = falling.map(|mut pair| {
            let of_context = pair.iter().any(|tier| is_set(tier, |t| t.context.is_some()));
            let places = |tier: &Tier| {
                if of_context { (tier.context, tier.file) } else { (tier.file, tier.context) }
            };
            pair.sort_by(|one, two| places(one).1.total_cmp(&places(two).1));
            (pair, pair.map(|tier| places(tier).0), of_context)
        });
        // A tier that gets out of the way of the farthest one is out of the way of all.
        let widest = judged
            .max_by(|(_, one, _), (_, two, _)| (one[0] - one[1]).total_cmp(&(two[0] - two[1])));
        let (pair, [a, b], of_context) = widest?;
        let [milder, stricter] = pair;
        let is_moved = |tier: &&Tier| is_set(tier, |t| *t != TierSetting::default());
        let moved = pair.into_iter().find(is_moved).unwrap_or(milder);
        let (mild, strict) = (&milder.name, &stricter.name);
        let way = if moved.name == *mild {
            format!("move {mild} below {b}")
        } else {
            format!("move {strict} above {a}")
        };
        let why = format!(
            "tiers must rise in one order for the context and for the notes; here {mild} begins at {a} % and {strict} at {b} %: {way}"
        );
        let key = if of_context { "context" } else { "file" };
        Some(problem(&["tiers", &moved.name, key], why))
    }
}

impl FileSettings {
    const LEAST_WORDS: u64 = 100;

    fn problem(&self) -> Option<Problem> {
        if self.words < Self::LEAST_WORDS {
            return Some(problem(
                &["file", "words"],
                format!("must be {} or more", Self::LEAST_WORDS),
            ));
        }
        if !(self.seal_target > 0.0 && self.seal_target <= 1.0) {
            return Some(problem(&["file", "seal_target"], "must be above 0 and at most 1"));
        }
        self.shape.validate().err().map(|why| problem(&["file", "shape"], why.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Mode;
    use super::*;

    #[test]
    fn problems_name_the_key() {
        for (settings, key, says) in [
            (json!({"file": {"words": 5}}), "file.words", "100 or more"),
            (json!({"file": {"seal_target": 0}}), "file.seal_target", "above 0"),
            (
                json!({"tiers": {"narrow": {"context": 15}}}),
                "tiers.narrow.context",
                "block-reads begins at 25 % and narrow at 15 %: move narrow above 25",
            ),
            (json!({"tiers": {"coach": {"file": 99}}}), "tiers.coach.file", "must rise"),
            (json!({"tiers": {"coach": {"context": 101}}}), "tiers.coach.context", "0 and 100"),
            (
                json!({"tiers": {"block-reads": {"off": true}, "narrow": {"off": true}}}),
                "tiers",
                "one tier that blocks",
            ),
            (
                json!({"tiers": {"block-reads": {"blocks": []}, "narrow": {"blocks": []}}}),
                "tiers",
                "one tier",
            ),
            (
                json!({"tiers": {"block_reads": {"context": 22}}}),
                "tiers.block_reads",
                "unknown tier",
            ),
            (json!({"projects": {"src": {"mode": "off"}}}), "projects.src", "begins with /"),
            (json!({"projects": {"/a/[b": {"mode": "off"}}}), "projects./a/[b", "unclosed"),
        ] {
            let settings: Settings = serde_json::from_value(settings).unwrap();
            let (at, why) = settings.problem().unwrap();
            assert_eq!(at.join("."), key, "{why}");
            assert!(why.contains(says), "{why}");
        }
        assert_eq!(Settings::default().problem(), None);
    }

    #[test]
    fn the_longest_key_that_matches_a_project_decides() {
        let settings: Settings = serde_json::from_value(json!({"projects": {
            "~/work": {"mode": "off"}, "~/work/*/app": {"mode": "on"}, "/tmp/": {"mode": "shadow"},
        }}))
        .unwrap();
        assert_eq!(settings.problem(), None);
        let mode = |folder: &str| settings.mode_in(folder.as_ref(), Some("/home/me".as_ref()));
        for (folder, wanted) in [
            ("/home/me/work", Mode::Off),
            ("/home/me/work/a/b", Mode::Off),
            ("/home/me/work/a/app", Mode::On),
            ("/home/me/workshop", Mode::On),
            ("/tmp/x", Mode::Shadow),
            ("/", Mode::On),
        ] {
            assert_eq!(mode(folder), wanted, "{folder}");
        }
    }
}
