//! The JSON Schema for editors. It is generated from the types and checked in. `UPDATE_SCHEMA=1`
//! rewrites it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use testing::checked_in::difference;

use super::Settings;

fn generated() -> Value {
    let mut schema = schemars::schema_for!(Settings).to_value();
    schema["title"] = json!("brain-guard settings");
    schema
}

/// The keys that hold values. `*` stands for a name that the user chooses.
fn keys() -> BTreeSet<String> {
    fn collect(schema: &Value, root: &Value, path: &str, keys: &mut BTreeSet<String>) {
        if let Some(name) = schema["$ref"].as_str() {
            return collect(root.pointer(&name[1..]).unwrap(), root, path, keys);
        }
        let named = schema["properties"].as_object().into_iter().flatten();
        let any = schema["additionalProperties"].as_object().map(|_| "*");
        let any = any.map(|name| (name, &schema["additionalProperties"]));
        let each = schema["items"].as_object().map(|_| ("[]", &schema["items"]));
        let all = named.map(|(key, below)| (key.as_str(), below)).chain(any).chain(each);
        let all: Vec<_> = all.collect();
        for (key, below) in &all {
            collect(below, root, &format!("{path}.{key}"), keys);
        }
        if all.is_empty() {
            keys.insert(path[1..].to_owned());
        }
    }
    let (schema, mut keys) = (generated(), BTreeSet::new());
    collect(&schema, &schema, "", &mut keys);
    keys.remove("$schema");
    keys
}

#[test]
fn there_are_at_most_fifty_keys() {
    assert!(keys().len() <= 50, "{}: {:#?}", keys().len(), keys());
}

/// `boundary.carrier` in a page is a key that there is, or one above it.
#[test]
fn pages_name_keys_that_there_are() {
    let keys = keys();
    let group = |key: &String| key.split('.').next().unwrap_or_default().to_owned();
    let groups: BTreeSet<String> = keys.iter().filter(|key| key.contains('.')).map(group).collect();
    let parts = |key: &str| key.split('.').map(str::to_owned).collect::<Vec<_>>();
    let fits = |named: &str| {
        let named = parts(named);
        keys.iter().map(|key| parts(key)).any(|key| {
            named.len() <= key.len()
                && named.iter().zip(&key).all(|(part, of)| part == of || of == "*")
        })
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = std::fs::read_dir(root.join("docs")).unwrap().flatten().map(|page| page.path());
    let pages = pages.chain([root.join("README.md")]);
    for page in pages.filter(|page| page.extension().is_some_and(|end| end == "md")) {
        let text = base::atomic::read_text(&page).unwrap().unwrap_or_default();
        for named in text.split('`').skip(1).step_by(2) {
            let is_key = named
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c));
            let group = named.split_once('.').map(|(group, _)| group);
            if is_key && group.is_some_and(|group| groups.contains(group)) {
                assert!(fits(named), "{}: {named}", page.display());
            }
        }
    }
}

#[test]
fn the_schema_is_that_of_the_types() {
    let schema = serde_json::to_string_pretty(&generated()).unwrap() + "\n";
    let command = "UPDATE_SCHEMA=1 cargo test --workspace --lib schema";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../templates/settings.schema.json");
    let wrong = difference(&path, &schema, command);
    assert!(wrong.is_none(), "the settings changed:\n{}", wrong.unwrap_or_default());
}

#[test]
fn every_key_stands_in_the_schema_and_says_what_it_is_for() {
    fn check(schema: &Value, defaults: &Value, root: &Value, path: &str) {
        let schema = match schema["$ref"].as_str() {
            Some(name) => root.pointer(&name[1..]).unwrap(),
            None => schema,
        };
        let Some(defaults) = defaults.as_object() else { return };
        let Some(properties) = schema["properties"].as_object() else { return };
        for (key, value) in defaults {
            let property = properties.get(key).unwrap_or_else(|| panic!("{path}{key} is missing"));
            assert!(property["description"].is_string(), "{path}{key} is not described");
            check(property, value, root, &format!("{path}{key}."));
        }
    }
    let (schema, defaults) = (generated(), serde_json::to_value(Settings::default()).unwrap());
    assert!(defaults.as_object().unwrap().len() >= 10);
    check(&schema, &defaults, &schema, "");
    assert_eq!(schema["additionalProperties"], json!(false), "a mistyped key is underlined");
}
