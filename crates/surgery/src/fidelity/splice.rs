//! A row with changed items in its message, and the rest unchanged.

use sessions::span::{Field, Span};

/// What a row becomes.
pub(super) enum RowOutcome {
    Same,
    Gone,
    Row(Vec<u8>),
}

impl RowOutcome {
    /// Edits what remains of `line`.
    pub fn map(self, line: &[u8], edit: impl FnOnce(&[u8]) -> Vec<u8>) -> Self {
        match self {
            Self::Same => Self::Row(edit(line)),
            Self::Row(line) => Self::Row(edit(&line)),
            Self::Gone => Self::Gone,
        }
    }
}

/// What an item of a message's content becomes.
pub(super) enum Item {
    /// Unchanged.
    Same,
    /// Removed.
    Gone,
    /// Another item, as JSON.
    Json(Vec<u8>),
}

/// A message's content that is being written.
#[derive(Default)]
pub(super) struct Items {
    array: Vec<u8>,
    changed: bool,
}

impl Items {
    pub fn push(&mut self, item: Item, json: &[u8]) {
        self.changed |= !matches!(item, Item::Same);
        match item {
            Item::Same => self.add(json),
            Item::Gone => {}
            Item::Json(json) => self.add(&json),
        }
    }

    fn add(&mut self, json: &[u8]) {
        self.array.push(if self.array.is_empty() { b'[' } else { b',' });
        self.array.extend_from_slice(json);
    }

    /// The row with this content, and the other edits that `edit` adds.
    pub fn into_row(
        self,
        line: &[u8],
        content: Span,
        edit: impl FnOnce(&mut Vec<Edit>),
    ) -> RowOutcome {
        if !self.changed {
            return RowOutcome::Same;
        }
        let Some(bytes) = self.array() else { return RowOutcome::Gone };
        let mut edits = vec![Edit { span: content, bytes }];
        edit(&mut edits);
        RowOutcome::Row(apply(line, edits))
    }

    /// The array; `None` if it is empty.
    fn array(mut self) -> Option<Vec<u8>> {
        self.array.push(b']');
        Some(self.array).filter(|array| array.len() > 1)
    }
}

/// New bytes for a span.
pub(super) struct Edit {
    pub span: Span,
    pub bytes: Vec<u8>,
}

/// Applies edits that do not overlap.
pub(super) fn apply(line: &[u8], mut edits: Vec<Edit>) -> Vec<u8> {
    edits.sort_by_key(|edit| edit.span.start);
    let mut out = Vec::with_capacity(line.len());
    let mut from = 0;
    for Edit { span, bytes } in edits {
        out.extend_from_slice(&line[from..span.start]);
        out.extend_from_slice(&bytes);
        from = span.end;
    }
    out.extend_from_slice(&line[from..]);
    out
}

/// Edits that remove some fields from an object at `base`, each run of them with the commas around
/// it. At least one field must stay.
pub(super) fn without(fields: &[Field], names: &[&str], json: &[u8], base: usize) -> Vec<Edit> {
    let gone = |field: &Field| names.iter().any(|name| field.name.slice(json) == name.as_bytes());
    let (mut edits, mut at) = (Vec::new(), 0);
    for run in fields.chunk_by(|a, b| gone(a) == gone(b)) {
        let (first, behind) = (at, at + run.len());
        at = behind;
        if !run.iter().any(gone) {
            continue;
        }
        let span = match (first.checked_sub(1), fields.get(behind)) {
            (Some(before), _) => {
                Span { start: fields[before].value.end, end: fields[behind - 1].value.end }
            }
            (None, Some(next)) => {
                Span { start: fields[0].name.start - 1, end: next.name.start - 1 }
            }
            (None, None) => continue,
        };
        edits.push(Edit { span: span.shifted(base), bytes: Vec::new() });
    }
    edits
}
