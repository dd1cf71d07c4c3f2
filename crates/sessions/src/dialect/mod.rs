//! What the rows of a session file mean, for each kind of client that writes them. A
//! dialect reads a row's head; the row itself stays as its bytes.

mod claude;
mod pi;

pub use claude::{Claude, of_client};
pub use pi::Pi;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::span::{self, Field, Span};
use base::clock::Time;

/// What a row is to the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// A user's message: begins a round.
    Prompt,
    /// The summary that a compaction left: the first message behind it.
    Summary,
    /// Results of tool calls.
    ToolResult,
    /// Said in the user's role by the client: reminders, notifications, output of local commands.
    Notice,
    /// The agent's.
    Assistant,
    /// What the client attaches to the conversation.
    Attachment,
    /// Kept by the client in the chain, not a message.
    System,
    /// Everything before is no longer in the context: begins a round.
    Boundary,
    /// The client's bookkeeping, outside the chain.
    #[default]
    Other,
    /// No JSON object: kept as it is.
    Broken,
}

/// What a part of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// The user's words.
    UserText,
    /// The agent's words.
    AssistantText,
    /// The agent's reasoning, with its signature.
    Thinking,
    /// A tool call.
    ToolUse,
    /// What a tool call gave.
    ToolResult,
    /// A picture.
    Image,
    /// A whole row that is none of these.
    Row,
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its JSON in the row: an object, or the string that is the whole content.
    pub span: Span,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// What it was given, as JSON.
    pub input: &'a [u8],
}

/// A row's head. Texts are borrowed from the row and hold no escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Row<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its id, where it has one: then it is part of the chain.
    pub id: Option<&'a str>,
    /// The id it hangs on; for a boundary, what it hangs on logically.
    pub parent: Option<&'a str>,
    /// When it was written, as written (RFC 3339).
    pub at: Option<&'a str>,
    /// Id of the API's message; one message may be several rows.
    pub message: Option<&'a str>,
    /// Of a subagent, in a file of the main loop.
    pub sidechain: bool,
    /// Where the message's content lies: a string or an array of blocks.
    pub content: Option<Span>,
    /// Tokens that the response used in all (input, cache, output), of an assistant's row.
    pub used: Option<u64>,
    /// Written by surgery: it tells of rounds, and is nobody's words.
    pub told: bool,
    /// A copy of another session's row.
    pub copied: bool,
    /// Surgery says here what the session was made from.
    pub made: bool,
}

/// Whether the field `brainGuard` says that surgery wrote the row's message.
fn is_told(json: &[u8]) -> bool {
    span::find(json, "table") == Some(b"true")
}

impl Row<'_> {
    /// A row that nothing is known of.
    pub fn of(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }
}

/// Room to work in, so that nothing is allocated a row, and what was found in the row that
/// was read last, so that nothing is looked for twice.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The fields of the row that was read last.
    pub fields: Vec<Field>,
    pub(crate) message: Vec<Field>,
    /// Spans that a reader of rows collects, for its own use.
    pub spans: Vec<Span>,
    blocks: Vec<Block>,
}

impl Scratch {
    /// The parts of the message of the row that was read last: as [`Dialect::blocks`] finds
    /// them, without looking again.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }
}

/// How a client writes its sessions.
pub trait Dialect: Sync {
    /// `claude` or `pi`.
    fn name(&self) -> &'static str;

    /// Reads a row's head. Never fails: what is not understood is [`Kind::Other`] or
    /// [`Kind::Broken`].
    fn row<'a>(&self, line: &'a [u8], scratch: &mut Scratch) -> Row<'a>;

    /// The parts of the row's message, in order, into `found`; none for rows without a message.
    /// Right behind [`Dialect::row`], [`Scratch::blocks`] has them already.
    fn blocks(&self, line: &[u8], row: &Row, scratch: &mut Scratch, found: &mut Vec<Block>);

    /// The call that a block of the kind [`BlockKind::ToolUse`] makes.
    fn call<'a>(&self, block: &'a [u8]) -> Option<Call<'a>>;

    /// What a person said in a text of the user's role; `None` where the client says it.
    fn said<'a>(&self, text: &'a str) -> Option<Cow<'a, str>>;

    /// What a person said while the agent was at work, where an attachment holds that.
    fn queued(&self, line: &[u8]) -> Option<String>;

    /// Puts what a row says of its session into `facts`, where that is not known yet.
    fn facts(&self, line: &[u8], facts: &mut Facts);
}

/// The dialect of that name.
pub fn named(name: &str) -> Option<&'static dyn Dialect> {
    match name {
        "claude" => Some(&Claude),
        "pi" => Some(&Pi),
        _ => None,
    }
}

/// The dialect of a file by its first whole line: pi and `OpenClaw` begin with a header of
/// type `session`, everything else is the client's.
pub fn of_first_line(line: &[u8]) -> &'static dyn Dialect {
    if pi::is_header(line) { &Pi } else { &Claude }
}

/// A call by the names that its fields have.
fn call<'a>(block: &'a [u8], input: &str) -> Option<Call<'a>> {
    let mut fields = Vec::new();
    span::fields(block, &mut fields)?;
    let name = span::text(span::get(block, &fields, "name")?)?;
    Some(Call { name, input: span::get(block, &fields, input).unwrap_or_default() })
}

/// What a session's rows say of the session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The id that its rows bear, which a copied file may have from elsewhere.
    pub id: Option<String>,
    /// The folder it began in.
    pub cwd: Option<String>,
    /// Of a subagent: its id.
    pub subagent: Option<String>,
    /// The session it was forked from, or its file.
    pub parent: Option<String>,
    /// Time of its first row that has one.
    pub started: Option<Time>,
    /// Time of its last row that has one.
    pub ended: Option<Time>,
}
