//! What the rules look at: entries and the values in them, without their text. One reader for
//! pi and `OpenClaw` rows, flat rows without a `message`, and Claude Code's.

mod chars;
mod context;
mod cut;
mod key;
mod look;
mod own;
mod read;
mod sound;
mod strings;
#[cfg(test)]
pub(crate) mod tests;
mod tools;
mod values;

use std::sync::Arc;

use self::context::Links;
pub use self::key::Key;
use self::look::{Looked, Looker};
use self::tools::Tools;
use base::clock::Time;
use sessions::dialect::Kind;
pub use sessions::flat::Role;
pub use sessions::settings::Trigger;
use sessions::span::Span;

/// What an entry says of itself; it overrides every rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extractable {
    /// `true`: whatever its type, size, position and protection.
    Always,
    /// `false`.
    Never,
    /// It stays for so many messages.
    After(u32),
}

/// What a call of a tool that reads files was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileRead {
    /// The file, as a hash of its path.
    pub file: u64,
    /// Which part of it, as a hash of what else the tool was given; 0: all of it.
    pub part: u64,
}

/// A value that may be extracted: a string, or a block that goes whole. Arguments of a call are
/// an object and have to stay one, so their strings are values each. What is too short to ever
/// get shorter is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Its path in the row: `message.content.0.text`.
    pub key: Key,
    /// What it is.
    pub trigger: Trigger,
    /// Its JSON in the row: a string with its quotes, or a block.
    pub span: Span,
    /// Characters of its text.
    pub chars: u32,
    /// The tool that was called, or gave it.
    pub tool: Option<Arc<str>>,
    /// A second copy that is not sent to the model (`details`, `toolUseResult`).
    pub copy: bool,
    /// A block with a signature: it goes whole.
    pub whole: bool,
    /// A hash of its JSON, where it is long enough to be compared with others; else 0.
    pub same: u64,
    /// What it was read of.
    pub read: Option<FileRead>,
    /// A result that gives the beginning only of what was asked for, or may.
    pub cut: bool,
    /// It is of a result that is an error.
    pub error: bool,
}

/// An entry, as the rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its row, from 0.
    pub row: u64,
    /// Its id.
    pub id: String,
    /// Whose it is; one that is [broken](Self::broken) is nobody's.
    pub role: Role,
    /// It is a compaction's summary: what the conversation begins with from there on.
    pub summary: bool,
    /// It goes on with the agent's message before: clients write one message as several rows.
    pub continues: bool,
    /// The tool that gave the result, where it is one; of calls, see [`Value::tool`].
    pub tool: Option<Arc<str>>,
    /// A result in it is an error; of which one, see [`Value::error`].
    pub error: bool,
    /// What it says of itself.
    pub extractable: Option<Extractable>,
    /// It says something else with `_extractable`: it stays, as it is not known what is meant.
    pub unclear: bool,
    /// When it was restored last.
    pub restored: Option<Time>,
    /// Whether it is in the model's context: on the branch of the last entry, behind the last
    /// compaction.
    pub in_context: bool,
    /// What may be extracted, in the row's order.
    pub values: Vec<Value>,
    /// Its row is no sound JSON throughout: it may not be changed.
    pub broken: bool,
    /// Values that are left out, as a name on the way to them stands twice.
    pub doubled: u32,
    /// Values that are left out, as another row has the same id.
    pub shared: u32,
}

/// Reads entries of a file, row by row.
#[derive(Debug, Default)]
pub struct Entries {
    /// What was read so far; [`Entry::in_context`] is set by [`Entries::finish`].
    pub found: Vec<Entry>,
    links: Links,
    tools: Tools,
    looker: Looker,
    /// The message that the agent's last row was of.
    message: u64,
    /// Whether the file is a subagent's own, as its first row in the chain tells.
    subagent: Option<bool>,
}

impl Entries {
    /// The same, with values of so many characters made comparable ([`Value::same`]).
    pub fn comparing(chars: u32) -> Self {
        Self { looker: Looker::comparing(Some(chars)), ..Self::default() }
    }

    /// Takes the next row, with or without its line break. Gives its entry; `None` where the row
    /// holds none.
    pub fn row(&mut self, row: u64, line: &[u8]) -> Option<&mut Entry> {
        let Looked { mut entry, calls, link, message, claude } = self.looker.row(line)?;
        entry.row = row;
        self.tools.settle(&mut entry, calls);
        let beside = claude.is_some_and(|of| self.claude(of, &mut entry));
        if entry.broken {
            // No reader takes it: it is no message of the conversation.
            (entry.role, entry.summary) = (Role::None, false);
        }
        if entry.role == Role::Assistant {
            entry.continues = message != 0 && message == self.message;
            self.message = message;
        }
        self.links.add(link, beside);
        let at = self.found.len();
        self.found.push(entry);
        self.found.get_mut(at)
    }

    /// All entries, and which are in the context. An id that two rows have names neither: what
    /// is in them stays.
    pub fn finish(self) -> Vec<Entry> {
        let Self { mut found, links, .. } = self;
        links.settle(&mut found);
        found
    }

    /// What a row of Claude Code's is to the conversation. Says whether it is a subagent's in a
    /// file of the main loop.
    fn claude(&mut self, (kind, sidechain): (Kind, bool), entry: &mut Entry) -> bool {
        let own = *self.subagent.get_or_insert(sidechain);
        let beside = sidechain && !own;
        entry.role = match kind {
            _ if beside => Role::None,
            Kind::Prompt => Role::User,
            Kind::Assistant => Role::Assistant,
            Kind::ToolResult => Role::Tool,
            _ => Role::None,
        };
        entry.summary = kind == Kind::Summary && !beside;
        if kind == Kind::Summary {
            entry.values.clear();
        }
        beside
    }
}

/// An id in few bytes; never 0.
fn hash(id: &str) -> u64 {
    use std::hash::Hasher;
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(id.as_bytes());
    hasher.finish().max(1)
}
