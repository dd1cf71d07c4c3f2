//! What a row says whose it is by a single word: the type of flat rows, and the role of
//! messages.

use crate::settings::Trigger;

/// Whose message an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person's.
    User,
    /// The agent's.
    Assistant,
    /// A tool's.
    Tool,
    /// No message of the conversation: it doesn't count.
    None,
}

/// Whose a message with that type or role is, and what its text is; `None` for words that say
/// nothing of a conversation.
pub fn whose(word: &str) -> Option<(Role, Trigger)> {
    Some(match word {
        "user" | "user_message" => (Role::User, Trigger::User),
        "assistant" | "assistant_message" => (Role::Assistant, Trigger::Assistant),
        "thinking" => (Role::Assistant, Trigger::Thinking),
        "toolCall" | "tool_call" | "tool_use" => (Role::Assistant, Trigger::ToolCall),
        "toolResult" | "tool_result" | "tool" => (Role::Tool, Trigger::ToolResult),
        _ => return None,
    })
}
