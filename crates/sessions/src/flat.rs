//! Rows that name their author in one word: the type of flat rows, and the role of messages.

use crate::settings::Trigger;

/// Who wrote an entry's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool.
    Tool,
    /// Nobody: it is not a message of the conversation and does not count.
    None,
}

/// Who wrote a message with that type or role, and the type of its text; `None` for words that mean
/// no part of a conversation.
pub fn parse_author(word: &str) -> Option<(Role, Trigger)> {
    Some(match word {
        "user" | "user_message" => (Role::User, Trigger::User),
        "assistant" | "assistant_message" => (Role::Assistant, Trigger::Assistant),
        "thinking" => (Role::Assistant, Trigger::Thinking),
        "toolCall" | "tool_call" | "tool_use" => (Role::Assistant, Trigger::ToolCall),
        "toolResult" | "tool_result" | "tool" => (Role::Tool, Trigger::ToolResult),
        _ => return None,
    })
}
