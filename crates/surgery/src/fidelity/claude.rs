//! Fidelity for rows of Claude Code.

use super::Lens;
use super::splice::{Edit, Item, Items, Left, apply, without};
use super::words::Result;
use crate::fidelity::Level;
use sessions::dialect::{Block, BlockKind, Kind, Row};
use sessions::span::{self, Span};

impl Lens<'_> {
    /// What remains of a row.
    pub(super) fn claude(&self, line: &[u8], row: &Row, blocks: &[Block]) -> Left {
        match row.kind {
            Kind::Assistant => self.message(line, row, blocks),
            Kind::ToolResult => self.results(line, row, blocks),
            _ => Left::Same,
        }
    }

    fn results(&self, line: &[u8], row: &Row, blocks: &[Block]) -> Left {
        let Some(content) = row.content else { return Left::Same };
        let mut fields = Vec::new();
        span::fields(line, &mut fields);
        let mut items = Items::default();
        for block in blocks {
            let json = block.span.slice(line);
            let item = match block.kind {
                BlockKind::ToolResult => self.result(line, json, row),
                _ => Item::Same,
            };
            items.push(item, json);
        }
        let pair = self.fidelity.tool_use == Level::Full;
        items.into_row(line, content, |edits| {
            // A second copy of the result, and the row it refers to.
            let gone = ["toolUseResult", "sourceToolAssistantUUID", "isMeta"];
            let gone = &gone[..if pair { 1 } else { gone.len() }];
            edits.extend(without(&fields, gone, line, 0));
            // A text in the user's role that nobody wrote: it must not begin a round.
            if !pair && let Some(last) = fields.last() {
                let span = Span { start: last.value.end, end: last.value.end };
                edits.push(Edit { span, bytes: br#","isMeta":true"#.to_vec() });
            }
        })
    }

    /// What a result block becomes.
    fn result(&self, line: &[u8], json: &[u8], row: &Row) -> Item {
        let (id, result) = Result::from_block(line, json, row);
        if self.fidelity.tool_use != Level::Full {
            return self.told(id.as_deref(), &result);
        }
        let words = match self.fidelity.tool_result {
            Level::Full => return Item::Same,
            Level::Summary => self.summary(id.as_deref(), &result),
            Level::Omit => super::words::OMITTED.to_owned(),
        };
        let mut fields = Vec::new();
        span::fields(json, &mut fields);
        let Some(field) = fields.iter().find(|field| field.name.slice(json) == b"content") else {
            return Item::Same;
        };
        let bytes = super::words::quoted(&words);
        Item::Json(apply(json, vec![Edit { span: field.value, bytes }]))
    }
}
