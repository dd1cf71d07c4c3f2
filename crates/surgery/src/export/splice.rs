//! Writing an object's fields: most as they are, some in another's place.

use super::form::Link;
use sessions::span::{self, Span};

/// An object that is being written.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl<'o> Object<'o> {
    /// Begins one.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// A field with its value's JSON; gives back where that lies.
    pub fn json(&mut self, name: &[u8], value: &[u8]) -> Span {
        self.name(name);
        let start = self.out.len();
        self.out.extend_from_slice(value);
        Span { start, end: self.out.len() }
    }

    /// A field with a text that needs no escapes.
    pub fn plain(&mut self, name: &[u8], text: &str) {
        self.name(name);
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
    }

    /// A field with any text.
    pub fn text(&mut self, name: &[u8], text: &str) {
        self.name(name);
        quote(text, self.out);
    }

    /// Ends it, as a line.
    pub fn end_line(self) {
        self.out.extend_from_slice(b"}\n");
    }

    /// Ends it.
    pub fn end(self) {
        self.out.push(b'}');
    }

    /// What is written goes there.
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

/// The field of a row whose message surgery wrote, with the rounds that its table stands for
/// ([`super::stands_for`]) and with what its session was made from, where these are told there.
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

/// A text as JSON.
pub(super) fn quote(text: &str, out: &mut Vec<u8>) {
    // Writing into memory can't fail.
    let _ = serde_json::to_writer(out, text);
}

/// Where a row comes from, as the field `forkedFrom`: the session and the row it was copied from
/// (`row` is what the dialect calls that), the one that this was a copy of in turn, the first of
/// all where it is known, and whether something of the row was left out on the way.
pub(super) fn from(object: &mut Object, row: &str, link: &Link, before: Option<&[u8]>) {
    let of = |name| before.and_then(|json| span::find(json, name));
    let mut from = Object::new(object.out(b"forkedFrom"));
    from.text(b"sessionId", &link.source.id);
    from.plain(row.as_bytes(), link.old);
    if let Some(origin) = of("origin") {
        from.json(b"origin", origin);
    } else if let (Some(session), Some(id)) = (of("sessionId"), of(row)) {
        let mut origin = Object::new(from.out(b"origin"));
        origin.json(b"sessionId", session);
        origin.json(row.as_bytes(), id);
        origin.end();
    }
    if link.less || of("less") == Some(b"true") {
        from.json(b"less", b"true");
    }
    from.end();
}

/// The array without some of its items, which lie at `items`; `None` where none is left.
pub(super) fn without(array: &[u8], items: &[Span], gone: &[usize]) -> Option<Vec<u8>> {
    let mut out = vec![b'['];
    for (at, item) in items.iter().enumerate() {
        if gone.contains(&at) {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(item.of(array));
    }
    out.push(b']');
    (out.len() > 2).then_some(out)
}

/// A row with `new` in the place of what lies at `at`.
pub(super) fn replaced(line: &[u8], at: Span, new: &[u8]) -> Vec<u8> {
    [&line[..at.start], new, &line[at.end..]].concat()
}
