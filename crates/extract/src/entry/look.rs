//! Reads what a row says by itself. [`Entries`](super::Entries) adds what follows from the rows
//! before it.

use super::context::Loose;
use super::read::{self, Head, Room, Shape};
use super::tools::{Calls, Names};
use super::{Entry, Role, hash, sound, values};
use sessions::dialect::{Claude, Dialect, Kind, Scratch, of_client};
use sessions::span::plain;

/// A row that was looked at.
#[derive(Debug)]
pub struct Looked {
    /// Its entry, without what the rows before know.
    pub(super) entry: Entry,
    pub(super) calls: Calls,
    pub(super) link: Loose,
    /// The message that a row of the agent's is of; 0: it is all of one.
    pub(super) message: u64,
    /// What Claude Code's dialect takes it for, [`Kind::Other`] for all that is no message, and
    /// whether it is on a side chain.
    pub(super) claude: Option<(Kind, bool)>,
}

/// Looks at rows.
#[derive(Debug, Default)]
pub struct Looker {
    room: Room,
    scratch: Scratch,
    names: Names,
    /// Characters from which on values are compared.
    compared: Option<u32>,
}

impl Looker {
    /// With values of so many characters made comparable.
    pub fn comparing(compared: Option<u32>) -> Self {
        Self { compared, ..Self::default() }
    }

    /// Looks at a row, with or without its line break; `None` where it holds no entry.
    pub fn row(&mut self, line: &[u8]) -> Option<Looked> {
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
        let message = message.and_then(|at| plain(at.of(line))).map_or(0, hash);
        Some(Looked { calls, link: Loose::of(line, &head, message), message, claude, entry })
    }

    /// Whether a field of the row that was read last tells that it is the client's. Else it is so
    /// by how its words begin, and would be the user's if a placeholder stood there.
    fn told(&self, line: &[u8]) -> bool {
        let mut fields = self.scratch.fields.iter();
        fields.any(|field| of_client(field.name.of(line), field.value.of(line)))
    }

    /// What Claude Code's dialect takes a row for. Whose words a text is takes a look of its own;
    /// results, which are long, need none.
    fn kind(&mut self, line: &[u8], head: &Head) -> Kind {
        let mut blocks = self.room.blocks.iter();
        match head.kind {
            b"\"assistant\"" => Kind::Assistant,
            b"\"user\"" if head.summary => Kind::Summary,
            b"\"user\"" if blocks.any(|block| block.kind.of(line) == b"\"tool_result\"") => {
                Kind::ToolResult
            }
            b"\"user\"" => Claude.row(line, &mut self.scratch).kind,
            _ => Kind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sessions::{fixtures, generate};

    /// What is seen on the way is what the dialect sees.
    fn as_the_dialect_says(text: &[u8]) -> Result<(), TestCaseError> {
        let (mut looker, mut scratch) = (Looker::default(), Scratch::default());
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
        for (name, text) in fixtures::RECORDED {
            as_the_dialect_says(text).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }

    proptest! {
        #[test]
        fn rows_are_what_the_dialect_says(made in generate::sessions()) {
            as_the_dialect_says(&made.bytes)?;
        }
    }
}
