//! The JSON Schema for editors, and the list of keys for the merger. Both are generated from the
//! types and checked in. `UPDATE_SCHEMA=1` rewrites them.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use testing::checked_in::difference;

use super::Settings;

fn generated() -> Value {
    let mut schema = schemars::schema_for!(Settings).to_value();
    schema["title"] = json!("brain-guard settings");
    // Editors find the schema through `$schema`. It is not a setting, but allowed.
    schema["properties"]["$schema"] = json!({"type": "string"});
    schema
}

/// Aliases that serde accepts and the schema does not list.
const ALIASES: [&str; 2] = ["extract.keep_restore_calls", "extract.keep_restore_remote_calls"];

/// The keys that hold values, one a line. `*` stands for a name that the user chooses.
fn keys() -> String {
    fn collect(schema: &Value, root: &Value, path: &str, keys: &mut BTreeSet<String>) {
        if let Some(name) = schema["$ref"].as_str() {
            return collect(root.pointer(&name[1..]).unwrap(), root, path, keys);
        }
        let named = schema["properties"].as_object().into_iter().flatten();
        let any = schema["additionalProperties"].as_object().map(|_| "*");
        let any = any.map(|name| (name, &schema["additionalProperties"]));
        let all: Vec<_> = named.map(|(key, below)| (key.as_str(), below)).chain(any).collect();
        for (key, below) in &all {
            collect(below, root, &format!("{path}.{key}"), keys);
        }
        if all.is_empty() {
            keys.insert(path[1..].to_owned());
        }
    }
    let (schema, mut keys) = (generated(), ALIASES.map(str::to_owned).into());
    collect(&schema, &schema, "", &mut keys);
    keys.remove("$schema");
    keys.into_iter().collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn the_schema_and_the_list_of_keys_are_those_of_the_types() {
    let schema = serde_json::to_string_pretty(&generated()).unwrap() + "\n";
    let files = [
        ("templates/settings.schema.json", schema),
        ("crates/guard/src/settings/layers/keys.txt", keys()),
    ];
    let command = "UPDATE_SCHEMA=1 cargo test -p guard schema";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let wrong: String = files
        .iter()
        .filter_map(|(path, text)| difference(&root.join(path), text, command))
        .collect();
    assert!(wrong.is_empty(), "the settings changed:\n{wrong}");
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
