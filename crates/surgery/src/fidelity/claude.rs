//! Fidelity for results of Claude Code. One row may have several.

use super::splice::{Edit, Item, Items, RowOutcome, apply, without};
use super::words::{ToolResult, quoted};
use super::{Lens, Level};
use sessions::dialect::{Block, BlockKind, Row};
use sessions::span::{self, Span};

impl Lens {
    pub(super) fn results(&self, line: &[u8], row: &Row, blocks: &[Block]) -> RowOutcome {
        let Some(content) = row.content else { return RowOutcome::Same };
        let mut fields = Vec::new();
        span::fields(line, &mut fields);
        let omit = self.fidelity.tool_use == Level::Omit;
        let mut items = Items::default();
        for block in blocks {
            let json = block.span.slice(line);
            let item = match block.kind {
                BlockKind::ToolResult if omit => Item::Gone,
                BlockKind::ToolResult => self.result(line, json, row),
                _ => Item::Same,
            };
            items.push(item, json);
        }
        items.into_row(line, content, |edits| {
            // A second copy of the result, and the row it refers to.
            let gone = ["toolUseResult", "sourceToolAssistantUUID", "isMeta"];
            let gone = &gone[..if omit { gone.len() } else { 1 }];
            edits.extend(without(&fields, gone, line, 0));
            // A text that was beside results must not begin a round.
            if omit && let Some(last) = fields.last() {
                let span = Span { start: last.value.end, end: last.value.end };
                edits.push(Edit { span, bytes: br#","isMeta":true"#.to_vec() });
            }
        })
    }

    /// What a result block becomes.
    fn result(&self, line: &[u8], json: &[u8], row: &Row) -> Item {
        let (id, result) = ToolResult::from_block(line, json, row);
        let (Some(words), Some(content)) =
            (self.in_short(id.as_deref(), &result), span::locate(json, "content"))
        else {
            return Item::Same;
        };
        let bytes = quoted(&words);
        if bytes.len() >= content.slice(json).len() {
            return Item::Same;
        }
        Item::Json(apply(json, vec![Edit { span: content, bytes }]))
    }
}
