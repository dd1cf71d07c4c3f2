//! What can be tuned, its defaults, and the rules that keep a bad value from
//! switching the guard off. Reading the layers is `settings::layers`.

pub mod layers;
mod locate;
#[cfg(test)]
mod schema;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::boundary::Inject;
use crate::compaction::Shape;
use crate::policy::bands::Band;
use crate::policy::ramp::{Ramp, Tier};

/// Everything that can be tuned. Unknown keys are named by file, line and key.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Off: the hook does nothing at all.
    pub mode: Mode,
    /// Where the tiers lie by default.
    pub profile: Profile,
    /// Tiers by name; what is left out keeps the profile's value.
    pub tiers: BTreeMap<String, TierSetting>,
    /// Band of a tool by its name, or by a prefix that ends in `*`.
    pub bands: BTreeMap<String, Band>,
    /// The context's gauge.
    pub context: ContextSettings,
    /// The compaction file and its seal.
    pub file: FileSettings,
    /// What is said and let through below the top of the ramp.
    pub coach: CoachSettings,
    /// The boundary between two sessions.
    pub boundary: BoundarySettings,
    /// What happens in `-p` and SDK runs.
    pub headless: Headless,
    /// Keep the user's prompts beside the job's file; the delivery quotes the first and the last.
    pub prompts: Switch,
}

/// How much the guard does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Measure, coach, block.
    #[default]
    On,
    /// Measure, coach, log what would be blocked, block nothing.
    Shadow,
    /// Nothing at all.
    Off,
}

/// Where the tiers lie on the context's gauge, in percent of its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// 20 / 25 / 30 where the limit is 500,000 tokens or more, else 50 / 60 / 70.
    #[default]
    Auto,
    /// 40 / 50 / 60 where the limit is 500,000 tokens or more, else 50 / 60 / 70.
    Relaxed,
}

/// One tier. What is left out keeps the profile's value; a name of your own adds
/// a tier and must give all three.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TierSetting {
    /// Percent of the context's limit at which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<f64>,
    /// Percent of the compaction file's limit at which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<f64>,
    /// Bands the main agent may no longer use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Band>>,
}

/// The context's gauge.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ContextSettings {
    /// The model's window in tokens, where the guess is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}

/// The compaction file and its seal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Words at which the file is full.
    pub words: u64,
    /// The seal shrinks the file to this part of `words`.
    pub seal_target: f64,
    /// Prior Summary's part of `words`.
    pub summary_slice: f64,
    /// Git Commit Messages' part of `words`.
    pub git_slice: f64,
    /// The file's gauge blocks only after so many percent of `words` were written since the last boundary.
    pub min_written: f64,
    /// The sections, their prompts, and which kind of note goes where.
    pub shape: Shape,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            words: 2000,
            seal_target: 0.40,
            summary_slice: 0.25,
            git_slice: 0.15,
            min_written: crate::policy::stance::MIN_WRITTEN,
            shape: Shape::default(),
        }
    }
}

/// What is said and let through below the top of the ramp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CoachSettings {
    /// A note is repeated after so many percent more.
    pub every_percent: f64,
    /// A note is repeated after so many calls.
    pub every_calls: u64,
    /// Lines of a known file that may be read again where reads are blocked.
    pub reread_lines: u64,
    /// Characters a shell command may bring into the context where reads are blocked.
    pub shell_chars: usize,
}

impl Default for CoachSettings {
    fn default() -> Self {
        Self { every_percent: 1.0, every_calls: 25, reread_lines: 200, shell_chars: 4000 }
    }
}

/// Which carrier executes a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CarrierChoice {
    /// The best one that works here.
    #[default]
    Auto,
    /// In process, by the plugin's module.
    Mod,
    /// Keys into the client's tmux pane.
    Tmux,
    /// Keys into the client's X11 window.
    X11,
    /// The program of `boundary.command`.
    Command,
    /// The user types `/clear`.
    Manual,
}

/// The boundary between two sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct BoundarySettings {
    /// What executes it.
    pub carrier: CarrierChoice,
    /// How the text reaches a session that was cleared through its terminal.
    pub inject: Inject,
    /// The program and arguments of the carrier `command`; it gets the plan as JSON on stdin. User settings only.
    pub command: Vec<String>,
    /// Whether the carriers may use the chords that install put into the client's `keybindings.json`.
    pub chords: Switch,
    /// Seconds without a key or a pointer's move after which the x11 carrier may bring the client's window to the front.
    pub x11_idle_seconds: u64,
    /// Seconds of warning while someone is at the terminal.
    pub attended_notice_seconds: u64,
    /// Minutes after a human prompt in which someone counts as being there.
    pub attended_minutes: u64,
    /// Seconds between two boundaries of a job.
    pub min_interval_seconds: u64,
    /// Boundaries of a job in an hour.
    pub max_per_hour: u64,
    /// Seconds to wait for background agents.
    pub agents_wait_seconds: u64,
    /// Seconds each step of a boundary may take before it counts as failed.
    pub step_seconds: u64,
    /// Seconds for which a carrier tries again what was refused (another window in front, a dialog), before the
    /// boundary is given up and the session goes on without blocks.
    pub give_up_seconds: u64,
    /// Seconds to back off, try by try, before a new session whose first request got no answer is asked to go
    /// on; past the last try it is left to the user.
    pub retry_seconds: Vec<u64>,
}

impl Default for BoundarySettings {
    fn default() -> Self {
        Self {
            carrier: CarrierChoice::Auto,
            inject: Inject::Hook,
            command: Vec::new(),
            chords: Switch::On,
            x11_idle_seconds: 30,
            attended_notice_seconds: 60,
            attended_minutes: 10,
            min_interval_seconds: 120,
            max_per_hour: 12,
            agents_wait_seconds: 600,
            step_seconds: 20,
            give_up_seconds: 600,
            retry_seconds: vec![5, 20, 60, 120, 300, 600],
        }
    }
}

/// What happens in `-p` and SDK runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Headless {
    /// Measure, coach, cap what the shell brings in.
    #[default]
    Coach,
    /// Block and cross boundaries too, while the client's input is open.
    Boundary,
    /// Nothing at all.
    Off,
}

/// A plain switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Yes.
    #[default]
    On,
    /// No.
    Off,
}

/// The limit from which on the long-window tiers hold.
const LONG_LIMIT: u64 = 500_000;

impl Settings {
    /// The ramp for a context of `limit` tokens.
    pub fn ramp(&self, limit: u64) -> Ramp {
        let at = match (self.profile, limit >= LONG_LIMIT) {
            (Profile::Auto, true) => [20.0, 25.0, 30.0],
            (Profile::Relaxed, true) => [40.0, 50.0, 60.0],
            (_, false) => [50.0, 60.0, 70.0],
        };
        let all = [Band::Read, Band::Write, Band::Shell, Band::Dispatch];
        let preset = [
            ("coach", at[0], 70.0, &all[..0]),
            ("block-reads", at[1], 85.0, &all[..1]),
            ("narrow", at[2], 100.0, &all[..]),
        ];
        let mut tiers: Vec<Tier> = preset
            .iter()
            .map(|(name, context, file, blocks)| Tier {
                name: (*name).to_owned(),
                context: *context,
                file: *file,
                blocks: blocks.iter().copied().collect(),
            })
            .collect();
        for (name, setting) in &self.tiers {
            if let Some(tier) = tiers.iter_mut().find(|t| &t.name == name) {
                tier.context = setting.context.unwrap_or(tier.context);
                tier.file = setting.file.unwrap_or(tier.file);
                if let Some(blocks) = &setting.blocks {
                    tier.blocks = blocks.iter().copied().collect();
                }
            } else if let TierSetting { context: Some(context), file: Some(file), blocks } = setting
            {
                let blocks = blocks.iter().flatten().copied().collect();
                tiers.push(Tier { name: name.clone(), context: *context, file: *file, blocks });
            }
        }
        Ramp::new(tiers)
    }

    /// Percent of the file's limit at which the first blocking tier begins: a
    /// sealed file must be below it.
    pub fn file_block_percent(&self) -> f64 {
        let ramp = self.ramp(LONG_LIMIT);
        ramp.tier(ramp.first_blocking()).map_or(100.0, |t| t.file)
    }

    /// What is wrong with these values, as (key path, what, way out); the caller
    /// drops the key that brought it in.
    pub fn problem(&self) -> Option<(Vec<&'static str>, String)> {
        let percent = |v: f64| (0.0..=100.0).contains(&v);
        let part = |v: f64| v > 0.0 && v <= 1.0;
        let file = &self.file;
        if file.words < 100 {
            return Some((vec!["file", "words"], "must be 100 or more".into()));
        }
        for (key, value) in [
            ("seal_target", file.seal_target),
            ("summary_slice", file.summary_slice),
            ("git_slice", file.git_slice),
        ] {
            if !part(value) {
                return Some((vec!["file", key], "must be above 0 and at most 1".into()));
            }
        }
        if let Err(why) = file.shape.validate() {
            return Some((vec!["file", "shape"], why.to_string()));
        }
        if !percent(file.min_written) {
            return Some((vec!["file", "min_written"], "must be between 0 and 100".into()));
        }
        if self.context.window.is_some_and(|w| w < 10_000) {
            return Some((vec!["context", "window"], "must be 10,000 tokens or more".into()));
        }
        if self.coach.every_percent <= 0.0 {
            return Some((vec!["coach", "every_percent"], "must be above 0".into()));
        }
        if self.coach.shell_chars < 200 {
            return Some((vec!["coach", "shell_chars"], "must be 200 or more".into()));
        }
        for limit in [LONG_LIMIT, LONG_LIMIT - 1] {
            let ramp = self.ramp(limit);
            let ordered = ramp
                .tiers()
                .windows(2)
                .all(|w| w[0].context < w[1].context && w[0].file < w[1].file);
            let sane =
                ramp.tiers().iter().all(|t| percent(t.context) && (0.0..=200.0).contains(&t.file));
            // Only numbers the user gave can break the order: the presets are ordered.
            if !sane || (limit == LONG_LIMIT && !ordered) {
                return Some((
                    vec!["tiers"],
                    "tiers must rise in the same order on both gauges, within 0 to 100".into(),
                ));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_single_numbers() {
        let places = |s: &Settings, limit| -> Vec<f64> {
            s.ramp(limit).tiers().iter().map(|t| t.context).collect()
        };
        let mut s = Settings::default();
        assert_eq!(places(&s, 967_000), [20.0, 25.0, 30.0]);
        assert_eq!(places(&s, 167_000), [50.0, 60.0, 70.0]);
        s.profile = Profile::Relaxed;
        assert_eq!(places(&s, 967_000), [40.0, 50.0, 60.0]);
        s.tiers
            .insert("narrow".into(), TierSetting { context: Some(90.0), ..TierSetting::default() });
        assert_eq!(places(&s, 967_000), [40.0, 50.0, 90.0]);
        assert_eq!(s.problem(), None);
    }

    #[test]
    fn a_tier_of_ones_own() {
        let mut s = Settings::default();
        let tier = TierSetting {
            context: Some(27.0),
            file: Some(92.0),
            blocks: Some(vec![Band::Read, Band::Shell]),
        };
        s.tiers.insert("no-shell".into(), tier);
        let ramp = s.ramp(967_000);
        assert_eq!(ramp.name(3), "no-shell");
        assert_eq!(ramp.top(), 4);
        assert_eq!(s.problem(), None);
    }

    #[test]
    fn problems_name_the_key() {
        let mut s = Settings::default();
        s.file.words = 5;
        assert_eq!(s.problem().unwrap().0, ["file", "words"]);
        let mut s = Settings::default();
        s.tiers.insert("coach".into(), TierSetting { file: Some(99.0), ..TierSetting::default() });
        assert_eq!(s.problem().unwrap().0, ["tiers"]);
    }
}
