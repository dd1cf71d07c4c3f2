//! Merges the settings layers, later ones win: defaults, plugin options, user, project,
//! environment, and variables that the project sets. A bad key is reported and ignored; the rest
//! of its file applies.

mod keys;
mod merger;
mod project;
mod tree;
mod variables;

use std::io;

use serde_json::Value;

use self::merger::Merger;
pub use self::variables::{ClientFile, User, Variables};
use super::Settings;
pub use super::diagnostic::{Diagnostic, Place};

/// A settings file as read from disk.
#[derive(Debug)]
pub struct File {
    /// Path, for messages.
    pub path: String,
    /// Its content, or the read error.
    pub text: io::Result<String>,
}

/// A key that a layer set.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// Parts of the key.
    pub key: Vec<String>,
    /// The value.
    pub value: Value,
    /// Where it was set.
    pub place: Place,
}

/// The merged settings, with the origin of each key.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The settings that apply.
    pub settings: Settings,
    /// The errors.
    pub diagnostics: Vec<Diagnostic>,
    /// Every key that is set and applies, with the place that set it last.
    pub origins: Vec<Origin>,
}

/// Maximum errors that the hook reports in a session.
pub const MAX_REPORTED: usize = 10;

/// Merges the layers.
pub fn merge(
    user: Option<&File>,
    project: Option<&File>,
    variables: impl Into<Variables>,
) -> (Settings, Vec<Diagnostic>) {
    let mut merger = run(Merger::default(), user, project, &variables.into());
    let faults = merger.faults();
    (merger.settings, faults)
}

/// [`merge`] for the hook: reports only the first errors, and how many more there are.
pub fn merge_briefly(
    user: Option<&File>,
    project: Option<&File>,
    variables: &Variables,
) -> (Settings, Vec<Diagnostic>) {
    let mut merger = run(Merger::with_max_errors(MAX_REPORTED), user, project, variables);
    let faults = merger.faults();
    (merger.settings, faults)
}

/// Merges the layers and records the origin of every key, which the hook does not need.
pub fn trace(
    user: Option<&File>,
    project: Option<&File>,
    variables: impl Into<Variables>,
) -> Merged {
    let mut merger = Merger::default();
    merger.origins = Some(Vec::new());
    let mut merger = run(merger, user, project, &variables.into());
    let (diagnostics, origins) = (merger.faults(), merger.origins.take().unwrap_or_default());
    Merged { settings: merger.settings, diagnostics, origins }
}

fn run(
    mut merger: Merger,
    user: Option<&File>,
    project: Option<&File>,
    variables: &Variables,
) -> Merger {
    variables.add_options(&mut merger);
    if let Some(file) = user {
        merger.file(file, false);
    }
    if let Some(file) = project {
        merger.file(file, true);
    }
    variables.add_keys(&mut merger);
    variables.add_projects(&mut merger);
    merger
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
