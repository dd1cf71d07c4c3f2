//! Fidelity for results of pi and `OpenClaw`. Each is a message of its own.

use super::splice::{Item, Items, Left, without};
use super::words::{Result, text_block};
use super::{Lens, Level};
use sessions::dialect::Row;
use sessions::span;

impl Lens<'_> {
    pub(super) fn pi_result(&self, line: &[u8], row: &Row) -> Left {
        if self.fidelity.tool_use == Level::Omit {
            return Left::Gone;
        }
        let (Some(at), Some(content)) = (span::locate(line, "message"), row.content) else {
            return Left::Same;
        };
        let (json, old) = (at.slice(line), content.slice(line));
        let mut message = Vec::new();
        span::fields(json, &mut message);
        let (id, result) = Result::from_block(line, old, row);
        let Some(words) = self.in_short(id.as_deref(), &result) else { return Left::Same };
        let block = text_block(&words);
        // The block gets brackets around it.
        if block.len() + 2 >= old.len() {
            return Left::Same;
        }
        let mut items = Items::default();
        items.push(Item::Json(block), old);
        // `details` is a second copy of the result.
        let details = without(&message, &["details"], json, at.start);
        items.into_row(line, content, |edits| edits.extend(details))
    }
}
