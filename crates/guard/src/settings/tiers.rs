//! Computes the tiers' thresholds and what they block: the profile's presets, then the user's
//! numbers, then overrides for some models.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Settings, wild};
use crate::policy::bands::Band;
use crate::policy::ramp::{Ramp, Tier};

/// The thresholds of the tiers, in percent of the context's limit.
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

/// One tier. A key that is left out keeps the profile's value. A new name adds a tier and must
/// give both `context` and `file`.
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
    /// Bands of tools that the main agent may not use, in addition to those of the milder tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Band>>,
    /// True removes the tier. At least one tier that blocks must remain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<bool>,
}

impl TierSetting {
    fn overlay(&mut self, over: &Self) {
        self.context = over.context.or(self.context);
        self.file = over.file.or(self.file);
        self.blocks = over.blocks.clone().or_else(|| self.blocks.take());
        self.off = over.off.or(self.off);
    }

    /// Whether a custom tier is complete.
    fn is_whole(&self) -> bool {
        self.off == Some(true) || (self.context.is_some() && self.file.is_some())
    }
}

/// Overrides for some models. Every given condition must be met.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// The model's id. `*` stands for any letters, `?` for one; letter case is ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Applies to models whose window has at most this many tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_at_most: Option<u64>,
    /// Applies to models whose window has at least this many tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_at_least: Option<u64>,
    /// Tiers, over those for every model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tiers: BTreeMap<String, TierSetting>,
    /// Replaces `file.words`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
}

/// The model of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model<'a> {
    /// Its id, if known.
    pub name: Option<&'a str>,
    /// Its window in tokens.
    pub window: u64,
}

impl When {
    /// Whether the conditions match the model.
    pub fn holds_for(&self, model: &Model) -> bool {
        let named = self.model.as_ref().is_none_or(|pattern| {
            model.name.is_some_and(|name| {
                // Hook events add a suffix for the long-window variant; transcripts do not.
                is_like(pattern, name) || is_like(pattern, name.trim_end_matches("[1m]"))
            })
        });
        named
            && self.window_at_most.is_none_or(|most| model.window <= most)
            && self.window_at_least.is_none_or(|least| model.window >= least)
    }
}

/// Whether `name` matches `pattern`, ignoring letter case.
fn is_like(pattern: &str, name: &str) -> bool {
    let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let (pattern, name) = (lower(pattern), lower(name));
    wild::fits(&pattern, &name, |c| *c == '*', |c, letter| *c == '?' || c == letter)
}

/// The lowest limit in tokens for which the long-window presets apply.
pub(super) const LONG_LIMIT: u64 = 500_000;

/// The tiers of every profile.
pub(super) const PRESETS: [&str; 3] = ["coach", "block-reads", "narrow"];

impl Settings {
    /// These settings with the entries of `when` that match the model.
    #[must_use]
    pub fn for_model(&self, model: &Model) -> Self {
        let mut held = self.clone();
        for when in self.when.iter().filter(|when| when.holds_for(model)) {
            held.overlay(when);
        }
        held
    }

    pub(super) fn overlay(&mut self, when: &When) {
        for (name, over) in &when.tiers {
            self.tiers.entry(name.clone()).or_default().overlay(over);
        }
        self.file.words = when.words.unwrap_or(self.file.words);
    }

    /// The ramp for a context of `limit` tokens. Overrides for models apply only after `for_model`.
    pub fn ramp(&self, limit: u64) -> Ramp {
        let mut tiers = self.placed(limit);
        // A number for one profile may break the order of the other. Then the milder tiers move
        // down, and the stricter one stays.
        tiers.sort_by(|a, b| a.file.total_cmp(&b.file));
        let mut ceiling = f64::INFINITY;
        for tier in tiers.iter_mut().rev() {
            tier.context = tier.context.min(ceiling);
            ceiling = (tier.context - 1.0).max(0.0);
        }
        Ramp::new(tiers)
    }

    /// The tiers with their thresholds, in no order.
    pub(super) fn placed(&self, limit: u64) -> Vec<Tier> {
        let at = match (self.profile, limit >= LONG_LIMIT) {
            (Profile::Auto, true) => [20.0, 25.0, 30.0],
            (Profile::Relaxed, true) => [40.0, 50.0, 60.0],
            (_, false) => [50.0, 60.0, 70.0],
        };
        let all = [Band::Read, Band::Write, Band::Shell, Band::Dispatch];
        let preset = [(at[0], 70.0, &all[..0]), (at[1], 85.0, &all[..1]), (at[2], 100.0, &all[..])];
        let mut tiers: Vec<Tier> = PRESETS
            .iter()
            .zip(preset)
            .map(|(name, (context, file, blocks))| Tier {
                name: (*name).to_owned(),
                context,
                file,
                blocks: blocks.iter().copied().collect(),
            })
            .collect();
        for (name, setting) in &self.tiers {
            let at = tiers.iter().position(|tier| tier.name == *name);
            if setting.off == Some(true) {
                tiers.retain(|tier| tier.name != *name);
            } else if let Some(at) = at {
                let tier = &mut tiers[at];
                tier.context = setting.context.unwrap_or(tier.context);
                tier.file = setting.file.unwrap_or(tier.file);
                if let Some(blocks) = &setting.blocks {
                    tier.blocks = blocks.iter().copied().collect();
                }
            } else if let TierSetting { context: Some(context), file: Some(file), .. } = setting {
                let blocks = setting.blocks.iter().flatten().copied().collect();
                tiers.push(Tier { name: name.clone(), context: *context, file: *file, blocks });
            }
        }
        tiers
    }

    /// Custom tiers without both thresholds, which are ignored.
    pub(super) fn placeless(&self) -> impl Iterator<Item = &str> {
        let placeless =
            |(name, tier): &(&String, &TierSetting)| !is_preset(name) && !tier.is_whole();
        self.tiers.iter().filter(placeless).map(|(name, _)| name.as_str())
    }

    /// Percent of the file's limit at which the first blocking tier begins. A sealed file must be
    /// smaller.
    pub fn file_block_percent(&self) -> f64 {
        let ramp = self.ramp(LONG_LIMIT);
        ramp.tier(ramp.first_blocking()).map_or(100.0, |t| t.file)
    }
}

fn is_preset(name: &str) -> bool {
    PRESETS.contains(&name)
}

#[cfg(test)]
mod tests;
