//! The hook's answer in the client's format.

use serde::Serialize;
use serde_json::{Value, json};

use base::plain;

/// Characters of one text to the agent. Above 10,000 the client shows only 2,000.
const CONTEXT_CHARS: usize = 9_990;

/// Characters of a message to the user.
const MESSAGE_CHARS: usize = 2_000;

/// An answer. The default prints nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// For the agent, in the format of the event.
    pub agent: Option<Agent>,
    /// One line for the user.
    pub user: Option<String>,
    /// Text of a new turn. Ends a waiting hook with the exit code that starts it (`asyncRewake`).
    pub wake: Option<String>,
}

/// An answer for the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Agent {
    /// `PreToolUse`: denied, with the reason.
    Deny(String),
    /// `PreToolUse`: allowed without asking, with an optional new input and note.
    Allow(Option<Value>, Option<String>),
    /// `PermissionRequest`: closes the dialog without an answer, with the reason.
    Close(String),
    /// A note in the event's `additionalContext`.
    Note(&'static str, String),
    /// `PostToolUse`: replaces the tool's output.
    Output(Value),
    /// `UserPromptExpansion`: answered by this text, without a request.
    Block(String),
    /// `UserPromptSubmit`: the prompt is dropped, and its user sees only this reason.
    DropPrompt(String),
    /// `Stop`: the turn goes on with this text.
    GoOn(String),
}

#[derive(Serialize)]
struct Wire<'a> {
    #[serde(rename = "hookSpecificOutput", skip_serializing_if = "Option::is_none")]
    specific: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(rename = "systemMessage", skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

impl Reply {
    /// A note to the agent.
    pub fn note(event: &'static str, text: String) -> Self {
        Self { agent: Some(Agent::Note(event, text)), ..Self::default() }
    }

    /// Refuses a turn's end. The client shows a `block` as an error and tells the agent twice.
    pub fn go_on(text: String) -> Self {
        Self { agent: Some(Agent::GoOn(text)), ..Self::default() }
    }

    /// The answer to a command of the user.
    pub fn block(reason: String) -> Self {
        Self { agent: Some(Agent::Block(reason)), ..Self::default() }
    }

    /// Drops a prompt.
    pub fn drop_prompt(reason: String) -> Self {
        Self { agent: Some(Agent::DropPrompt(reason)), ..Self::default() }
    }

    /// Adds a line for the user.
    pub fn add_line(&mut self, line: String) {
        self.user = Some(match self.user.take() {
            Some(user) => format!("{user}\n{line}"),
            None => line,
        });
    }

    /// Whether a turn's end is refused.
    pub fn refuses_end(&self) -> bool {
        matches!(self.agent, Some(Agent::GoOn(_)))
    }

    /// The JSON to print. `None` if there is nothing to say.
    pub fn json(&self) -> Option<String> {
        if self.agent.is_none() && self.user.is_none() {
            return None;
        }
        let told = |text: &str| plain::block(text, CONTEXT_CHARS);
        let message = self.user.as_deref().map(|text| plain::block(text, MESSAGE_CHARS));
        let reason;
        let mut wire =
            Wire { specific: None, decision: None, reason: None, message: message.as_deref() };
        match &self.agent {
            Some(Agent::Deny(text)) => {
                // The client shows the reason to the user, for some tools with all its lines.
                let (reason, rest) = text.split_once('\n').unwrap_or((text, ""));
                let mut specific = json!({
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": told(reason),
                });
                if !rest.is_empty() {
                    specific["additionalContext"] = json!(told(rest));
                }
                wire.specific = Some(specific);
            }
            Some(Agent::Allow(input, note)) => {
                let mut specific = json!({
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                });
                if let Some(input) = input {
                    specific["updatedInput"] = input.clone();
                }
                if let Some(note) = note {
                    specific["additionalContext"] = json!(told(note));
                }
                wire.specific = Some(specific);
            }
            Some(Agent::Close(text)) => {
                wire.specific = Some(json!({
                    "hookEventName": "PermissionRequest",
                    "decision": {"behavior": "deny", "message": told(text)},
                }));
            }
            Some(Agent::Note(event, text)) => {
                wire.specific =
                    Some(json!({"hookEventName": event, "additionalContext": told(text)}));
            }
            Some(Agent::Output(output)) => {
                wire.specific =
                    Some(json!({"hookEventName": "PostToolUse", "updatedToolOutput": output}));
            }
            Some(Agent::GoOn(text)) => {
                wire.specific =
                    Some(json!({"hookEventName": "Stop", "additionalContext": told(text)}));
            }
            Some(Agent::Block(text)) => {
                reason = told(text);
                (wire.decision, wire.reason) = (Some("block"), Some(reason.as_str()));
            }
            Some(Agent::DropPrompt(text)) => {
                reason = told(text);
                (wire.decision, wire.reason) = (Some("block"), Some(reason.as_str()));
                wire.specific = Some(
                    json!({"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": true}),
                );
            }
            None => {}
        }
        serde_json::to_string(&wire).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!(Reply::default().json(), None);
        let deny = Reply {
            agent: Some(Agent::Deny("no\nmore".into())),
            user: Some("u".into()),
            wake: None,
        };
        assert_eq!(
            deny.json().unwrap(),
            r#"{"hookSpecificOutput":{"additionalContext":"more","hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"},"systemMessage":"u"}"#
        );
        assert_eq!(
            Reply::go_on("t".into()).json().unwrap(),
            r#"{"hookSpecificOutput":{"additionalContext":"t","hookEventName":"Stop"}}"#
        );
        assert_eq!(
            Reply::block("r".into()).json().unwrap(),
            r#"{"decision":"block","reason":"r"}"#
        );
        assert_eq!(
            Reply::drop_prompt("r".into()).json().unwrap(),
            r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","suppressOriginalPrompt":true},"decision":"block","reason":"r"}"#
        );
        assert_eq!(
            Reply::note("PostToolBatch", "n".into()).json().unwrap(),
            r#"{"hookSpecificOutput":{"additionalContext":"n","hookEventName":"PostToolBatch"}}"#
        );
    }
}
