//! What can be tuned, and its defaults. Where the tiers lie is `settings::tiers`, what
//! a value must be `settings::rules`, reading the layers `settings::layers`.

mod diagnostic;
pub mod layers;
mod locate;
mod phases;
mod rules;
#[cfg(test)]
mod schema;
mod tiers;
pub mod trust;
mod wild;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::phases::{NamedPhase, PhaseSettings};
pub use self::tiers::{Model, Profile, TierSetting, When};
pub use self::trust::TrustSettings;
use crate::boundary::BoundarySettings;
use crate::compaction::Shape;
use crate::policy::bands::Band;
use crate::seal::Limits;
use base::switch::Switch;
use sessions::settings::{ExtractSettings, SurgerySettings};

/// Everything that can be tuned. Unknown keys are named by file, line and key.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Off: the hook does nothing at all.
    pub mode: Mode,
    /// Decide and log, block nothing, clear nothing.
    pub shadow: bool,
    /// Where the tiers lie by default.
    pub profile: Profile,
    /// Tiers by name; what is left out keeps the profile's value.
    pub tiers: BTreeMap<String, TierSetting>,
    /// What holds for some models only: all entries that fit, in order, over the profile and `tiers`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<When>,
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
    /// The phases of a job.
    pub phases: PhaseSettings,
    /// What happens in `-p` and SDK runs.
    pub headless: Headless,
    /// Keep the user's prompts beside the job's file; the delivery quotes the first and the last.
    pub prompts: Switch,
    /// Show context usage, the compaction file and the tier above the prompt box.
    pub strip: Switch,
    /// The store of sessions.
    pub surgery: SurgerySettings,
    /// What is extracted from session files, and when.
    pub extract: ExtractSettings,
    /// The projects whose jobs are yours, wherever they came from.
    pub trust: TrustSettings,
}

impl Settings {
    /// The limits of a seal.
    pub fn seal_limits(&self) -> Limits {
        Limits {
            theta_words: self.file.words as usize,
            target: self.file.seal_target,
            block: self.file_block_percent() / 100.0,
            summary_slice: self.file.summary_slice,
            git_slice: self.file.git_slice,
        }
    }
}

/// How much the guard does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Measure, coach, block.
    #[default]
    On,
    /// Nothing at all.
    Off,
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
