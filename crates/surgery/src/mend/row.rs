//! Writes a row of the mended session: its bytes, with some values replaced.

use sessions::dialect::{BlockKind, Claude, Dialect as _, Scratch};
use sessions::span::{self, Span};

use super::Mend;
use super::links::Link;

/// What stands for thinking in a row that a compaction names, so that it stays.
const LEFT_OUT: &[u8] = br#"[{"type":"text","text":"(thinking left out)"}]"#;

impl Mend {
    /// Appends the row at `at` to `out`, as a row of the session `id`.
    pub(super) fn row(
        &self,
        at: usize,
        json: &[u8],
        id: &str,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) {
        let row = Claude.row(json, scratch);
        let mut edits: Vec<(Span, Vec<u8>)> = Vec::new();
        let (mut is_own, mut copied) = (false, false);
        for field in &scratch.fields {
            let value = field.value.slice(json);
            let text = span::plain(value);
            match field.name.slice(json) {
                b"sessionId" if text == self.session.as_deref() => {
                    is_own = true;
                    edits.push((field.value, format!("\"{id}\"").into_bytes()));
                }
                b"parentUuid" if self.links.is_moved(at) => {
                    edits.push((field.value, quoted(self.links.parent(at))));
                }
                b"leafUuid" => {
                    let leaf = text.and_then(|leaf| self.links.find(leaf));
                    if let Some(leaf) = leaf.filter(|leaf| self.links.rows[*leaf].is_gone) {
                        edits.push((field.value, quoted(self.links.staying(leaf))));
                    }
                }
                b"forkedFrom" => copied = true,
                _ => {}
            }
        }
        let link = &self.links.rows[at];
        let thinks = at >= self.thinking_from && link.thinking > 0 && !link.is_beside;
        if let Some(content) = row.content.filter(|_| thinks) {
            edits.push((content, without_thinking(json, scratch)));
        }
        if let (Some(row), Some(session), true) = (row.id, &self.session, is_own && !copied) {
            // As the client itself marks the rows of a fork.
            let end = Span { start: json.len() - 1, end: json.len() };
            let from =
                format!(r#","forkedFrom":{{"sessionId":"{session}","messageUuid":"{row}"}}}}"#);
            edits.push((end, from.into_bytes()));
        }
        edits.sort_by_key(|(at, _)| at.start);
        let mut done = 0;
        for (at, new) in edits {
            out.extend_from_slice(&json[done..at.start]);
            out.extend_from_slice(&new);
            done = at.end;
        }
        out.extend_from_slice(&json[done..]);
    }
}

/// The content of a message without its thinking.
fn without_thinking(json: &[u8], scratch: &Scratch) -> Vec<u8> {
    let stays = scratch.blocks().iter().filter(|block| block.kind != BlockKind::Thinking);
    let blocks: Vec<&[u8]> = stays.map(|block| block.span.slice(json)).collect();
    if blocks.is_empty() {
        return LEFT_OUT.to_vec();
    }
    [b"[", &blocks.join(&b","[..])[..], b"]"].concat()
}

/// A row's id as JSON. Ids need no escapes.
fn quoted(row: Option<&Link>) -> Vec<u8> {
    let id = row.and_then(|row| row.id.as_deref());
    id.map_or_else(|| b"null".to_vec(), |id| format!("\"{id}\"").into_bytes())
}
