//! Environment variables that set a key. The client passes hooks one environment: its own, the
//! `env` blocks of its settings files, and the plugin's options.
//!
//! A variable in the project's client settings comes with a checkout, or an agent wrote it. It
//! may only tighten, unless the user sets the same value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::merger::Merger;
use crate::settings::diagnostic::Foreign;
use base::env::Env;

/// Prefix of the client's variables for plugin options.
const OPTION: &str = "CLAUDE_PLUGIN_OPTION_";

/// Plugin options, and the keys they set.
const OPTIONS: [(&str, &[&str]); 4] = [
    ("PROFILE", &["profile"]),
    ("THETA_WORDS", &["file", "words"]),
    ("HEADLESS", &["headless"]),
    ("MODE", &["mode"]),
];

/// Prefix of variables that set a key.
const SET: &str = "BRAIN_GUARD_SET_";

/// The variable that sets `shadow`.
const SHADOW: &str = "BRAIN_GUARD_SHADOW";

/// Common prefix of `SET` and `SHADOW`.
const OURS: &str = "BRAIN_GUARD_S";

/// The plugin's name in the client's settings, where `@` and its source may follow.
const PLUGIN: &str = "brain-guard";

/// All variables that set a key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Variables {
    /// Those of the user, as (name, value).
    user: Vec<(String, String)>,
    /// Those that the project sets.
    project: Vec<Foreign>,
}

/// The environment variables that one of the client's settings files sets.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientFile {
    path: String,
    /// `None` if the file is unreadable, so that it may set anything.
    content: Option<Content>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Content {
    env: BTreeMap<String, Value>,
    #[serde(rename = "pluginConfigs")]
    plugins: BTreeMap<String, Plugin>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Plugin {
    options: BTreeMap<String, Value>,
}

impl ClientFile {
    /// Parses a file; `text` is `None` if it could not be read.
    pub fn from_text(path: String, text: Option<&str>) -> Self {
        let parse = |text: &str| serde_json::from_str(text.trim_start_matches('\u{feff}')).ok();
        Self { path, content: text.and_then(parse) }
    }

    /// Whether the file's `env` block sets the variable, or may set it because it is unreadable.
    pub fn may_set(&self, name: &str) -> bool {
        self.content.as_ref().is_none_or(|content| content.env.contains_key(name))
    }

    /// The values it gives a variable: those of the plugin's option first, then that of `env`.
    pub fn values(&self, name: &str) -> Vec<String> {
        let Some(content) = &self.content else { return Vec::new() };
        let ours = |plugin: &str| plugin.split('@').next() == Some(PLUGIN);
        let plugins = content.plugins.iter().filter(|(plugin, _)| ours(plugin));
        let options = plugins.flat_map(|(_, plugin)| &plugin.options).filter(|(option, _)| {
            name.strip_prefix(OPTION).is_some_and(|name| name == option.to_uppercase())
        });
        options.map(|(_, value)| value).chain(content.env.get(name)).map(text).collect()
    }
}

/// Formats a value as the client writes it into the environment.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The user's own sources of variables.
#[derive(Debug)]
pub struct User {
    /// The user's own client settings.
    pub settings: ClientFile,
    /// The environment in which the user started the client, if readable.
    pub launch: Vec<(String, String)>,
}

impl User {
    /// The values that the user gave a variable.
    pub fn values(&self, name: &str) -> Vec<String> {
        let launched = self.launch.iter().filter(|(known, _)| known == name);
        let mut values = self.settings.values(name);
        values.extend(launched.map(|(_, value)| value.clone()));
        values
    }
}

impl From<&Env> for Variables {
    /// Counts all variables as the user's.
    fn from(env: &Env) -> Self {
        Self { user: set(env), project: Vec::new() }
    }
}

/// Our variables that are set, including empty ones.
fn set(env: &Env) -> Vec<(String, String)> {
    let whole = |prefix: &'static str| {
        let found = env.with_prefix(prefix).into_iter();
        found.map(move |(rest, value)| (format!("{prefix}{rest}"), value))
    };
    let all = whole(OPTION).chain(whole(OURS));
    all.filter(|(name, _)| key(name).is_some()).collect()
}

pub(super) fn key(name: &str) -> Option<Vec<String>> {
    if let Some(option) = name.strip_prefix(OPTION) {
        let (_, key) = OPTIONS.iter().find(|(known, _)| *known == option)?;
        return Some(key.iter().map(|part| (*part).to_owned()).collect());
    }
    if name == SHADOW {
        return Some(vec!["shadow".to_owned()]);
    }
    let name = name.strip_prefix(SET)?;
    let mut key: Vec<String> = name.to_lowercase().split("__").map(str::to_owned).collect();
    // A variable name cannot contain the hyphen of `block-reads`.
    if let [top, tier, ..] = key.as_mut_slice()
        && top == "tiers"
    {
        *tier = tier.replace('_', "-");
    }
    Some(key)
}

/// Converts a variable's value to the one its key expects.
fn value<'a>(name: &str, value: &'a str) -> &'a str {
    match (name, value) {
        (SHADOW, "1") => "true",
        (SHADOW, "0") => "false",
        (_, value) => value,
    }
}

impl Variables {
    /// Whether no variable is set.
    pub fn is_empty(&self) -> bool {
        self.user.is_empty() && self.project.is_empty()
    }

    /// Separates the project's variables from the user's. A variable that a project's file sets
    /// counts as the user's only if the user gave it the same value.
    #[must_use]
    pub fn traced(self, files: &[ClientFile], user: impl FnOnce() -> User) -> Self {
        let foreign = |name: &str| files.iter().find(|file| file.may_set(name));
        if self.user.iter().all(|(name, _)| foreign(name).is_none()) {
            return self;
        }
        let says = user();
        let mut traced = Self::default();
        for (name, value) in self.user {
            let file = foreign(&name);
            let values = file.map(|_| says.values(&name)).unwrap_or_default();
            let Some(file) = file.filter(|_| !values.contains(&value)) else {
                traced.user.push((name, value));
                continue;
            };
            if let Some(own) = values.into_iter().next() {
                traced.user.push((name.clone(), own));
            }
            if !value.is_empty() {
                traced.project.push(Foreign {
                    name,
                    value,
                    file: file.path.clone(),
                    certain: file.content.is_some(),
                    own: says.settings.path.clone(),
                });
            }
        }
        traced
    }

    /// A text that differs whenever the variables differ.
    pub fn text(&self) -> String {
        let user = self.user.iter().map(|(name, value)| format!("{name}={value}\n"));
        let project = self.project.iter().map(|v| format!("{}={}\n{}\n", v.name, v.value, v.file));
        user.chain(project).collect()
    }

    pub(super) fn add_options(&self, merger: &mut Merger) {
        self.add(merger, |name| name.starts_with(OPTION));
    }

    pub(super) fn add_keys(&self, merger: &mut Merger) {
        self.add(merger, |name| name == SHADOW);
        self.add(merger, |name| name.starts_with(SET));
    }

    fn add(&self, merger: &mut Merger, which: impl Fn(&str) -> bool) {
        for (name, text) in self.user.iter().filter(|(name, _)| which(name)) {
            let (Some(key), option) = (key(name), name.strip_prefix(OPTION)) else { continue };
            // An empty value means unset, except for variables that name a key.
            if text.is_empty() && !name.starts_with(SET) {
                continue;
            }
            let source = option.map(|option| format!("plugin option {}", option.to_lowercase()));
            merger.variable(&key, value(name, text), source.unwrap_or_else(|| name.clone()));
        }
    }

    /// Adds the project's variables, which may only tighten.
    pub(super) fn add_projects(&self, merger: &mut Merger) {
        for foreign in &self.project {
            if let Some(key) = key(&foreign.name) {
                merger.foreign(&key, value(&foreign.name, &foreign.value), foreign);
            }
        }
    }
}

#[cfg(test)]
mod tests;
