//! Finds values in a row's JSON without parsing them: a row stays as bytes, and only requested
//! values are read. Malformed JSON inside a value goes unnoticed here.

mod cursor;

use std::borrow::Cow;

use memchr::memchr;

pub use cursor::Cursor;

/// A range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes in this range.
    pub fn slice(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// The same range, `base` bytes further on.
    pub fn shifted(self, base: usize) -> Self {
        Self { start: self.start + base, end: self.end + base }
    }
}

/// One field of an object: its name (between the quotes, as written) and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The name, without its quotes.
    pub name: Span,
    /// The value; a string with its quotes.
    pub value: Span,
}

/// Collects the fields of the object at the start of `bytes` (leading blanks are allowed). Returns
/// where it ends; `None` if it is not an object or does not end.
pub fn fields(bytes: &[u8], found: &mut Vec<Field>) -> Option<usize> {
    found.clear();
    let mut cursor = Cursor::new(bytes);
    let mut more = cursor.enter(b'{')?;
    while more {
        let name = cursor.name()?;
        found.push(Field { name, value: cursor.value()? });
        more = cursor.more(b'}')?;
    }
    Some(cursor.at())
}

/// The value of the field `name` in the object at the start of `bytes`; reads no further.
pub fn find<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    locate(bytes, name).map(|at| at.slice(bytes))
}

/// Where that value is.
pub fn locate(bytes: &[u8], name: &str) -> Option<Span> {
    let mut cursor = Cursor::new(bytes);
    let mut more = cursor.enter(b'{')?;
    while more {
        let found = cursor.name()?.slice(bytes) == name.as_bytes();
        let value = cursor.value()?;
        if found {
            return Some(value);
        }
        more = cursor.more(b'}')?;
    }
    None
}

/// Collects the items of the array at the start of `bytes`. Returns where it ends; `None` if it is
/// not an array or does not end.
pub fn items(bytes: &[u8], found: &mut Vec<Span>) -> Option<usize> {
    found.clear();
    let mut cursor = Cursor::new(bytes);
    let mut more = cursor.enter(b'[')?;
    while more {
        found.push(cursor.value()?);
        more = cursor.more(b']')?;
    }
    Some(cursor.at())
}

/// The value of the field `name`, if the object has it.
pub fn get<'a>(bytes: &'a [u8], fields: &[Field], name: &str) -> Option<&'a [u8]> {
    let field = fields.iter().find(|f| f.name.slice(bytes) == name.as_bytes())?;
    Some(field.value.slice(bytes))
}

/// A string's text, from its JSON with the quotes; `None` if it is not a string.
pub fn text(json: &[u8]) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice(json).ok().map(Cow::Owned)
}

/// A string that needs no decoding, such as an id.
pub fn plain(json: &[u8]) -> Option<&str> {
    let inner = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    std::str::from_utf8(inner).ok().filter(|s| !s.contains('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_row_with_everything_in_it() {
        let row = br#" { "a" : "x\\\"}" , "b":{"c":["}",{"d":1}]},"e":[1,[2,"]"]], "f":-1.5e3,"g":null}rest"#;
        let mut found = Vec::new();
        assert_eq!(fields(row, &mut found), Some(row.len() - 4));
        let pairs: Vec<_> = found
            .iter()
            .map(|f| {
                let text = |span: Span| String::from_utf8(span.slice(row).to_vec()).unwrap();
                (text(f.name), text(f.value))
            })
            .collect();
        let expected = [
            ("a", r#""x\\\"}""#),
            ("b", r#"{"c":["}",{"d":1}]}"#),
            ("e", r#"[1,[2,"]"]]"#),
            ("f", "-1.5e3"),
            ("g", "null"),
        ];
        assert_eq!(pairs, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!(get(row, &found, "f"), Some(&b"-1.5e3"[..]));
        assert_eq!(text(get(row, &found, "a").unwrap()).unwrap(), "x\\\"}");
    }

    #[test]
    fn what_does_not_end_is_no_object() {
        let row = br#"{"a":"x\"y","b":{"c":[1,2,{"d":"e"}]},"f":1}"#;
        let (mut found, mut spans) = (Vec::new(), Vec::new());
        assert!(fields(row, &mut found).is_some());
        for end in 0..row.len() {
            assert_eq!(fields(&row[..end], &mut found), None, "{end}");
        }
        for broken in [&b"[1,2"[..], b"[1 2]", b"{}", b"", b"[,]"] {
            assert_eq!(items(broken, &mut spans), None);
        }
        assert_eq!(items(b"[ ]", &mut spans), Some(3));
        assert_eq!(items(b"[1, \"a]\" ,[2]]", &mut spans), Some(14));
        assert_eq!(spans.len(), 3);
    }
}
