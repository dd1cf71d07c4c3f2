//! Layers as JSON trees: sets and collects their values, and checks the whole.

use std::sync::LazyLock;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::keys::Keys;
use crate::settings::Settings;
use crate::settings::diagnostic::Why;

/// A key's path and its value.
pub(super) type Leaf = (Vec<String>, Value);

/// Reads settings from a tree and checks them.
pub(super) fn read(tree: &Value) -> Result<Settings, Why> {
    static OURS: LazyLock<Value> =
        LazyLock::new(|| serde_json::to_value(Settings::default()).unwrap_or_default());
    if holds_list(tree) {
        reject_empty_lists(tree, &OURS)?;
    }
    let settings = Settings::deserialize(tree).map_err(|e| Why::type_(&e))?;
    match settings.problem() {
        Some((_, why)) => Err(Why::rule(why)),
        None => Ok(settings),
    }
}

/// Whether the tree has an empty list, which serde also accepts in place of a group of keys.
fn holds_list(tree: &Value) -> bool {
    match tree {
        Value::Object(map) => map.values().any(holds_list),
        value => value.as_array().is_some_and(Vec::is_empty),
    }
}

/// Fails if an empty list stands in place of a group of keys.
fn reject_empty_lists(tree: &Value, ours: &Value) -> Result<(), Why> {
    match (tree, ours) {
        (Value::Object(tree), Value::Object(ours)) => tree
            .iter()
            .filter_map(|(key, value)| Some((value, ours.get(key)?)))
            .try_for_each(|(value, ours)| reject_empty_lists(value, ours)),
        (Value::Array(list), Value::Object(_)) if list.is_empty() => {
            Err(Why::rule("a list, where there are keys: write {…}".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Removes `$schema`, which is for editors and not a setting.
pub(super) fn without_schema(mut map: Map<String, Value>) -> Map<String, Value> {
    map.remove("$schema");
    map
}

/// Sorts a file's content into known keys with their values, and unknown keys. Keys below an
/// unknown one are skipped.
pub(super) fn split_known_keys(
    value: Value,
    keys: &'static Keys,
    path: &mut Vec<String>,
    leaves: &mut Vec<Leaf>,
    unknown: &mut Vec<(Vec<String>, &'static Keys)>,
) {
    let map = match value {
        Value::Object(map) if !map.is_empty() && !keys.is_value() => map,
        value => return leaves.push((path.clone(), value)),
    };
    for (key, value) in map {
        let below = keys.get(&key);
        path.push(key);
        match below {
            Some(below) => split_known_keys(value, below, path, leaves, unknown),
            None => unknown.push((path.clone(), keys)),
        }
        path.pop();
    }
}

pub(super) fn collect(value: &Value, path: &mut Vec<String>, leaves: &mut Vec<Leaf>) {
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

/// Estimates the cost of reading a value again, which depends mostly on the number of its parts.
pub(super) fn weigh(value: &Value) -> usize {
    match value {
        Value::String(text) => weigh_text(text),
        Value::Array(list) => weigh_text("") + list.iter().map(weigh).sum::<usize>(),
        Value::Object(map) => {
            weigh_text("")
                + map.iter().map(|(key, value)| weigh_text(key) + weigh(value)).sum::<usize>()
        }
        _ => weigh_text(""),
    }
}

pub(super) fn weigh_text(text: &str) -> usize {
    8 + text.len() / 16
}

/// The tier that a key belongs to.
pub(super) fn tier_of((path, _): &Leaf) -> Option<String> {
    (path.first()? == "tiers").then(|| path.get(1).cloned()).flatten()
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

pub(super) fn set(tree: &mut Value, path: &[impl AsRef<str>], value: Value) {
    let nested = path.iter().rev().fold(value, |inner, key| {
        Value::Object(Map::from_iter([(key.as_ref().to_owned(), inner)]))
    });
    overlay(tree, &nested);
}

/// The value of an option or variable: a JSON scalar if it parses as one, else a string.
pub(super) fn scalar(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
