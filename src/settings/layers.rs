//! The layers, later wins: defaults, plugin options, user, project, environment.
//! A bad key is named and left out; the rest of its file stands.

mod merger;
mod project;

use serde_json::Value;

use self::merger::Merger;
use super::Settings;
pub use super::diagnostic::{Diagnostic, Place};
use crate::env::Env;

/// A settings file as read from disk.
#[derive(Debug, Clone)]
pub struct File {
    /// Path, for messages.
    pub path: String,
    /// Its content.
    pub text: String,
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

/// The prefix of the client's variables for the plugin's options.
const OPTION: &str = "CLAUDE_PLUGIN_OPTION_";

/// The plugin's options, and the keys they set.
const OPTIONS: [(&str, &[&str]); 4] = [
    ("PROFILE", &["profile"]),
    ("THETA_WORDS", &["file", "words"]),
    ("HEADLESS", &["headless"]),
    ("MODE", &["mode"]),
];

/// The prefix of variables that set a key.
const SET: &str = "BRAIN_GUARD_SET_";

/// The variable that sets `shadow`.
const SHADOW: &str = "BRAIN_GUARD_SHADOW";

/// Every variable that sets something, whole.
pub fn variables(env: &Env) -> Vec<(String, String)> {
    let options = OPTIONS.iter().map(|(option, _)| format!("{OPTION}{option}"));
    let shadow = [SHADOW.to_owned()];
    let options =
        options.chain(shadow).filter_map(|name| env.get(&name).map(|value| (name, value)));
    options.chain(env.with_prefix(SET)).collect()
}

/// Merges the layers.
pub fn merge(
    user: Option<&File>,
    project: Option<&File>,
    env: &Env,
) -> (Settings, Vec<Diagnostic>) {
    let merger = run(Merger::default(), user, project, env);
    (merger.settings, merger.diagnostics)
}

/// Merges the layers and keeps where every key came from, which the hook has no use for.
pub fn trace(user: Option<&File>, project: Option<&File>, env: &Env) -> Merged {
    let mut merger = Merger::default();
    merger.origins = Some(Vec::new());
    let Merger { settings, diagnostics, origins, .. } = run(merger, user, project, env);
    Merged { settings, diagnostics, origins: origins.unwrap_or_default() }
}

fn run(mut merger: Merger, user: Option<&File>, project: Option<&File>, env: &Env) -> Merger {
    for (option, path) in OPTIONS {
        if let Some(value) = env.get(&format!("{OPTION}{option}")) {
            merger.variable(path, &value, format!("plugin option {}", option.to_lowercase()));
        }
    }
    if let Some(file) = user {
        merger.file(file, false);
    }
    if let Some(file) = project {
        merger.file(file, true);
    }
    if let Some(value) = env.get(SHADOW) {
        let value = match value.as_str() {
            "1" => "true",
            "0" | "" => "false",
            other => other,
        };
        merger.variable(&["shadow"], value, SHADOW.to_owned());
    }
    for (name, value) in env.with_prefix(SET) {
        let mut path: Vec<String> = name.to_lowercase().split("__").map(str::to_owned).collect();
        // A variable's name can't hold the hyphen of `block-reads`.
        if let [top, tier, ..] = path.as_mut_slice()
            && top == "tiers"
        {
            *tier = tier.replace('_', "-");
        }
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        merger.variable(&path, &value, format!("{SET}{name}"));
    }
    merger
}

#[cfg(test)]
mod tests;
