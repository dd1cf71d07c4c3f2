//! The JSON Schema that users' editors check a settings file by. It is made from
//! the types, checked in, and installed with the plugin; `UPDATE_SCHEMA=1` writes
//! it anew.
#![allow(clippy::disallowed_methods, reason = "tests are an edge: they read and write the file")]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::Settings;

fn generated() -> Value {
    let mut schema = schemars::schema_for!(Settings).to_value();
    schema["title"] = json!("brain-guard settings");
    // What an editor finds the schema by is no setting, and no mistake either.
    schema["properties"]["$schema"] = json!({"type": "string"});
    schema
}

#[test]
fn the_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/settings.schema.json");
    let text = serde_json::to_string_pretty(&generated()).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, text, "the settings changed: run the test again with UPDATE_SCHEMA=1");
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
