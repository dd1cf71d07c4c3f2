//! The arguments and results of tool calls.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The result of a call: one or more texts.
pub type Said = anyhow::Result<Vec<String>>;

/// Parses arguments. A null field counts as missing.
pub fn read<T: DeserializeOwned>(arguments: Value) -> anyhow::Result<T> {
    let mut arguments = arguments;
    if let Some(fields) = arguments.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    Ok(serde_json::from_value(arguments)?)
}
