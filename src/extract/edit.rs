//! Changes in a row: values replaced, fields set, everything else byte for byte.

use crate::transcript::span::Span;

/// A row with other JSON in some places, which don't overlap and are in order.
pub fn replaced(line: &[u8], places: &[(Span, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut from = 0;
    for (at, json) in places {
        out.extend_from_slice(&line[from..at.start]);
        out.extend_from_slice(json);
        from = at.end;
    }
    out.extend_from_slice(&line[from..]);
    out
}

/// Where the value with that key (`message.content.0.text`) lies in the row.
pub fn locate(_line: &[u8], _key: &str) -> Option<Span> {
    todo!()
}

/// The row with a field of its outermost object set, or added at its end; `None` takes it out.
/// `None` where the row is no object.
pub fn with_field(_line: &[u8], _name: &str, _json: Option<&[u8]>) -> Option<Vec<u8>> {
    todo!()
}
