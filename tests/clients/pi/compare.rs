//! Compares what pi sends before and after extraction.

use serde_json::Value;

/// The start of a placeholder.
const MARK: &str = "[[extracted-";

/// Counts the placeholders that replaced longer values; everything else must be equal.
pub fn placeholders(was: &Value, is: &Value) -> Result<usize, String> {
    compare_at("", was, is)
}

fn compare_at(path: &str, was: &Value, is: &Value) -> Result<usize, String> {
    match (was, is) {
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => was
            .iter()
            .zip(is)
            .enumerate()
            .map(|(i, (w, s))| compare_at(&format!("{path}.{i}"), w, s))
            .sum(),
        (Value::Object(was), Value::Object(is)) if was.keys().eq(is.keys()) => {
            was.iter().map(|(key, w)| compare_at(&format!("{path}.{key}"), w, &is[key])).sum()
        }
        (Value::String(was), Value::String(is)) if is.starts_with(MARK) && is.len() < was.len() => {
            Ok(usize::from(was != is))
        }
        // A signed block is replaced as a whole.
        (Value::Object(was), Value::Object(is))
            if was.get("type").is_some_and(|kind| kind == "thinking")
                && is.len() == 2
                && is.get("type").is_some_and(|kind| kind == "text")
                && is.get("text").and_then(Value::as_str).is_some_and(|t| t.starts_with(MARK)) =>
        {
            Ok(1)
        }
        _ if was == is => Ok(0),
        _ => Err(format!("{path} was {} and is {}", short(was), short(is))),
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(200).collect()
}

/// Checks that each call has an object as arguments, and its result right after its message.
pub fn pairs(llm: &Value) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for message in llm.as_array().ok_or("no list")? {
        let blocks = message["content"].as_array();
        match message["role"].as_str() {
            Some("toolResult") => {
                let id = message["toolCallId"].as_str().unwrap_or_default();
                open.retain(|call| *call != id);
                let says =
                    |block: &Value| block["text"].as_str().is_some_and(|t| !t.trim().is_empty());
                if !blocks.is_some_and(|blocks| blocks.iter().any(says)) {
                    return Err(format!("the result of {id} says nothing"));
                }
            }
            Some("assistant") => {
                for call in blocks.into_iter().flatten().filter(|b| b["type"] == "toolCall") {
                    open.extend(call["id"].as_str());
                    if !call["arguments"].is_object() {
                        return Err(format!("arguments are {}", short(&call["arguments"])));
                    }
                }
                if blocks.is_none_or(Vec::is_empty) {
                    return Err("a message of the agent is empty".to_owned());
                }
            }
            _ if !open.is_empty() => return Err(format!("{open:?} have no result")),
            _ => {}
        }
    }
    Ok(())
}
