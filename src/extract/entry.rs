//! What the rules look at: entries and the values in them, without their text. One reader for
//! pi and `OpenClaw` rows, the seed's flat rows, and Claude Code's.

use crate::clock::Time;
use crate::transcript::span::Span;

/// What a value is to the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trigger {
    /// Reasoning.
    Thinking,
    /// What a tool gave.
    ToolResult,
    /// What a tool was given.
    ToolCall,
    /// The user's words.
    User,
    /// The agent's words.
    Assistant,
}

/// What an entry says of itself (seed 001, "Per-Message Override").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extractable {
    /// `true`: whatever its type, size, position and protection.
    Always,
    /// `false`.
    Never,
    /// It stays for so many messages.
    After(u32),
}

/// A value that may be extracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Its path in the row: `message.content.0.text`.
    pub key: String,
    /// What it is.
    pub trigger: Trigger,
    /// Its JSON in the row: a string with its quotes, a block, or a call's arguments.
    pub span: Span,
    /// Characters of its text.
    pub chars: u32,
    /// A second copy that is not sent to the model (`details`, `toolUseResult`).
    pub copy: bool,
    /// A block with a signature: it goes whole.
    pub whole: bool,
}

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

/// An entry, as the rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its row, from 0.
    pub row: u64,
    /// Its id.
    pub id: String,
    /// Whose it is.
    pub role: Role,
    /// The tool that gave the result, where it is one; of calls, see [`Value::key`].
    pub tool: Option<String>,
    /// The result is an error.
    pub error: bool,
    /// What it says of itself.
    pub extractable: Option<Extractable>,
    /// When it was restored last.
    pub restored: Option<Time>,
    /// Whether it is in the model's context: on the branch of the last entry, behind the last
    /// compaction.
    pub in_context: bool,
    /// What may be extracted.
    pub values: Vec<Value>,
}

/// Reads entries of a file, row by row.
#[derive(Debug, Default)]
pub struct Entries {
    /// What was read so far; [`Entry::in_context`] is set by [`Entries::finish`].
    pub found: Vec<Entry>,
}

impl Entries {
    /// Takes the next row, with or without its line break. Rows that hold no entry are passed
    /// over.
    pub fn row(&mut self, _row: u64, _line: &[u8]) {
        todo!()
    }

    /// All entries, and which are in the context.
    pub fn finish(self) -> Vec<Entry> {
        todo!()
    }
}
