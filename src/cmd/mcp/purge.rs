//! `purge_control`: lets the model list, restore and protect extracted content.

use anyhow::{Context as _, Error, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Said, read};
use super::session;
use crate::cmd::extract::{context, extractable_flag, restore, set};
use base::clock::Time;
use base::env::Env;
use extract::entry::Extractable;
use extract::lines::Lines;
use extract::redact::bare;

/// The most entries that `get_context` lists, from the end.
const LISTED: usize = 50;

pub fn properties() -> Value {
    json!({
        "action": { "type": "string", "enum": ["get_context", "restore", "set_extractable"] },
        "entry_id": { "type": "string", "description": "The ID of [[extracted-ID]], or how it begins" },
        "keys": {
            "type": "array",
            "items": { "type": "string" },
            "description": "restore: only these values of the entry",
        },
        "lines": { "type": "string", "description": "restore: only these lines, as 10-40" },
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
    lines: Option<String>,
    value: Option<Value>,
    session: Option<String>,
}

/// Runs an action. A restore returns its answer as JSON, then the texts. The session file stays
/// unchanged, so the prompt cache stays valid.
///
/// # Errors
/// Invalid arguments, or an unknown session or entry.
pub fn call(env: &Env, now: Time, arguments: Value) -> Said {
    let asked: Asked = read(arguments)?;
    let session = session::session(env, asked.session.as_deref())?;
    match asked.action {
        Action::GetContext => Ok(vec![context_json(context::load(env, Some(&session))?)?]),
        Action::Restore => {
            let keys = asked.keys.unwrap_or_default();
            let lines =
                asked.lines.map(|lines| lines.parse::<Lines>()).transpose().map_err(Error::msg)?;
            let id = entry(asked.entry_id)?;
            let restored = restore::as_output(env, now, &session, &id, &keys, lines)?;
            let mut texts = vec![serde_json::to_string(&restored.answer)?];
            // A duplicate of the output adds nothing but length.
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

/// The requested entry id.
///
/// # Errors
/// A missing id, or `all`: that would bring back everything that was extracted to save space.
fn entry(given: Option<String>) -> anyhow::Result<String> {
    let id =
        given.context("entry_id is missing: the ID of [[extracted-ID]]; get_context lists them")?;
    // Accept a whole placeholder as well.
    let id = bare(&id);
    if id.is_empty() || id == "all" {
        bail!("entry_id {id:?} is not an entry: one at a time, as get_context lists them");
    }
    Ok(id.to_owned())
}

/// # Errors
/// An invalid value.
fn extractable(value: Option<&Value>) -> anyhow::Result<Option<Extractable>> {
    let messages = |number: &str| extractable_flag::parse_messages(number).map(Extractable::After);
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

/// Lists only the last entries, because the list stays in the context.
fn context_json(mut context: context::Context) -> anyhow::Result<String> {
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
