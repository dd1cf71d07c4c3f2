//! Adds layer to layer, key by key where a file has a fault, so that no key costs another.

use serde_json::{Map, Value};

use super::project;
use super::{Diagnostic, File, Origin, Place};
use crate::settings::diagnostic::Why;
use crate::settings::locate::{in_words, line_of};
use crate::settings::{Settings, rules};

/// A key by its parts, and a value for it.
type Leaf = (Vec<String>, Value);

/// The layers so far.
pub(super) struct Merger {
    tree: Value,
    /// What holds.
    pub(super) settings: Settings,
    /// What is wrong.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What was set where, if that is asked for.
    pub(super) origins: Option<Vec<Origin>>,
}

impl Default for Merger {
    fn default() -> Self {
        Self {
            tree: Value::Object(Map::new()),
            settings: Settings::default(),
            diagnostics: Vec::new(),
            origins: None,
        }
    }
}

impl Merger {
    /// Adds a file.
    pub(super) fn file(&mut self, file: &File, project: bool) {
        let value: Value = match serde_json::from_str(&file.text) {
            Ok(value) => value,
            Err(e) => {
                let at = format!("{}:{}", e.line(), e.column());
                let hint = if file.text.contains("//") { "; JSON has no comments" } else { "" };
                let why = format!("not JSON ({}{hint})", in_words(&e));
                self.diagnostics.push(Diagnostic::file(&file.path, e.line(), &at, why));
                return;
            }
        };
        let Value::Object(map) = value else {
            let why = "not a JSON object".to_owned();
            self.diagnostics.push(Diagnostic::file(&file.path, 1, "1", why));
            return;
        };
        let whole = Value::Object(without_schema(map));
        let mut leaves = Vec::new();
        collect(&whole, &mut Vec::new(), &mut leaves);
        let plain = !project && {
            let mut tree = self.tree.clone();
            overlay(&mut tree, &whole);
            self.try_tree(tree).is_ok()
        };
        let place = |path: &[String]| Place {
            source: file.path.clone(),
            line: Some(line_of(&file.text, path)),
        };
        if !plain {
            self.one_by_one(leaves.clone(), project, &place);
        } else if self.origins.is_some() {
            for (path, value) in leaves.clone() {
                let place = place(&path);
                self.set_by(path, value, place);
            }
        }
        let placeless: Vec<String> = self.settings.placeless().map(str::to_owned).collect();
        for name in placeless {
            let path = ["tiers".to_owned(), name.clone()];
            if leaves.iter().any(|(leaf, _)| leaf.starts_with(&path)) {
                let why = Why::rule(rules::placeless(&name));
                self.diagnostics.push(why.left_out(place(&path), &path));
            }
        }
    }

    /// Sets each key that can hold. One may need another first (a route its section, a
    /// tier its neighbour's new place), so those that fail are tried again.
    fn one_by_one(&mut self, leaves: Vec<Leaf>, project: bool, place: &dyn Fn(&[String]) -> Place) {
        let mut waiting = leaves;
        loop {
            let before = waiting.len();
            let mut failed = Vec::new();
            for (path, value) in waiting {
                let names: Vec<&str> = path.iter().map(String::as_str).collect();
                let loosens = || project::loosens(&self.settings, &names, &value);
                let done = match project.then(loosens).flatten() {
                    Some(why) => Err(Why::project(why)),
                    None => self.set(&names, value.clone()),
                };
                match done {
                    Ok(()) => self.set_by(path.clone(), value, place(&path)),
                    Err(why) => failed.push(((path, value), why)),
                }
            }
            if failed.len() == before || failed.is_empty() {
                for ((path, value), why) in failed {
                    match value {
                        Value::Array(list) if path == ["when"] && !project => {
                            self.when(list, place);
                        }
                        _ => self.diagnostics.push(why.left_out(place(&path), &path)),
                    }
                }
                return;
            }
            waiting = failed.into_iter().map(|(leaf, _)| leaf).collect();
        }
    }

    /// A list of which some entries hold. An entry with a bad key is left out whole:
    /// without it, it might hold for models it was not meant for.
    fn when(&mut self, list: Vec<Value>, place: &dyn Fn(&[String]) -> Place) {
        let mut kept = Vec::new();
        for (index, entry) in list.into_iter().enumerate() {
            let mut tried = kept.clone();
            tried.push(entry.clone());
            let at = vec!["when".to_owned(), index.to_string()];
            match self.set(&["when"], Value::Array(tried)) {
                Ok(()) => {
                    kept.push(entry.clone());
                    self.set_by(at.clone(), entry, place(&at));
                }
                Err(why) => {
                    let at = self.culprit(&kept, &entry, at);
                    self.diagnostics.push(why.left_out(place(&at), &at));
                }
            }
        }
    }

    /// The key of an entry without which it could hold, or the entry.
    fn culprit(&self, kept: &[Value], entry: &Value, at: Vec<String>) -> Vec<String> {
        let mut leaves = Vec::new();
        collect(entry, &mut Vec::new(), &mut leaves);
        let without = |path: &[String]| {
            let mut rest = Value::Object(Map::new());
            for (other, value) in leaves.iter().filter(|(other, _)| other != path) {
                let other: Vec<&str> = other.iter().map(String::as_str).collect();
                set(&mut rest, &other, value.clone());
            }
            let mut tree = self.tree.clone();
            let list = kept.iter().cloned().chain([rest]).collect();
            set(&mut tree, &["when"], Value::Array(list));
            read(&tree).is_ok()
        };
        let found = leaves.iter().map(|(path, _)| path).find(|path| without(path));
        found.map_or(at.clone(), |path| [at, path.clone()].concat())
    }

    /// Adds an option or variable.
    pub(super) fn variable(&mut self, path: &[&str], text: &str, source: String) {
        let (value, place) = (scalar(text), Place { source, line: None });
        let key: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
        match self.set(path, value.clone()) {
            Ok(()) => self.set_by(key, value, place),
            Err(why) => self.diagnostics.push(why.left_out(place, &key)),
        }
    }

    /// Sets one key, unless the whole would not hold with it.
    fn set(&mut self, path: &[&str], value: Value) -> Result<(), Why> {
        let mut tree = self.tree.clone();
        set(&mut tree, path, value);
        self.try_tree(tree)
    }

    fn try_tree(&mut self, tree: Value) -> Result<(), Why> {
        self.settings = read(&tree)?;
        self.tree = tree;
        Ok(())
    }

    /// Remembers where a key was set.
    fn set_by(&mut self, key: Vec<String>, value: Value, place: Place) {
        let Some(origins) = &mut self.origins else { return };
        origins.retain(|origin| !origin.key.starts_with(&key) && !key.starts_with(&origin.key));
        origins.push(Origin { key, value, place });
    }
}

fn read(tree: &Value) -> Result<Settings, Why> {
    if holds_list(tree) {
        let ours = serde_json::to_value(Settings::default()).unwrap_or_default();
        is_for_list(tree, &ours)?;
    }
    let settings: Settings = serde_json::from_value(tree.clone()).map_err(|e| Why::type_(&e))?;
    match settings.problem() {
        Some((_, why)) => Err(Why::rule(why)),
        None => Ok(settings),
    }
}

/// Whether an empty list stands anywhere: serde takes one for a group of keys, too.
fn holds_list(tree: &Value) -> bool {
    match tree {
        Value::Object(map) => map.values().any(holds_list),
        value => value.as_array().is_some_and(Vec::is_empty),
    }
}

/// That no empty list stands where there is a group of keys.
fn is_for_list(tree: &Value, ours: &Value) -> Result<(), Why> {
    match (tree, ours) {
        (Value::Object(tree), Value::Object(ours)) => tree
            .iter()
            .filter_map(|(key, value)| Some((value, ours.get(key)?)))
            .try_for_each(|(value, ours)| is_for_list(value, ours)),
        (Value::Array(list), Value::Object(_)) if list.is_empty() => {
            Err(Why::rule("a list, where there are keys: write {…}".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Editors look for `$schema`; it is no setting.
fn without_schema(mut map: Map<String, Value>) -> Map<String, Value> {
    map.remove("$schema");
    map
}

fn collect(value: &Value, path: &mut Vec<String>, leaves: &mut Vec<Leaf>) {
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

/// An option or variable is a JSON scalar where it reads as one, else a string.
fn scalar(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
