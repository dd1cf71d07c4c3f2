//! `purge_control`: what is extracted of a session, shown, restored or kept by the model.

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Said, read};
use super::session;
use crate::cmd::extract::{context, extractable_flag, restore, set};
use base::clock::Time;
use base::env::Env;
use extract::entry::Extractable;
use extract::redact::bare;

/// Entries that `get_context` lists: the last ones.
const LISTED: usize = 50;

/// What it takes.
pub fn properties() -> Value {
    json!({
        "action": { "type": "string", "enum": ["get_context", "restore", "set_extractable"] },
        "entry_id": { "type": "string", "description": "The ID of [[extracted-ID]], or how it begins" },
        "keys": {
            "type": "array",
            "items": { "type": "string" },
            "description": "restore: only these values of the entry",
        },
        "value": {
            "type": ["boolean", "integer", "string"],
            "description": "set_extractable: false keeps it, true extracts it, a number keeps it for so many messages, \"none\" leaves it to the rules",
        },
        "session": { "type": "string", "description": "Id or file; default: this session" },
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    GetContext,
    Restore,
    SetExtractable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    action: Action,
    #[serde(alias = "entry")]
    entry_id: Option<String>,
    keys: Option<Vec<String>>,
    value: Option<Value>,
    session: Option<String>,
}

/// Does what was asked. A restore gives its answer as JSON, then the texts; the session's file
/// stays as it is, so what is cached of it stays good.
///
/// # Errors
/// Arguments that are none; a session or an entry that is not there.
pub fn call(env: &Env, now: Time, arguments: Value) -> Said {
    let asked: Asked = read(arguments)?;
    let session = session::session(env, asked.session.as_deref())?;
    match asked.action {
        Action::GetContext => Ok(vec![told(context::of(env, Some(&session))?)?]),
        Action::Restore => {
            let keys = asked.keys.unwrap_or_default();
            let restored = restore::as_output(env, now, &session, &entry(asked.entry_id)?, &keys)?;
            let mut texts = vec![serde_json::to_string(&restored.answer)?];
            // A copy of the output says nothing new, and would take the same room again.
            for (_, text) in restored.texts {
                if !texts[1..].contains(&text) {
                    texts.push(text);
                }
            }
            Ok(texts)
        }
        Action::SetExtractable => {
            let value = extractable(asked.value.as_ref())?;
            let answer = set::set(env, now, &session, &entry(asked.entry_id)?, value)?;
            Ok(vec![serde_json::to_string(&answer)?])
        }
    }
}

/// The entry that is meant.
///
/// # Errors
/// None, or all of them: that would bring back what was taken out to make room.
fn entry(given: Option<String>) -> anyhow::Result<String> {
    let id =
        given.context("entry_id is missing: the ID of [[extracted-ID]]; get_context lists them")?;
    // A placeholder as it stands is as good.
    let id = bare(&id);
    if id.is_empty() || id == "all" {
        bail!("entry_id {id:?} is not an entry: one at a time, as get_context lists them");
    }
    Ok(id.to_owned())
}

/// # Errors
/// A value that says nothing of an entry.
fn extractable(value: Option<&Value>) -> anyhow::Result<Option<Extractable>> {
    let messages = |number: &str| extractable_flag::whole(number).map(Extractable::After);
    let said = match value {
        Some(Value::Bool(true)) => Some(Extractable::Always),
        Some(Value::Bool(false)) => Some(Extractable::Never),
        Some(Value::Number(number)) => messages(&number.to_string()),
        Some(Value::String(word)) => match word.as_str() {
            "none" => return Ok(None),
            "true" => Some(Extractable::Always),
            "false" => Some(Extractable::Never),
            word => messages(word),
        },
        _ => None,
    };
    let given = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    said.map(Some).with_context(|| {
        format!("value is {given}; it takes true, false, a number of messages, or \"none\"")
    })
}

/// What is extracted, the last entries of it: the list is in the context from then on.
fn told(mut context: context::Context) -> anyhow::Result<String> {
    let older = context.extracted.len().saturating_sub(LISTED);
    context.extracted.drain(..older);
    let said = context.said.len().saturating_sub(LISTED);
    context.said.drain(..said);
    let mut value = serde_json::to_value(context)?;
    if older > 0 {
        value["not_listed"] = json!(older);
    }
    Ok(value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_may_be_named_by_its_placeholder_and_never_are_all_meant() {
        for id in ["a1b2c3d4", " a1b2c3d4 ", "[[extracted-a1b2c3d4]]"] {
            assert_eq!(entry(Some(id.to_owned())).unwrap(), "a1b2c3d4");
        }
        for id in [None, Some(""), Some("all"), Some("[[extracted-]]")] {
            entry(id.map(str::to_owned)).unwrap_err();
        }
    }

    #[test]
    fn what_is_said_of_an_entry() {
        for (value, expected) in [
            (json!(true), Some(Extractable::Always)),
            (json!("true"), Some(Extractable::Always)),
            (json!(false), Some(Extractable::Never)),
            (json!(12), Some(Extractable::After(12))),
            (json!("12"), Some(Extractable::After(12))),
            (json!(10.0), Some(Extractable::After(10))),
            (json!("none"), None),
        ] {
            assert_eq!(extractable(Some(&value)).unwrap(), expected, "{value}");
        }
        for value in [json!(-1), json!(1.5), json!("soon"), json!([]), json!(5_000_000_000_u64)] {
            let why = extractable(Some(&value)).unwrap_err().to_string();
            assert!(why.contains("it takes true, false"), "{why}");
        }
        extractable(None).unwrap_err();
    }
}
