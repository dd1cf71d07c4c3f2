//! The payload exactly as the client sends it (recordings in `fixtures/payloads`). Every field may
//! be missing, null or unknown.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// One hook payload. Explicit nulls count as missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Payload<'a> {
    /// The session. Inside a subagent this is the main session.
    #[serde(borrow)]
    pub session_id: Option<Cow<'a, str>>,
    /// The main session's transcript, even in a subagent.
    #[serde(borrow)]
    pub transcript_path: Option<Cow<'a, str>>,
    /// Follows the agent's `cd`.
    #[serde(borrow)]
    pub cwd: Option<Cow<'a, str>>,
    /// Present if and only if the event fires inside a subagent.
    #[serde(borrow)]
    pub agent_id: Option<Cow<'a, str>>,
    /// The client's permission mode.
    #[serde(borrow)]
    pub permission_mode: Option<Cow<'a, str>>,
    /// The event's name.
    #[serde(borrow)]
    pub hook_event_name: Option<Cow<'a, str>>,
    /// The tool's name.
    #[serde(borrow)]
    pub tool_name: Option<Cow<'a, str>>,
    /// The tool's input, parsed only where needed.
    #[serde(borrow)]
    pub tool_input: Option<&'a RawValue>,
    /// The tool's result.
    #[serde(borrow)]
    pub tool_response: Option<&'a RawValue>,
    /// A failed tool's error text.
    #[serde(borrow)]
    pub error: Option<Cow<'a, str>>,
    /// Id of the call.
    #[serde(borrow)]
    pub tool_use_id: Option<Cow<'a, str>>,
    /// How long the tool ran, without permission prompts and hooks (2.1.250 and later).
    #[serde(borrow)]
    pub duration_ms: Option<&'a RawValue>,
    /// The calls of a finished batch.
    #[serde(borrow)]
    pub tool_calls: Option<&'a RawValue>,
    /// `SessionStart`: startup, resume, clear, compact, fork.
    #[serde(borrow)]
    pub source: Option<Cow<'a, str>>,
    /// `SessionStart` (startup, compact) and model switches.
    #[serde(borrow, deserialize_with = "text_or_nothing")]
    pub model: Option<Cow<'a, str>>,
    /// `SessionStart` (resume, fork): tokens of the context.
    #[serde(borrow)]
    pub context_tokens: Option<&'a RawValue>,
    /// `SessionStart` (resume, fork): whether the prompt cache has expired.
    #[serde(borrow)]
    pub prompt_cache_likely_expired: Option<&'a RawValue>,
    /// `PostModelSwitch`, under the observed name and a plausible one.
    #[serde(borrow, alias = "to_model", deserialize_with = "text_or_nothing")]
    pub new_model: Option<Cow<'a, str>>,
    /// `UserPromptSubmit` and `UserPromptExpansion`: the text.
    #[serde(borrow)]
    pub prompt: Option<Cow<'a, str>>,
    /// `UserPromptExpansion`: the command, with its plugin's prefix.
    #[serde(borrow)]
    pub command_name: Option<Cow<'a, str>>,
    /// `PreCompact`: `manual` or `auto`.
    #[serde(borrow)]
    pub trigger: Option<Cow<'a, str>>,
    /// `UserPromptExpansion`: where it comes from: a plugin, or the settings folder of a file.
    #[serde(borrow)]
    pub command_source: Option<Cow<'a, str>>,
    /// `UserPromptExpansion`: its arguments.
    #[serde(borrow)]
    pub command_args: Option<Cow<'a, str>>,
    /// `Notification`: its kind.
    #[serde(borrow)]
    pub notification_type: Option<Cow<'a, str>>,
    /// `Notification`: its text.
    #[serde(borrow)]
    pub message: Option<Cow<'a, str>>,
    /// `Stop`: tasks that are still running.
    pub background_tasks: Option<Vec<Task>>,
}

/// A background task.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Task {
    /// subagent, shell or monitor.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// running, …
    pub status: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// A shell's command.
    pub command: Option<String>,
}

/// The input of a file tool or a shell.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ToolInput<'a> {
    /// Read, Edit, Write.
    #[serde(borrow)]
    pub file_path: Option<Cow<'a, str>>,
    /// `NotebookEdit`.
    #[serde(borrow)]
    pub notebook_path: Option<Cow<'a, str>>,
    /// Shells.
    #[serde(borrow)]
    pub command: Option<Cow<'a, str>>,
    /// `Skill`.
    #[serde(borrow)]
    pub skill: Option<Cow<'a, str>>,
    /// Read: the first line.
    pub offset: Option<u64>,
    /// Read: how many lines.
    pub limit: Option<u64>,
}

impl<'a> ToolInput<'a> {
    /// Parses the fields one by one if one has an unexpected type. Otherwise a stray `limit` would
    /// hide the command.
    pub fn parse(input: Option<&'a RawValue>) -> Self {
        let Some(raw) = input.map(RawValue::get) else { return Self::default() };
        serde_json::from_str(raw).unwrap_or_else(|_| {
            let value: Value = serde_json::from_str(raw).unwrap_or_default();
            let text = |key: &str| Some(Cow::Owned(value[key].as_str()?.to_owned()));
            Self {
                file_path: text("file_path"),
                notebook_path: text("notebook_path"),
                command: text("command"),
                skill: text("skill"),
                offset: value["offset"].as_u64(),
                limit: value["limit"].as_u64(),
            }
        })
    }
}

/// Accepts a string, or an object with an `id`. Events differ in this.
fn text_or_nothing<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow, default)]
        id: Option<Cow<'a, str>>,
    }
    let Some(raw) = Option::<&'de RawValue>::deserialize(from)? else { return Ok(None) };
    if let Ok(text) = serde_json::from_str::<Cow<str>>(raw.get()) {
        return Ok(Some(Cow::Owned(text.into_owned())));
    }
    Ok(serde_json::from_str::<Named>(raw.get())
        .ok()
        .and_then(|n| n.id)
        .map(|id| Cow::Owned(id.into_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_another_type_hides_no_other() {
        let raw: &RawValue =
            serde_json::from_str(r#"{"command":"x","limit":"all","file_path":7}"#).unwrap();
        let input = ToolInput::parse(Some(raw));
        assert_eq!((input.command.as_deref(), input.limit), (Some("x"), None));
        assert_eq!(input.file_path, None);
    }

    #[test]
    fn nulls_unknown_fields_and_a_model_as_object() {
        let text =
            r#"{"session_id":null,"model":{"id":"claude-opus-5-5"},"new":1,"tool_input":{"a":1}}"#;
        let payload: Payload = serde_json::from_str(text).unwrap();
        assert_eq!(payload.session_id, None);
        assert_eq!(payload.model.as_deref(), Some("claude-opus-5-5"));
        assert_eq!(payload.tool_input.unwrap().get(), r#"{"a":1}"#);
    }
}
