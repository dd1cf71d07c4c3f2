//! Writes a JSON object: most fields as they are, some replaced.

use super::form::Link;
use sessions::span::{self, Span};

/// An object that is being written.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl<'o> Object<'o> {
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// Writes a field with its value as JSON. Returns where the value is.
    pub fn json(&mut self, name: &[u8], value: &[u8]) -> Span {
        self.name(name);
        let start = self.out.len();
        self.out.extend_from_slice(value);
        Span { start, end: self.out.len() }
    }

    /// Writes a field with a text that needs no escapes.
    pub fn plain(&mut self, name: &[u8], text: &str) {
        self.name(name);
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
    }

    /// Writes a field with any text.
    pub fn text(&mut self, name: &[u8], text: &str) {
        self.name(name);
        quote(text, self.out);
    }

    /// Ends the object and its line.
    pub fn end_line(self) {
        self.out.extend_from_slice(b"}\n");
    }

    /// Ends the object.
    pub fn end(self) {
        self.out.push(b'}');
    }

    /// Writes the name of a field; the caller appends its value to the returned buffer.
    pub fn out(&mut self, name: &[u8]) -> &mut Vec<u8> {
        self.name(name);
        self.out
    }

    fn name(&mut self, name: &[u8]) {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out.push(b'"');
        self.out.extend_from_slice(name);
        self.out.extend_from_slice(b"\":");
    }
}

/// The field `brainGuard` of a message that surgery wrote: the rounds its table stands for
/// ([`super::stands_for`]), and the new session's metadata, if given.
pub(super) fn told(stands_for: Option<&[u8]>, lineage: Option<&str>) -> Vec<u8> {
    let mut field = br#"{"table":true"#.to_vec();
    if let Some(rounds) = stands_for {
        field.extend_from_slice(b",\"stands_for\":");
        field.extend_from_slice(rounds);
    }
    if let Some(fields) = lineage.and_then(|json| json.strip_prefix('{')) {
        field.push(b',');
        field.extend_from_slice(fields.as_bytes());
    } else {
        field.push(b'}');
    }
    field
}

/// Writes a text as JSON.
pub(super) fn quote(text: &str, out: &mut Vec<u8>) {
    // Writing into memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Writes where a row comes from as `forkedFrom`: the session and row it was copied from, the
/// origin of its round, and whether part was removed.
pub(super) fn from(object: &mut Object, link: &Link, before: Option<&[u8]>) {
    let less = before.and_then(|json| span::find(json, "less")) == Some(b"true");
    let mut from = Object::new(object.out(b"forkedFrom"));
    from.text(b"sessionId", &link.source.id);
    from.plain(b"messageUuid", link.old);
    from.text(b"origin", link.origin);
    if link.less || less {
        from.json(b"less", b"true");
    }
    from.end();
}

/// The array without the items in `gone`; `None` if none remain.
pub(super) fn without(array: &[u8], items: &[Span], gone: &[usize]) -> Option<Vec<u8>> {
    let mut out = vec![b'['];
    for (at, item) in items.iter().enumerate() {
        if gone.contains(&at) {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(item.slice(array));
    }
    out.push(b']');
    (out.len() > 2).then_some(out)
}

/// A row with `new` in place of the span `at`.
pub(super) fn replaced(line: &[u8], at: Span, new: &[u8]) -> Vec<u8> {
    [&line[..at.start], new, &line[at.end..]].concat()
}
