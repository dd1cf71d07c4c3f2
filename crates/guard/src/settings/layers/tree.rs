//! Layers as trees of JSON: what they are made of, and whether the whole holds.

use std::sync::LazyLock;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::keys::Keys;
use crate::settings::Settings;
use crate::settings::diagnostic::Why;

/// A key by its parts, and a value for it.
pub(super) type Leaf = (Vec<String>, Value);

/// The settings that a tree says.
pub(super) fn read(tree: &Value) -> Result<Settings, Why> {
    static OURS: LazyLock<Value> =
        LazyLock::new(|| serde_json::to_value(Settings::default()).unwrap_or_default());
    if holds_list(tree) {
        is_for_list(tree, &OURS)?;
    }
    let settings = Settings::deserialize(tree).map_err(|e| Why::type_(&e))?;
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
pub(super) fn without_schema(mut map: Map<String, Value>) -> Map<String, Value> {
    map.remove("$schema");
    map
}

/// The keys of a file that there are with their values, and those that there are not. What
/// stands below an unknown key is left out with it.
pub(super) fn sort_out(
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
            Some(below) => sort_out(value, below, path, leaves, unknown),
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

/// About what it takes to read a value anew: most of it by the number of its parts.
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

/// The tier that a key is of.
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

/// An option or variable is a JSON scalar where it reads as one, else a string.
pub(super) fn scalar(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
