//! The layers, later wins: defaults, plugin options, user, project, environment, and what
//! of the environment the project sets. A bad key is named and left out; the rest of its
//! file stands.

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
    /// Its content, or why it could not be read.
    pub text: io::Result<String>,
}

/// A key that a layer set.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// Its parts.
    pub key: Vec<String>,
    /// What it was set to.
    pub value: Value,
    /// Where.
    pub place: Place,
}

/// What the layers come to, and what each of them said.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// What holds.
    pub settings: Settings,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// Every key that is set and holds, where it was set last.
    pub origins: Vec<Origin>,
}

/// The most faults that are told in a session.
pub const MOST_TOLD: usize = 10;

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

/// [`merge`] for the hook: of many faults it tells the first, and how many more there are.
pub fn merge_briefly(
    user: Option<&File>,
    project: Option<&File>,
    variables: &Variables,
) -> (Settings, Vec<Diagnostic>) {
    let mut merger = run(Merger::telling(MOST_TOLD), user, project, variables);
    let faults = merger.faults();
    (merger.settings, faults)
}

/// Merges the layers and keeps where every key came from, which the hook has no use for.
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
