//! What a tool is called with, and what it answers.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// What a call gives: a text, or several.
pub type Said = anyhow::Result<Vec<String>>;

/// Arguments as a type. A field that is null was not given.
///
/// # Errors
/// What is wrong with them.
pub fn read<T: DeserializeOwned>(arguments: Value) -> anyhow::Result<T> {
    let mut arguments = arguments;
    if let Some(fields) = arguments.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    Ok(serde_json::from_value(arguments)?)
}
