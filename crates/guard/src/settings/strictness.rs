//! Compares settings: what is stricter takes effect at once, everything else waits for a person.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tiers::LONG_LIMIT;
use super::{Profile, Settings, TierSetting};
use crate::policy::bands::Band;
use crate::policy::ramp::Tier;

/// One limit on each side of the point where the presets change.
const LIMITS: [u64; 2] = [LONG_LIMIT, LONG_LIMIT - 1];

/// A tier's thresholds and bands at both [`LIMITS`].
type Places = [Tier; 2];

impl Settings {
    /// These settings with every value of `by` that is stricter. A value that is neither stricter
    /// nor milder, such as a text, stays as it is here.
    #[must_use]
    pub fn tightened(&self, by: &Self) -> Self {
        let mut held = self.clone();
        held.mode = self.mode.min(by.mode);
        held.headless = self.headless.max(by.headless);
        held.surgery.agent = self.surgery.agent.min(by.surgery.agent);
        held.file.words = self.file.words.min(by.file.words);
        held.coach.reread_lines = self.coach.reread_lines.min(by.coach.reread_lines);
        held.coach.shell_chars = self.coach.shell_chars.min(by.coach.shell_chars);
        let read = by.bands.iter().filter(|(_, band)| **band == Band::Read);
        held.bands.extend(read.map(|(tool, band)| (tool.clone(), *band)));
        let steps = self.phases.reflection_steps.max(by.phases.reflection_steps);
        held.phases.reflection_steps = steps;
        for name in by.phases.names.keys() {
            let (ours, theirs) = (self.phases.steps(name), by.phases.steps(name));
            if theirs > ours {
                held.phases.names.entry(name.clone()).or_default().reflection_steps = Some(theirs);
            }
        }
        held.tighten_tiers(by);
        held
    }

    fn tighten_tiers(&mut self, by: &Self) {
        let (ours, theirs) = (self.both_places(), by.both_places());
        let stricter = |(name, ours): (&String, &Places)| {
            theirs.get(name).is_some_and(|theirs| {
                let all = ours.iter().zip(theirs);
                all.clone().all(|(a, b)| b.context <= a.context && b.file <= a.file)
                    && all.clone().all(|(a, b)| a.blocks.is_subset(&b.blocks))
            })
        };
        if ours.iter().all(stricter) {
            (self.profile, self.tiers) = (by.profile, by.tiers.clone());
            return;
        }
        if self.profile != by.profile {
            return;
        }
        for (name, theirs) in &theirs {
            let given = by.tiers.get(name).cloned().unwrap_or_default();
            let Some(ours) = ours.get(name) else {
                self.tiers.insert(name.clone(), TierSetting { off: None, ..given });
                continue;
            };
            let tier = self.tiers.entry(name.clone()).or_default();
            let lower = |of: fn(&Tier) -> f64| {
                let mut all = ours.iter().zip(theirs);
                all.all(|(a, b)| of(b) <= of(a))
            };
            if lower(|tier| tier.context) {
                tier.context = given.context;
            }
            if lower(|tier| tier.file) {
                tier.file = given.file;
            }
            if ours[0].blocks.is_subset(&theirs[0].blocks) {
                tier.blocks = given.blocks;
            }
        }
        self.tiers.retain(|_, tier| *tier != TierSetting::default());
    }

    fn both_places(&self) -> BTreeMap<String, Places> {
        let [long, short] = LIMITS.map(|limit| self.placed(limit));
        long.into_iter().zip(short).map(|(a, b)| (a.name.clone(), [a, b])).collect()
    }

    /// What differs in `new`, in words for the user: "narrow 30 → 65 %". The tiers are those of a
    /// context of `limit` tokens.
    pub fn changes(&self, new: &Self, limit: u64) -> Vec<String> {
        let mut said = Vec::new();
        let (ours, theirs) = (self.ramp(limit), new.ramp(limit));
        let find = |ramp: &crate::policy::ramp::Ramp, name: &str| {
            ramp.tiers().iter().find(|tier| tier.name == name).cloned()
        };
        for name in ours.tiers().iter().chain(theirs.tiers()).map(|tier| &tier.name) {
            let (old, new) = match (find(&ours, name), find(&theirs, name)) {
                (Some(old), Some(new)) => (old, new),
                (Some(_), None) => {
                    said.push(format!("{name} is gone"));
                    continue;
                }
                (None, Some(new)) => {
                    said.push(format!("{name} is new, at {} %", new.context));
                    continue;
                }
                (None, None) => continue,
            };
            let differ = |a: f64, b: f64| a.total_cmp(&b).is_ne();
            if differ(old.context, new.context) {
                said.push(format!("{name} {} → {} %", old.context, new.context));
            }
            if differ(old.file, new.file) {
                said.push(format!("{name} {} → {} % of the notes", old.file, new.file));
            }
            if old.blocks != new.blocks {
                let names = |tier: &Tier| {
                    let all: Vec<_> = tier.blocks.iter().map(|band| band.name()).collect();
                    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
                };
                said.push(format!("{name} blocks {} → {}", names(&old), names(&new)));
            }
        }
        let (ours, theirs) = (self.figures(), new.figures());
        for key in ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key))) {
            let shown = |all: &BTreeMap<String, Value>| {
                all.get(key).map_or_else(|| "none".to_owned(), shown)
            };
            if ours.get(key) != theirs.get(key) {
                said.push(format!("{key} {} → {}", shown(&ours), shown(&theirs)));
            }
        }
        let mut once = std::collections::BTreeSet::new();
        said.retain(|line| once.insert(line.clone()));
        said
    }

    /// Every value but those of the tiers, by its key.
    fn figures(&self) -> BTreeMap<String, Value> {
        let plain = Self { profile: Profile::default(), tiers: BTreeMap::new(), ..self.clone() };
        leaves(&serde_json::to_value(plain).unwrap_or_default()).into_iter().collect()
    }
}

/// A value in a line for the user. Texts and lists are long.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.len() <= 40 => text.clone(),
        Value::String(_) => "another text".to_owned(),
        Value::Array(_) => base::plain::line(&value.to_string(), 60),
        value => value.to_string(),
    }
}

/// The values of a JSON object by their keys, joined by dots.
pub fn leaves(value: &Value) -> Vec<(String, Value)> {
    fn collect(value: &Value, path: &str, all: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    let dot = if path.is_empty() { "" } else { "." };
                    collect(value, &format!("{path}{dot}{key}"), all);
                }
            }
            Value::Object(_) => {}
            value => all.push((path.to_owned(), value.clone())),
        }
    }
    let mut all = Vec::new();
    collect(value, "", &mut all);
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::settings::Mode;

    fn settings(json: Value) -> Settings {
        serde_json::from_value(json).unwrap()
    }

    fn contexts(settings: &Settings, limit: u64) -> Vec<f64> {
        settings.ramp(limit).tiers().iter().map(|tier| tier.context).collect()
    }

    #[test]
    fn what_is_stricter_holds_at_once_and_what_is_milder_does_not() {
        let old = settings(json!({"tiers": {"narrow": {"context": 65}}, "file": {"words": 1500}}));
        let new = settings(json!({
            "tiers": {"coach": {"context": 10}, "narrow": {"context": 90}},
            "file": {"words": 1000}, "mode": "off", "headless": "boundary",
            "coach": {"shell_chars": 9000, "reread_lines": 10},
            "bands": {"Bash": "control", "Task": "read"},
            "phases": {"reflection_steps": 3, "names": {"ship": {"reflection_steps": 4, "coach": "x"}}},
        }));
        let held = old.tightened(&new);
        assert_eq!(contexts(&held, 967_000), [10.0, 25.0, 65.0]);
        assert_eq!((held.file.words, held.mode), (1000, Mode::On));
        assert_eq!((held.coach.shell_chars, held.coach.reread_lines), (4000, 10));
        assert_eq!(held.bands, settings(json!({"bands": {"Task": "read"}})).bands);
        assert_eq!((held.phases.steps("ship"), held.phases.coach("ship")), (4, None));
        assert_eq!(held.headless, crate::settings::Headless::Boundary);
        assert_eq!(settings(json!({"mode": "off"})).tightened(&old).mode, Mode::On);
    }

    #[test]
    fn a_tier_is_added_and_brought_back_at_once_but_not_taken_out() {
        let own = json!({"tiers": {"no-shell": {"context": 27, "file": 92, "blocks": ["shell"]}}});
        let (plain, own) = (Settings::default(), settings(own));
        let off = settings(json!({"tiers": {"block-reads": {"off": true}}}));
        let names = |settings: &Settings| settings.ramp(967_000).tiers().len();
        assert_eq!(names(&plain.tightened(&own)), 4);
        assert_eq!(names(&own.tightened(&plain)), 4);
        assert_eq!((names(&off.tightened(&plain)), names(&plain.tightened(&off))), (3, 3));
    }

    #[test]
    fn a_stricter_profile_holds_at_once() {
        let (auto, relaxed) = (Settings::default(), settings(json!({"profile": "relaxed"})));
        assert_eq!(relaxed.tightened(&auto), auto);
        assert_eq!(auto.tightened(&relaxed), auto);
        // Neither stricter nor milder as a whole: it waits.
        let mixed = settings(json!({"profile": "relaxed", "tiers": {"coach": {"context": 15}}}));
        assert_eq!(auto.tightened(&mixed), auto);
    }

    #[test]
    fn changes_are_told_with_old_and_new_figures() {
        let old = settings(json!({"tiers": {"narrow": {"context": 65}}}));
        let new = settings(json!({
            "file": {"words": 3000}, "tiers": {"coach": {"off": true}, "narrow": {"file": 120}},
            "phases": {"names": {"ship": {"coach": "x".repeat(99)}}},
        }));
        assert_eq!(
            old.changes(&new, 967_000),
            [
                "coach is gone",
                "narrow 65 → 30 %",
                "narrow 100 → 120 % of the notes",
                "file.words 2000 → 3000",
                "phases.names.ship.coach none → another text",
            ]
        );
        assert_eq!(old.changes(&old, 967_000), Vec::<String>::new());
    }

    fn any_settings() -> impl Strategy<Value = Settings> {
        let tier = |name: &'static str| {
            prop::option::of((1.0..99.0f64, 1.0..150.0f64)).prop_map(move |at| match at {
                Some((context, file)) => json!({name: {"context": context, "file": file}}),
                None => json!({}),
            })
        };
        let all = (tier("coach"), tier("block-reads"), tier("narrow"), any::<bool>(), 100..5000u64);
        all.prop_map(|(a, b, c, relaxed, words)| {
            let mut tiers = serde_json::Map::new();
            for tier in [a, b, c] {
                tiers.extend(tier.as_object().cloned().unwrap_or_default());
            }
            let profile = if relaxed { "relaxed" } else { "auto" };
            settings(json!({"tiers": tiers, "profile": profile, "file": {"words": words}}))
        })
    }

    proptest! {
        /// Whatever a file says, no tier begins later than before.
        #[test]
        fn nothing_gets_milder(old in any_settings(), new in any_settings()) {
            let held = old.tightened(&new);
            for (name, places) in old.both_places() {
                let now = &held.both_places()[&name];
                for (then, now) in places.iter().zip(now) {
                    prop_assert!(now.context <= then.context && now.file <= then.file, "{name}");
                }
            }
            prop_assert!(held.file.words <= old.file.words);
            prop_assert_eq!(held.tightened(&new), held);
        }
    }
}
