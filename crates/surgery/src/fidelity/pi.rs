//! Fidelity for entries of pi and `OpenClaw`.

use super::Lens;
use super::splice::{Edit, Item, Items, Left, apply, without};
use super::words::Result;
use crate::fidelity::Level;
use sessions::dialect::{Block, Kind, Row};
use sessions::span::{self, Span};

impl Lens<'_> {
    /// What remains of a row.
    pub(super) fn pi(&self, line: &[u8], row: &Row, blocks: &[Block]) -> Left {
        match row.kind {
            Kind::Assistant => self.message(line, row, blocks),
            Kind::ToolResult => self.pi_result(line, row),
            _ => Left::Same,
        }
    }

    /// A result is a message of its own. Without its call, it becomes a message that the model
    /// reads as the user's, although nobody wrote it.
    fn pi_result(&self, line: &[u8], row: &Row) -> Left {
        let (mut fields, mut message) = (Vec::new(), Vec::new());
        span::fields(line, &mut fields);
        let at = fields.iter().find(|field| field.name.slice(line) == b"message").map(|f| f.value);
        let (Some(at), Some(content)) = (at, row.content) else { return Left::Same };
        let json = at.slice(line);
        if span::fields(json, &mut message).is_none() {
            return Left::Same;
        }
        let (id, result) = Result::from_block(line, content.slice(line), row);
        let pair = self.fidelity.tool_use == Level::Full;
        let item = match self.fidelity.tool_result {
            Level::Full if pair => return Left::Same,
            Level::Summary if pair => Item::Text(self.summary(id.as_deref(), &result)),
            Level::Omit if pair => Item::Text(super::words::OMITTED.to_owned()),
            _ => self.told(id.as_deref(), &result),
        };
        let mut items = Items::default();
        items.push(item, content.slice(line));
        if pair {
            // `details` is a second copy of the result.
            let details = without(&message, &["details"], json, at.start);
            return items.into_row(line, content, |edits| edits.extend(details));
        }
        let Some(array) = items.array() else { return Left::Gone };
        let told =
            [br#""customType":"brain-guard","content":"#, array.as_slice(), br#","display":true"#];
        let edits = fields.iter().filter_map(|field| match field.name.slice(line) {
            b"type" => Some(Edit { span: field.value, bytes: br#""custom_message""#.to_vec() }),
            b"message" => {
                let span = Span { start: field.name.start - 1, end: field.value.end };
                Some(Edit { span, bytes: told.concat() })
            }
            _ => None,
        });
        Left::Row(apply(line, edits.collect()))
    }
}
