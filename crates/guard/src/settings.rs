//! The settings and their defaults. `file` reads a file, `rules` checks the values, `tiers` computes
//! the tiers, `strictness` compares settings, and `sources` says which of them a session works by.

pub mod file;
mod notify;
mod phases;
mod project;
mod rules;
#[cfg(test)]
mod schema;
pub mod sources;
mod strictness;
mod tiers;

use std::collections::BTreeMap;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

pub use self::notify::{Notifier, NotifySettings};
pub use self::phases::{NamedPhase, PhaseSettings};
pub use self::strictness::leaves;
pub use self::tiers::{Profile, TierSetting};
use crate::boundary::BoundarySettings;
use crate::policy::bands::Band;
use base::switch::Switch;
use notes::compaction::Shape;
use notes::seal::Limits;
use sessions::settings::{ExtractSettings, SurgerySettings};

/// All settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Where an editor finds the schema of this file.
    #[serde(rename = "$schema", skip_serializing)]
    pub schema: Option<String>,
    /// Whether the guard is at work: `on`, `shadow` (decide and log, block nothing, clear nothing)
    /// or `off` (do nothing).
    pub mode: Mode,
    /// Settings for some projects, by the project's folder or a glob. It also matches the folders
    /// below.
    pub projects: BTreeMap<String, ProjectEntry>,
    /// The default thresholds of the tiers.
    pub profile: Profile,
    /// Tiers by name. A key that is left out keeps the profile's value.
    pub tiers: BTreeMap<String, TierSetting>,
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
    /// How a user who is away hears of a session.
    pub notify: NotifySettings,
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
            ..Limits::default()
        }
    }

    /// Whether the guard only decides and logs.
    pub fn is_shadow(&self) -> bool {
        self.mode == Mode::Shadow
    }

    /// The mode in a project: that of the longest matching key of `projects`, else `mode`.
    pub fn mode_in(&self, folder: &Path, home: Option<&Path>) -> Mode {
        let matches = |key: &str| {
            let glob = project_glob(key, home).ok();
            glob.is_some_and(|glob| folder.ancestors().any(|folder| glob.is_match(folder)))
        };
        let matching = self.projects.iter().filter(|(key, _)| matches(key));
        matching.max_by_key(|(key, _)| key.len()).map_or(self.mode, |(_, entry)| entry.mode)
    }
}

/// Parses a key of `projects`.
///
/// # Errors
/// What is wrong with it.
fn project_glob(key: &str, home: Option<&Path>) -> Result<GlobMatcher, String> {
    let path = match (key.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest).display().to_string(),
        _ => key.to_owned(),
    };
    if !path.starts_with('/') && !path.starts_with("~/") {
        return Err("must be a path or a glob that begins with / or ~/".to_owned());
    }
    let glob = GlobBuilder::new(path.trim_end_matches('/')).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|e| e.kind().to_string())
}

/// Settings for one project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectEntry {
    /// Replaces `mode`.
    pub mode: Mode,
}

/// Whether the guard is at work, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Measure, coach, block.
    #[default]
    On,
    /// Decide and log, block nothing, clear nothing.
    Shadow,
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
    /// The sections, their prompts, and which kind of note goes where.
    pub shape: Shape,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self { words: 2000, seal_target: 0.40, shape: Shape::default() }
    }
}

/// Notes to the agent, and what it may still read where reads are blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CoachSettings {
    /// Where reads are blocked, lines of an already read file that may be read again.
    pub reread_lines: u64,
    /// Where reads are blocked, characters that a shell command may add to the context.
    pub shell_chars: usize,
}

impl Default for CoachSettings {
    fn default() -> Self {
        Self { reread_lines: 200, shell_chars: 4000 }
    }
}

/// What the guard does in `-p` and SDK runs, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Headless {
    /// Do nothing.
    Off,
    /// Measure, coach, and cut long shell output.
    #[default]
    Coach,
    /// Also block tools and clear the session, while the client's input is open.
    Boundary,
}
