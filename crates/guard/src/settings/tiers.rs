//! Computes the tiers' thresholds and what they block: the profile's presets, then the user's
//! numbers.

use serde::{Deserialize, Serialize};

use super::Settings;
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

/// The lowest limit in tokens for which the long-window presets apply.
pub(super) const LONG_LIMIT: u64 = 500_000;

/// The tiers of every profile.
pub(super) const PRESETS: [&str; 3] = ["coach", "block-reads", "narrow"];

impl Settings {
    /// The ramp for a context of `limit` tokens.
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

    /// Percent of the file's limit at which the first blocking tier begins. A sealed file must be
    /// smaller.
    pub fn file_block_percent(&self) -> f64 {
        let ramp = self.ramp(LONG_LIMIT);
        ramp.tier(ramp.first_blocking()).map_or(100.0, |t| t.file)
    }
}

#[cfg(test)]
mod tests;
