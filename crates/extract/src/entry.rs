//! Entries and their values as the rules see them, without their text. One reader for rows of pi
//! and `OpenClaw`, flat rows without a `message`, and Claude Code's rows.

mod chars;
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

use std::collections::HashMap;
use std::sync::Arc;

pub use self::key::Key;
use self::look::{RowFacts, RowReader};
use self::tools::Tools;
use base::clock::Time;
use sessions::dialect::{Kind, Row};
pub use sessions::flat::Role;
use sessions::sent::{self, RowState};
pub use sessions::settings::Trigger;
use sessions::span::Span;

/// What an entry says about itself; it overrides every rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extractable {
    /// `true`: extract it, whatever its type, size, position and protection.
    Always,
    /// `false`: never extract it.
    Never,
    /// It stays for that many messages.
    After(u32),
}

/// What a call of a file-reading tool read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileRead {
    /// The file, as a hash of its path.
    pub file: u64,
    /// Which part of it, as a hash of the other arguments; 0: all of it.
    pub part: u64,
}

/// A value that may be extracted: a string, or a whole block. A call's arguments must stay an
/// object, so each of their strings is a value. A string too short to ever get shorter is not a
/// value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Its path in the row: `message.content.0.text`.
    pub key: Key,
    /// Its type.
    pub trigger: Trigger,
    /// Its JSON in the row: a string with its quotes, or a block.
    pub span: Span,
    /// Characters of its text.
    pub chars: u32,
    /// The tool that was called, or that gave the result.
    pub tool: Option<Arc<str>>,
    /// A duplicate that is not sent to the model (`details`, `toolUseResult`).
    pub copy: bool,
    /// A block with a signature: it is extracted as a whole.
    pub whole: bool,
    /// A hash of its JSON if it is long enough to be compared, else 0.
    pub same: u64,
    /// The file it was read from.
    pub read: Option<FileRead>,
    /// A result that is, or may be, only the start of what was requested.
    pub cut: bool,
    /// Whether it belongs to a result that is an error.
    pub error: bool,
}

/// An entry, as the rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its row, from 0.
    pub row: u64,
    /// Its id.
    pub id: String,
    /// Who wrote it; nobody, if it is [broken](Self::broken).
    pub role: Role,
    /// A compaction's summary: the conversation begins with it.
    pub summary: bool,
    /// It continues the agent's message before it: clients write one message as several rows.
    pub continues: bool,
    /// The tool that gave the result, if it is one; for calls, see [`Value::tool`].
    pub tool: Option<Arc<str>>,
    /// A result in it is an error; [`Value::error`] says which one.
    pub error: bool,
    /// What it says about itself.
    pub extractable: Option<Extractable>,
    /// `_extractable` has an unknown value: the entry stays.
    pub unclear: bool,
    /// When it was last restored.
    pub restored: Option<Time>,
    /// Whether the client sends it to the model.
    pub in_context: bool,
    /// The files that calls wrote whose results are in it, as hashes of their paths.
    pub written: Vec<u64>,
    /// Its values, in row order.
    pub values: Vec<Value>,
    /// Its row is not valid JSON: it must not be changed.
    pub broken: bool,
    /// Values left out because a name on their path occurs twice.
    pub doubled: u32,
    /// Values left out because another row has the same id.
    pub shared: u32,
}

/// Reads entries of a file, row by row.
#[derive(Debug, Default)]
pub struct Entries {
    /// The entries so far; [`Entries::finish`] sets [`Entry::in_context`].
    pub found: Vec<Entry>,
    /// Which of them the client sends.
    sent: sent::Rows,
    /// The id of the last one of the main conversation.
    before: String,
    tools: Tools,
    looker: RowReader,
    /// The message of the agent's last row.
    message: u64,
    /// Whether the file is a subagent's own; its first row in the chain decides.
    subagent: Option<bool>,
}

impl Entries {
    /// A reader that makes values of that many characters comparable ([`Value::same`]).
    pub fn comparing(chars: u32) -> Self {
        Self { looker: RowReader::comparing(Some(chars)), ..Self::default() }
    }

    /// Takes the next row, with or without its line break. Returns its entry; `None` if it has
    /// none.
    pub fn row(&mut self, number: u64, line: &[u8]) -> Option<&mut Entry> {
        let Some(facts) = self.looker.row(line) else {
            // The client notes in rows without an id where the conversation ends.
            self.sent.row(&Row::of(Kind::Other), line);
            return None;
        };
        let RowFacts { mut entry, calls, mut row, is_behind_last, message, claude } = facts;
        entry.row = number;
        self.tools.settle(&mut entry, calls);
        let beside = claude.is_some_and(|of| self.claude(of, &mut entry));
        if entry.broken {
            // No reader accepts it: it is not a message of the conversation.
            (entry.role, entry.summary) = (Role::None, false);
        }
        if entry.role == Role::Assistant {
            entry.continues = message != 0 && message == self.message;
            self.message = message;
        }
        if is_behind_last {
            row.parent = Some(self.before.as_str()).filter(|id| !id.is_empty());
        }
        self.sent.row(&row, line);
        if !beside {
            self.before.clone_from(&entry.id);
        }
        let at = self.found.len();
        self.found.push(entry);
        self.found.get_mut(at)
    }

    /// All entries, and which are in the context. If two rows share an id, none of their values is
    /// extracted.
    pub fn finish(self) -> Vec<Entry> {
        let Self { mut found, sent, .. } = self;
        let mut first: HashMap<String, usize> = HashMap::with_capacity(found.len());
        for at in 0..found.len() {
            if let Some(other) = first.insert(found[at].id.clone(), at) {
                for at in [at, other] {
                    found[at].shared += found[at].values.len() as u32;
                    found[at].values.clear();
                }
            }
        }
        for (entry, state) in found.iter_mut().zip(sent.sequence().states) {
            entry.in_context = state == RowState::Sent;
        }
        found
    }

    /// Sets the role of a Claude Code row. Returns whether it is a subagent's in a main-loop file.
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

/// A hash that tells ids and long values apart; never 0.
fn hash(bytes: impl AsRef<[u8]>) -> u64 {
    use std::hash::Hasher;
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes.as_ref());
    hasher.finish().max(1)
}
