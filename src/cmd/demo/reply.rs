//! What the hooks of one event answered, as the client understands it.

use std::fmt;

use serde_json::Value;

/// The answers to one event, without empty ones.
#[derive(Debug, Clone, Default)]
pub struct Replies(Vec<Value>);

impl Replies {
    /// Adds one hook's output; empty output is no answer.
    ///
    /// # Errors
    /// The output, if it is no JSON object.
    pub fn take(&mut self, stdout: &str) -> Result<(), String> {
        if stdout.trim().is_empty() {
            return Ok(());
        }
        match serde_json::from_str(stdout) {
            Ok(value @ Value::Object(_)) => {
                self.0.push(value);
                Ok(())
            }
            _ => Err(stdout.trim().to_owned()),
        }
    }

    pub fn silent(&self) -> bool {
        self.0.is_empty()
    }

    /// Why a tool call was refused.
    pub fn deny(&self) -> Option<&str> {
        let denied = |v: &&Value| v["hookSpecificOutput"]["permissionDecision"] == "deny";
        self.0.iter().find(denied)?["hookSpecificOutput"]["permissionDecisionReason"].as_str()
    }

    /// Whether a tool call runs without asking the user.
    pub fn allow(&self) -> bool {
        self.0.iter().any(|v| v["hookSpecificOutput"]["permissionDecision"] == "allow")
    }

    /// The input that replaces the tool call's own.
    pub fn input(&self) -> Option<&Value> {
        self.0.iter().find_map(|v| v["hookSpecificOutput"].get("updatedInput"))
    }

    /// The output that the agent gets instead of the tool's own.
    pub fn output(&self) -> Option<&Value> {
        self.0.iter().find_map(|v| v["hookSpecificOutput"].get("updatedToolOutput"))
    }

    /// The notes to the agent.
    pub fn notes(&self) -> Vec<&str> {
        self.0
            .iter()
            .filter_map(|v| v["hookSpecificOutput"]["additionalContext"].as_str())
            .collect()
    }

    /// Why the event was blocked.
    pub fn block(&self) -> Option<&str> {
        self.0.iter().find(|v| v["decision"] == "block")?["reason"].as_str()
    }

    /// The line for the user.
    pub fn user(&self) -> Option<&str> {
        self.0.iter().find_map(|v| v["systemMessage"].as_str())
    }
}

impl fmt::Display for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.silent() {
            return f.write_str("no answer");
        }
        for (index, value) in self.0.iter().enumerate() {
            write!(f, "{}{value}", if index > 0 { " and " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart() {
        let mut replies = Replies::default();
        replies.take(" \n").unwrap();
        assert!(replies.silent());
        assert_eq!(replies.to_string(), "no answer");
        assert_eq!(replies.take("oops"), Err("oops".to_owned()));
        replies.take(r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}"#).unwrap();
        replies.take(r#"{"decision":"block","reason":"b","systemMessage":"u"}"#).unwrap();
        assert_eq!(
            (replies.deny(), replies.block(), replies.user()),
            (Some("r"), Some("b"), Some("u"))
        );
        assert!(!replies.allow());
    }
}
