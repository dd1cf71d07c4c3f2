//! The settings and their defaults. `tiers` computes the tiers, `rules` checks the values, and
//! `layers` merges the files.

mod diagnostic;
pub mod layers;
mod locate;
mod phases;
mod rules;
#[cfg(test)]
mod schema;
mod tiers;
mod wild;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::phases::{NamedPhase, PhaseSettings};
pub use self::tiers::{Model, Profile, TierSetting, When};
use crate::boundary::BoundarySettings;
use crate::compaction::Shape;
use crate::policy::bands::Band;
use crate::seal::Limits;
use base::switch::Switch;
use sessions::settings::{ExtractSettings, SurgerySettings};

/// All settings. An unknown key is reported with its file and line.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `off`: the hook does nothing.
    pub mode: Mode,
    /// Decide and log, block nothing, clear nothing.
    pub shadow: bool,
    /// The default thresholds of the tiers.
    pub profile: Profile,
    /// Tiers by name. A key that is left out keeps the profile's value.
    pub tiers: BTreeMap<String, TierSetting>,
    /// Overrides for some models. All matching entries apply, in order, over profile and `tiers`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<When>,
    /// Band (class) of a tool, by its name or by a prefix that ends in `*`.
    pub bands: BTreeMap<String, Band>,
    /// How the context usage is measured.
    pub context: ContextSettings,
    /// The compaction file and its seal.
    pub file: FileSettings,
    /// Notes to the agent, and what it may still read where reads are blocked.
    pub coach: CoachSettings,
    /// The boundary between two sessions.
    pub boundary: BoundarySettings,
    /// The phases of a job.
    pub phases: PhaseSettings,
    /// What the guard does in `-p` and SDK runs.
    pub headless: Headless,
    /// Keep the user's prompts. The next session gets the first and the last of them.
    pub prompts: Switch,
    /// Show context usage, the compaction file and the tier above the prompt box.
    pub strip: Switch,
    /// The store of sessions.
    pub surgery: SurgerySettings,
    /// What is extracted from session files, and when.
    pub extract: ExtractSettings,
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

/// Whether the guard is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Measure, coach, block.
    #[default]
    On,
    /// Do nothing.
    Off,
}

/// How the context usage is measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ContextSettings {
    /// The model's window in tokens, in case the guard guesses it wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}

/// The compaction file and its seal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Word limit of the file.
    pub words: u64,
    /// The seal shrinks the file to this share of `words`.
    pub seal_target: f64,
    /// Share of `words` for the section Prior Summary.
    pub summary_slice: f64,
    /// Share of `words` for the section Git Commit Messages.
    pub git_slice: f64,
    /// A long file blocks tools only after this percentage of `words` was written in the session.
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

/// Notes to the agent, and what it may still read where reads are blocked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CoachSettings {
    /// Repeat a note after this many percent more.
    pub every_percent: f64,
    /// Repeat a note after this many calls.
    pub every_calls: u64,
    /// Where reads are blocked, lines of an already read file that may be read again.
    pub reread_lines: u64,
    /// Where reads are blocked, characters that a shell command may add to the context.
    pub shell_chars: usize,
}

impl Default for CoachSettings {
    fn default() -> Self {
        Self { every_percent: 1.0, every_calls: 25, reread_lines: 200, shell_chars: 4000 }
    }
}

/// What the guard does in `-p` and SDK runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Headless {
    /// Measure, coach, and cut long shell output.
    #[default]
    Coach,
    /// Also block tools and clear the session, while the client's input is open.
    Boundary,
    /// Do nothing.
    Off,
}
