//! What the rows of a session file mean, for each client that writes them. A dialect reads the head
//! of a row; the row itself stays as bytes.

mod claude;
mod pi;

pub use claude::{Claude, ENVIRONMENT, is_client_field};
pub use pi::Pi;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::span::{self, Field, Span};
use base::clock::Time;

/// The start of a note that surgery appends to a prompt: nobody said it. Alone it is no prompt, so it
/// can't replace the only text of one.
pub const LEFT_OUT: &str = "[brain-guard] Left out of this round: ";

/// The role of a row in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Kind {
    /// A user's message; starts a round.
    Prompt,
    /// The summary that a compaction left: the first message after it.
    Summary,
    /// Results of tool calls.
    ToolResult,
    /// The client's, in the user's role: reminders, notifications, output of local commands.
    Notice,
    /// A message of the agent.
    Assistant,
    /// What the client attaches to the conversation.
    Attachment,
    /// Kept by the client in the chain, but not a message.
    System,
    /// Everything before is no longer in the context; starts a round.
    Boundary,
    /// The client's bookkeeping, outside the chain.
    #[default]
    Other,
    /// Not a JSON object; kept as it is.
    Broken,
}

/// The kind of a message part.
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
    /// The result of a tool call.
    ToolResult,
    /// An image or a document.
    Media,
    /// A whole row that is none of these.
    Row,
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Its kind.
    pub kind: BlockKind,
    /// Its JSON in the row: an object, or the string that is the whole content.
    pub span: Span,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a> {
    /// The tool's name.
    pub name: Cow<'a, str>,
    /// Its input, as JSON.
    pub input: &'a [u8],
}

/// The head of a row. Texts are borrowed from the row and contain no escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Row<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its id; a row with an id is part of the chain.
    pub id: Option<&'a str>,
    /// The id of its parent; for a boundary, of its logical parent.
    pub parent: Option<&'a str>,
    /// When it was written (RFC 3339, not parsed).
    pub at: Option<&'a str>,
    /// Id of the API's message; one message may be several rows.
    pub message: Option<&'a str>,
    /// The model that a message of the agent is from.
    pub model: Option<&'a str>,
    /// A subagent's row in a main-loop file.
    pub sidechain: bool,
    /// Where the message's content is: a string or an array of blocks.
    pub content: Option<Span>,
    /// All tokens that an assistant's response used (input, cache, output).
    pub used: Option<u64>,
    /// Surgery wrote it to describe rounds; it is nobody's words.
    pub told: bool,
    /// What it was copied from, as JSON ([`crate::origin::Fork`]), if it is a copy of another
    /// session's row.
    pub copied: Option<&'a [u8]>,
    /// Surgery noted here what the session was made from.
    pub made: bool,
}

/// Whether the field `brainGuard` says that surgery wrote the row's message.
fn is_surgery_table(json: &[u8]) -> bool {
    span::find(json, "table") == Some(b"true")
}

impl Row<'_> {
    /// A row of that kind, with nothing else known.
    pub fn of(kind: Kind) -> Self {
        Self { kind, ..Self::default() }
    }
}

/// Buffers, so that no row allocates, and what was found in the last row, so that nothing is
/// searched twice.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The fields of the last row read.
    pub fields: Vec<Field>,
    pub(crate) message: Vec<Field>,
    /// Spans for the own use of whoever reads rows.
    pub spans: Vec<Span>,
    blocks: Vec<Block>,
}

impl Scratch {
    /// The message parts of the last row read, the same as [`Dialect::blocks`] finds.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }
}

/// How a client writes its sessions.
pub trait Dialect: Sync {
    /// `claude` or `pi`.
    fn name(&self) -> &'static str;

    /// Whether the first row has the session's id. Claude Code's file name does; its rows may have
    /// another session's.
    fn has_header(&self) -> bool;

    /// Reads the head of a row. Never fails: an unknown row is [`Kind::Other`] or [`Kind::Broken`].
    fn row<'a>(&self, line: &'a [u8], scratch: &mut Scratch) -> Row<'a>;

    /// Collects the parts of the row's message into `found`, in order; none without a message.
    /// Right after [`Dialect::row`], [`Scratch::blocks`] already has them.
    fn blocks(&self, line: &[u8], row: &Row, scratch: &mut Scratch, found: &mut Vec<Block>);

    /// The call in a block of the kind [`BlockKind::ToolUse`].
    fn call<'a>(&self, block: &'a [u8]) -> Option<Call<'a>>;

    /// What a person said in a text of the user's role; `None` if the client wrote it.
    fn said<'a>(&self, text: &'a str) -> Option<Cow<'a, str>>;

    /// What a person said while the agent was working, if an attachment holds that.
    fn queued(&self, line: &[u8]) -> Option<String>;

    /// The type and the JSON of an attachment whose text the client sends; `None` for what describes
    /// the environment, for a queued prompt, and for what only the user sees.
    fn attached<'a>(&self, line: &'a [u8]) -> Option<(&'a str, &'a [u8])>;

    /// Adds to `facts` what a row says about its session and is not known yet.
    fn facts(&self, line: &[u8], facts: &mut Facts);
}

/// The dialect with that name.
pub fn named(name: &str) -> Option<&'static dyn Dialect> {
    match name {
        "claude" => Some(&Claude),
        "pi" => Some(&Pi),
        _ => None,
    }
}

/// The dialect of a file by its first whole line: pi and `OpenClaw` begin with a header of type
/// `session`, everything else is Claude Code.
pub fn detect(line: &[u8]) -> &'static dyn Dialect {
    if pi::is_header(line) { &Pi } else { &Claude }
}

/// Reads a call; `input` is the name of its input field.
fn call<'a>(block: &'a [u8], input: &str) -> Option<Call<'a>> {
    let mut fields = Vec::new();
    span::fields(block, &mut fields)?;
    let name = span::text(span::get(block, &fields, "name")?)?;
    Some(Call { name, input: span::get(block, &fields, input).unwrap_or_default() })
}

/// What a session's rows say about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The id in its rows; a copied file may have the id of another session.
    pub id: Option<String>,
    /// The folder it began in.
    pub cwd: Option<String>,
    /// A subagent's id.
    pub subagent: Option<String>,
    /// The session it was forked from, or its file.
    pub parent: Option<String>,
    /// The model of its last answer.
    pub model: Option<String>,
    /// The engagement that a split made it for.
    pub engagement: Option<String>,
    /// What its context held beside its rounds when surgery made it, in tokens.
    pub base: Option<u64>,
    /// What its context held in all when surgery made it, in tokens.
    pub tokens: Option<u64>,
    /// Time of its first row that has one.
    pub started: Option<Time>,
    /// Time of its last row that has one.
    pub ended: Option<Time>,
}

impl Facts {
    /// Adds what surgery says about the session that it made, in the field `brainGuard`.
    fn made(&mut self, json: &[u8]) {
        #[derive(Deserialize)]
        struct Made {
            operation: Option<String>,
            engagement: Option<String>,
            base: Option<u64>,
            tokens: Option<u64>,
        }
        let Ok(Made { operation, engagement, base, tokens }) = serde_json::from_slice(json) else {
            return;
        };
        self.engagement = engagement.filter(|_| operation.as_deref() == Some("split"));
        (self.base, self.tokens) = (base, tokens);
    }
}
