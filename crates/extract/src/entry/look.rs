//! Reads what a row says by itself. [`Entries`](super::Entries) adds what follows from earlier
//! rows.

use super::read::{self, Head, Parent, Room, Shape};
use super::tools::{Calls, Names};
use super::{Entry, Role, hash, sound, values};
use sessions::dialect::{Claude, Dialect, Kind, Row, Scratch, is_client_field};
use sessions::span::{Span, plain};

/// What a row says by itself.
#[derive(Debug)]
pub struct RowFacts<'l> {
    /// Its entry, without what the earlier rows add.
    pub(super) entry: Entry,
    pub(super) calls: Calls,
    /// How it is linked to others.
    pub(super) row: Row<'l>,
    /// It names no parent, so it follows the entry before it.
    pub(super) is_behind_last: bool,
    /// The message that an agent's row is part of; 0 if it is all of one.
    pub(super) message: u64,
    /// Its kind in Claude Code's dialect ([`Kind::Other`] if it is not a message), and whether it
    /// is on a side chain.
    pub(super) claude: Option<(Kind, bool)>,
}

/// Reads rows one by one.
#[derive(Debug, Default)]
pub struct RowReader {
    room: Room,
    scratch: Scratch,
    names: Names,
    /// Characters from which values are compared.
    compared: Option<u32>,
}

impl RowReader {
    /// A reader that makes values of that many characters comparable.
    pub fn comparing(compared: Option<u32>) -> Self {
        Self { compared, ..Self::default() }
    }

    /// Reads a row, with or without its line break; `None` if it holds no entry.
    pub fn row<'l>(&mut self, line: &'l [u8]) -> Option<RowFacts<'l>> {
        let head = read::head(line, &mut self.room)?;
        let id = head.id()?;
        let (entry, calls) =
            values::of(line, &head, &mut self.room, &mut self.names, self.compared);
        let mut entry = Entry { id: id.to_owned(), ..entry };
        sound::settle(line, &mut entry);
        let claude =
            (head.shape() == Shape::Claude).then(|| (self.kind(line, &head), head.sidechain));
        if claude.is_some_and(|(kind, _)| kind == Kind::Notice) && !self.told(line) {
            entry.values.clear();
        }
        let of_agent = match claude {
            Some((kind, _)) => kind == Kind::Assistant,
            None => entry.role == Role::Assistant,
        };
        let message = head.message_id.filter(|_| of_agent);
        let id = message.and_then(|at| plain(at.slice(line)));
        let kind =
            claude.map_or_else(|| pi_kind(&head, entry.role), |(kind, _)| of_claude(&head, kind));
        let row = Row {
            kind,
            id: head.id(),
            parent: if let Parent::Row(parent) = head.parent { Some(parent) } else { None },
            at: head.at,
            message: id,
            sidechain: head.sidechain,
            // The summary of pi's compaction is in its row.
            content: (claude.is_none() && kind == Kind::Boundary).then(Span::default),
            ..Row::default()
        };
        let is_behind_last = head.parent == Parent::Before;
        let message = id.map_or(0, hash);
        Some(RowFacts { entry, calls, row, is_behind_last, message, claude })
    }

    /// Whether a field of the last row read says that the client wrote it. Without one, only the
    /// first words say so, and with a placeholder there it would count as the user's.
    fn told(&self, line: &[u8]) -> bool {
        let mut fields = self.scratch.fields.iter();
        fields.any(|field| is_client_field(field.name.slice(line), field.value.slice(line)))
    }

    /// The kind of a row in Claude Code's dialect. Only the dialect can tell whose words a text is;
    /// results, which are long, do not need it.
    fn kind(&mut self, line: &[u8], head: &Head) -> Kind {
        let mut blocks = self.room.blocks.iter();
        match head.kind {
            b"\"assistant\"" => Kind::Assistant,
            b"\"user\"" if head.summary => Kind::Summary,
            b"\"user\"" if blocks.any(|block| block.kind.slice(line) == b"\"tool_result\"") => {
                Kind::ToolResult
            }
            b"\"user\"" => Claude.row(line, &mut self.scratch).kind,
            _ => Kind::Other,
        }
    }
}

/// The kind of a row of Claude Code that may be no message.
fn of_claude(head: &Head, kind: Kind) -> Kind {
    match head.kind {
        b"\"system\"" if head.subtype == b"\"compact_boundary\"" => Kind::Boundary,
        b"\"attachment\"" => Kind::Attachment,
        _ if kind == Kind::Other => Kind::System,
        _ => kind,
    }
}

/// The kind of a row of pi, of `OpenClaw`, or of a flat one.
fn pi_kind(head: &Head, role: Role) -> Kind {
    match (head.kind, role) {
        (b"\"compaction\"" | b"\"reset\"", _) => Kind::Boundary,
        (_, Role::User) => Kind::Prompt,
        (_, Role::Assistant) => Kind::Assistant,
        (_, Role::Tool) => Kind::ToolResult,
        (_, Role::None) => Kind::System,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use testing::{RECORDED, claude};

    /// What one pass finds is what the dialect finds.
    fn as_the_dialect_says(text: &[u8]) -> Result<(), TestCaseError> {
        let (mut looker, mut scratch) = (RowReader::default(), Scratch::default());
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let Some((kind, sidechain)) = looker.row(line).and_then(|looked| looked.claude) else {
                continue;
            };
            let row = Claude.row(line, &mut scratch);
            let said = match row.kind {
                Kind::Prompt
                | Kind::Assistant
                | Kind::ToolResult
                | Kind::Summary
                | Kind::Notice => row.kind,
                _ => Kind::Other,
            };
            prop_assert_eq!((kind, sidechain), (said, row.sidechain));
        }
        Ok(())
    }

    #[test]
    fn rows_of_real_clients_are_what_the_dialect_says() {
        for (name, text) in RECORDED {
            as_the_dialect_says(text).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }

    proptest! {
        #[test]
        fn rows_are_what_the_dialect_says(made in claude::sessions()) {
            as_the_dialect_says(&made.bytes)?;
        }
    }
}
