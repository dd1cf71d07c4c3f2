//! Where the tiers lie and what they block: the profile's presets, the user's
//! numbers over them, and what holds for some models only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Settings, wild};
use crate::policy::bands::Band;
use crate::policy::ramp::{Ramp, Tier};

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
/// a tier and must give its place on both gauges.
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
    /// Bands the main agent may no longer use, on top of what the milder tiers took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Band>>,
    /// True takes the tier out; one that blocks must be left.
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

    /// Whether it says enough to be a tier of its own.
    fn is_whole(&self) -> bool {
        self.off == Some(true) || (self.context.is_some() && self.file.is_some())
    }
}

/// What holds for some models only. Every condition that is given must be met.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// The model's id: `*` stands for any letters, `?` for one, case doesn't matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model's window has at most so many tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_at_most: Option<u64>,
    /// The model's window has at least so many tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_at_least: Option<u64>,
    /// Tiers, over those that hold for every model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tiers: BTreeMap<String, TierSetting>,
    /// In place of `file.words`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
}

/// The model a session works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model<'a> {
    /// Its id, where anything named it.
    pub name: Option<&'a str>,
    /// Its window in tokens.
    pub window: u64,
}

impl When {
    /// Whether it holds for the model.
    pub fn holds_for(&self, model: &Model) -> bool {
        let named = self.model.as_ref().is_none_or(|pattern| {
            model.name.is_some_and(|name| {
                // An event names the long variant by a suffix that the transcript leaves out.
                is_like(pattern, name) || is_like(pattern, name.trim_end_matches("[1m]"))
            })
        });
        named
            && self.window_at_most.is_none_or(|most| model.window <= most)
            && self.window_at_least.is_none_or(|least| model.window >= least)
    }
}

/// Whether `name` is like `pattern`, letter case aside.
fn is_like(pattern: &str, name: &str) -> bool {
    let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let (pattern, name) = (lower(pattern), lower(name));
    wild::fits(&pattern, &name, |c| *c == '*', |c, letter| *c == '?' || c == letter)
}

/// The limit from which on the long-window tiers hold.
pub(super) const LONG_LIMIT: u64 = 500_000;

/// The names of the tiers that every profile has.
pub(super) const PRESETS: [&str; 3] = ["coach", "block-reads", "narrow"];

impl Settings {
    /// These settings with what `when` says of the model.
    #[must_use]
    pub fn held_for(&self, model: &Model) -> Self {
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

    /// The ramp for a context of `limit` tokens. What holds for some models only is
    /// in it once [`Self::held_for`] has put it there.
    pub fn ramp(&self, limit: u64) -> Ramp {
        let mut tiers = self.placed(limit);
        // A number given for one profile may lie beyond its neighbour's place in the
        // other: the stricter tier stays where it is.
        tiers.sort_by(|a, b| a.file.total_cmp(&b.file));
        let mut ceiling = f64::INFINITY;
        for tier in tiers.iter_mut().rev() {
            tier.context = tier.context.min(ceiling);
            ceiling = (tier.context - 1.0).max(0.0);
        }
        Ramp::new(tiers)
    }

    /// The tiers as the numbers place them, in no order.
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

    /// Tiers of the user's own that don't say where they lie, so that they are none.
    pub(super) fn placeless(&self) -> impl Iterator<Item = &str> {
        let placeless =
            |(name, tier): &(&String, &TierSetting)| !is_preset(name) && !tier.is_whole();
        self.tiers.iter().filter(placeless).map(|(name, _)| name.as_str())
    }

    /// Percent of the file's limit at which the first blocking tier begins: a
    /// sealed file must be below it.
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
