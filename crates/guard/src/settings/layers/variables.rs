//! The variables that set a key. The client hands hooks its own environment, the `env`
//! blocks of its settings files and the plugin's options, all in one. Those that a project's
//! files of the client's settings name come with a checkout, or an agent wrote them there:
//! they may only tighten, unless the user says the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::merger::Merger;
use crate::settings::diagnostic::Foreign;
use base::env::Env;

/// The prefix of the client's variables for plugins' options.
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

/// What both of these begin with.
const OURS: &str = "BRAIN_GUARD_S";

/// The name of the plugin in the client's settings, where `@` and its source may follow.
const PLUGIN: &str = "brain-guard";

/// Every variable that sets something.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Variables {
    /// The user's, by names.
    user: Vec<(String, String)>,
    /// Those that came with the project.
    project: Vec<Foreign>,
}

/// What a settings file of the client's puts into the environment.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientFile {
    path: String,
    /// `None` where the file can't be read, so that it may hold anything.
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
    /// A file by its path and its text, if that can be read.
    pub fn of(path: String, text: Option<&str>) -> Self {
        let parse = |text: &str| serde_json::from_str(text.trim_start_matches('\u{feff}')).ok();
        Self { path, content: text.and_then(parse) }
    }

    /// Whether its `env` block may set the variable.
    pub fn names(&self, name: &str) -> bool {
        self.content.as_ref().is_none_or(|content| content.env.contains_key(name))
    }

    /// The values it gives a variable: as the plugin's option, which goes first, and by name.
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

/// A value as the client writes it into the environment.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What the user says of variables.
#[derive(Debug)]
pub struct User {
    /// The user's own settings of the client.
    pub settings: ClientFile,
    /// The environment in which the user started the client, where it can be read.
    pub launch: Vec<(String, String)>,
}

impl User {
    /// The values that are the user's.
    pub fn values(&self, name: &str) -> Vec<String> {
        let launched = self.launch.iter().filter(|(known, _)| known == name);
        let mut values = self.settings.values(name);
        values.extend(launched.map(|(_, value)| value.clone()));
        values
    }
}

impl From<&Env> for Variables {
    /// All of them as the user's.
    fn from(env: &Env) -> Self {
        Self { user: set(env), project: Vec::new() }
    }
}

/// The variables of ours that are set; empty ones are, too.
fn set(env: &Env) -> Vec<(String, String)> {
    let whole = |prefix: &'static str| {
        let found = env.with_prefix(prefix).into_iter();
        found.map(move |(rest, value)| (format!("{prefix}{rest}"), value))
    };
    let all = whole(OPTION).chain(whole(OURS));
    all.filter(|(name, _)| key(name).is_some()).collect()
}

/// The key that a variable sets.
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
    // A variable's name can't hold the hyphen of `block-reads`.
    if let [top, tier, ..] = key.as_mut_slice()
        && top == "tiers"
    {
        *tier = tier.replace('_', "-");
    }
    Some(key)
}

/// A variable's value as the key takes it.
fn value<'a>(name: &str, value: &'a str) -> &'a str {
    match (name, value) {
        (SHADOW, "1") => "true",
        (SHADOW, "0") => "false",
        (_, value) => value,
    }
}

impl Variables {
    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.user.is_empty() && self.project.is_empty()
    }

    /// Tells the project's from the user's. A variable that a file of the project sets is the
    /// user's only in a value that the user gave it.
    #[must_use]
    pub fn traced(self, files: &[ClientFile], user: impl FnOnce() -> User) -> Self {
        let foreign = |name: &str| files.iter().find(|file| file.names(name));
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

    /// What tells these from others.
    pub fn text(&self) -> String {
        let user = self.user.iter().map(|(name, value)| format!("{name}={value}\n"));
        let project = self.project.iter().map(|v| format!("{}={}\n{}\n", v.name, v.value, v.file));
        user.chain(project).collect()
    }

    /// Adds the plugin's options.
    pub(super) fn add_options(&self, merger: &mut Merger) {
        self.add(merger, |name| name.starts_with(OPTION));
    }

    /// Adds the user's other variables.
    pub(super) fn add_keys(&self, merger: &mut Merger) {
        self.add(merger, |name| name == SHADOW);
        self.add(merger, |name| name.starts_with(SET));
    }

    fn add(&self, merger: &mut Merger, which: impl Fn(&str) -> bool) {
        for (name, text) in self.user.iter().filter(|(name, _)| which(name)) {
            let (Some(key), option) = (key(name), name.strip_prefix(OPTION)) else { continue };
            // An empty value is none, but for variables that name a key.
            if text.is_empty() && !name.starts_with(SET) {
                continue;
            }
            let source = option.map(|option| format!("plugin option {}", option.to_lowercase()));
            merger.variable(&key, value(name, text), source.unwrap_or_else(|| name.clone()));
        }
    }

    /// Adds the project's, which may only tighten what holds.
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
