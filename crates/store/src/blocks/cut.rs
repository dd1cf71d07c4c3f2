//! A row cut into blocks: behind each part of its message, so that the blocks joined are the row.

use sessions::dialect::{Block, BlockKind, Kind};
use sessions::span::Span;

/// A block of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: BlockKind,
    /// Its bytes in the row.
    pub bytes: Span,
    /// Its content in the row.
    pub content: Span,
}

/// Cuts a row. A row without parts is one block, its content all but the line break.
pub fn pieces(row: &[u8], parts: &[Block], found: &mut Vec<Piece>) {
    found.clear();
    let mut start = 0;
    for (at, part) in parts.iter().enumerate() {
        // What a dialect says is not taken on trust: parts out of order would lose bytes.
        if part.span.start < start || part.span.end <= part.span.start || part.span.end > row.len()
        {
            found.clear();
            break;
        }
        let end = if at + 1 == parts.len() { row.len() } else { part.span.end };
        found.push(Piece { kind: part.kind, bytes: Span { start, end }, content: part.span });
        start = end;
    }
    if found.is_empty() {
        let content = row.strip_suffix(b"\n").unwrap_or(row).len();
        found.push(Piece {
            kind: BlockKind::Row,
            bytes: Span { start: 0, end: row.len() },
            content: Span { start: 0, end: content },
        });
    }
}

/// Who speaks in a row of this kind.
pub fn role(kind: Kind) -> &'static str {
    match kind {
        Kind::Prompt | Kind::Summary | Kind::ToolResult | Kind::Notice => "user",
        Kind::Assistant => "assistant",
        Kind::Attachment | Kind::System | Kind::Boundary => "system",
        Kind::Other | Kind::Broken => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_joined_are_the_row_whatever_the_parts() {
        let row = b"{\"a\":[\"x\",\"y\"]}\n";
        let part = |start, end| Block { kind: BlockKind::UserText, span: Span { start, end } };
        let cases: [&[Block]; 6] = [
            &[],
            &[part(6, 9)],
            &[part(6, 9), part(10, 13)],
            &[part(10, 13), part(6, 9)],
            &[part(6, 9), part(8, 13)],
            &[part(6, 99)],
        ];
        let mut found = Vec::new();
        for parts in cases {
            pieces(row, parts, &mut found);
            let joined: Vec<u8> = found.iter().flat_map(|p| p.bytes.of(row).to_vec()).collect();
            assert_eq!(joined, row, "{parts:?}");
        }
        pieces(row, cases[2], &mut found);
        assert_eq!(found[1].content.of(row), b"\"y\"");
        assert_eq!(found.len(), 2);
    }
}
