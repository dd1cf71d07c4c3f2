//! The layers, later wins: defaults, plugin options, user, project, environment.
//! A bad key is named and left out; the rest of its file stands.

use serde_json::{Map, Value};

use super::Settings;
use super::locate::{in_words, line_of};
use crate::env::Env;

/// A settings file as read from disk.
#[derive(Debug, Clone)]
pub struct File {
    /// Path, for messages.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// What is wrong in a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// File, line and key, what is wrong, and what holds instead.
    pub message: String,
}

/// Project settings may tighten; what would loosen or run something is the user's.
const USER_ONLY: [&[&str]; 4] = [&["mode"], &["headless"], &["context", "window"], &["boundary"]];

/// Merges the layers.
pub fn merge(
    user: Option<&File>,
    project: Option<&File>,
    env: &Env,
) -> (Settings, Vec<Diagnostic>) {
    let mut merger = Merger {
        tree: Value::Object(Map::new()),
        settings: Settings::default(),
        diagnostics: Vec::new(),
    };
    for (option, path) in [
        ("PROFILE", &["profile"][..]),
        ("THETA_WORDS", &["file", "words"]),
        ("HEADLESS", &["headless"]),
        ("MODE", &["mode"]),
    ] {
        if let Some(value) = env.get(&format!("CLAUDE_PLUGIN_OPTION_{option}")) {
            merger
                .leaf(path, scalar(&value), &|| format!("plugin option {}", option.to_lowercase()));
        }
    }
    if let Some(file) = user {
        merger.file(file, false);
    }
    if let Some(file) = project {
        merger.file(file, true);
    }
    for (name, value) in env.with_prefix("BRAIN_GUARD_SET_") {
        let path: Vec<String> = name.to_lowercase().split("__").map(str::to_owned).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        merger.leaf(&path, scalar(&value), &|| format!("BRAIN_GUARD_SET_{name}"));
    }
    (merger.settings, merger.diagnostics)
}

/// An option or variable is a JSON scalar where it reads as one, else a string.
fn scalar(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

struct Merger {
    tree: Value,
    settings: Settings,
    diagnostics: Vec<Diagnostic>,
}

impl Merger {
    fn report(&mut self, message: String) {
        self.diagnostics.push(Diagnostic { message });
    }

    fn file(&mut self, file: &File, project: bool) {
        let value: Value = match serde_json::from_str(&file.text) {
            Ok(value) => value,
            Err(e) => {
                let (line, column) = (e.line(), e.column());
                let why = in_words(&e);
                let hint = if file.text.contains("//") { "; JSON has no comments" } else { "" };
                self.report(format!(
                    "{}:{line}:{column}: not JSON ({why}{hint}); the file is ignored",
                    file.path
                ));
                return;
            }
        };
        let Value::Object(map) = value else {
            self.report(format!("{}:1: not a JSON object; the file is ignored", file.path));
            return;
        };
        let whole = Value::Object(without_schema(map));
        let plain = !project && {
            let mut tree = self.tree.clone();
            overlay(&mut tree, &whole);
            self.try_tree(tree).is_ok()
        };
        if !plain {
            let mut leaves = Vec::new();
            collect(&whole, &mut Vec::new(), &mut leaves);
            for (path, value) in leaves {
                let place = || format!("{}:{}", file.path, line_of(&file.text, &path));
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                if project && let Some(why) = self.loosens(&path, &value) {
                    self.report(format!("{}: \"{}\" {why}; ignored", place(), path.join(".")));
                } else {
                    self.leaf(&path, value, &place);
                }
            }
        }
    }

    /// Sets one key, unless the whole would not hold with it.
    fn leaf(&mut self, path: &[&str], value: Value, place: &dyn Fn() -> String) {
        let mut tree = self.tree.clone();
        set(&mut tree, path, value);
        if let Err(why) = self.try_tree(tree) {
            self.report(format!(
                "{}: \"{}\": {why}; ignored, the rest stands",
                place(),
                path.join(".")
            ));
        }
    }

    fn try_tree(&mut self, tree: Value) -> Result<(), String> {
        let settings: Settings = serde_json::from_value(tree.clone()).map_err(|e| in_words(&e))?;
        if let Some((_, why)) = settings.problem() {
            return Err(why);
        }
        (self.tree, self.settings) = (tree, settings);
        Ok(())
    }

    /// Why a project's file may not set this.
    fn loosens(&self, path: &[&str], value: &Value) -> Option<&'static str> {
        const USER: &str = "is the user's to set, not the project's";
        if value.as_object().is_some_and(Map::is_empty) {
            return None;
        }
        // serde also takes a list for a struct and {"off": null} for "off", so a key
        // above or below one of the user's may set it too.
        if USER_ONLY.iter().any(|own| own.starts_with(path) || path.starts_with(own)) {
            return Some(USER);
        }
        match path {
            ["profile" | "tiers", _] | ["bands", _, _] => {
                Some("is not written like this in a project's settings")
            }
            ["profile"] if value != "auto" => Some("may only tighten in a project's settings"),
            ["bands", ..] if value != "read" => {
                Some("may only be `read`, which is blocked first, in a project's settings")
            }
            ["file", "words"] => raises(value, self.settings.file.words),
            ["coach", "shell_chars"] => raises(value, self.settings.coach.shell_chars as u64),
            ["coach", "reread_lines"] => raises(value, self.settings.coach.reread_lines),
            ["tiers", name, gauge @ ("context" | "file")] => {
                let ramp = self.settings.ramp(1_000_000);
                let tier = ramp.tiers().iter().find(|t| t.name == *name)?;
                let current = if *gauge == "context" { tier.context } else { tier.file };
                let looser = value.as_f64().is_none_or(|at| at > current);
                looser.then_some("may only be lowered in a project's settings")
            }
            ["tiers", name, "blocks"] => {
                let ramp = self.settings.ramp(1_000_000);
                let there = ramp.tiers().iter().any(|t| t.name == *name);
                there.then_some("of a tier that is there is the user's to set, not the project's")
            }
            _ => None,
        }
    }
}

/// Why a project may not set a figure above what holds.
fn raises(value: &Value, current: u64) -> Option<&'static str> {
    let higher = value.as_u64().is_none_or(|asked| asked > current);
    higher.then_some("may only be lowered in a project's settings")
}

/// Editors look for `$schema`; it is no setting.
fn without_schema(mut map: Map<String, Value>) -> Map<String, Value> {
    map.remove("$schema");
    map
}

fn collect(value: &Value, path: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, Value)>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                path.push(key.clone());
                collect(value, path, leaves);
                path.pop();
            }
        }
        _ => leaves.push((path.clone(), value.clone())),
    }
}

fn overlay(into: &mut Value, from: &Value) {
    if let (Value::Object(into), Value::Object(from)) = (&mut *into, from) {
        for (key, value) in from {
            overlay(into.entry(key.clone()).or_insert(Value::Null), value);
        }
    } else {
        *into = from.clone();
    }
}

fn set(tree: &mut Value, path: &[&str], value: Value) {
    let nested = path
        .iter()
        .rev()
        .fold(value, |inner, key| Value::Object(Map::from_iter([((*key).to_owned(), inner)])));
    overlay(tree, &nested);
}

#[cfg(test)]
mod tests;
