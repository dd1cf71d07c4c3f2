//! Changes in a row: values replaced, fields set, everything else byte for byte.

use std::borrow::Cow;

use serde_json::value::RawValue;

use sessions::span::{self, Cursor, Field, Span};

/// A row with other JSON in some places, which don't overlap and are in order.
pub fn replaced(line: &[u8], places: &[(Span, impl AsRef<[u8]>)]) -> Vec<u8> {
    let more: usize = places.iter().map(|(_, json)| json.as_ref().len()).sum();
    let less: usize = places.iter().map(|(at, _)| at.end - at.start).sum();
    let mut out = Vec::with_capacity((line.len() + more).saturating_sub(less));
    let mut from = 0;
    for (at, json) in places {
        out.extend_from_slice(&line[from..at.start]);
        out.extend_from_slice(json.as_ref());
        from = at.end;
    }
    out.extend_from_slice(&line[from..]);
    out
}

/// Where the value with that key (`message.content.0.text`) lies in the row. `None` where it has
/// none, is no object and nothing else, or a name on the way stands there twice: readers differ
/// in which one they take. A name with a dot in it is part of no key.
pub fn locate(line: &[u8], key: &str) -> Option<Span> {
    let mut at = object(line)?;
    for part in key.split('.') {
        let value = at.of(line);
        let within = match value.first()? {
            b'{' => only(value, part)?,
            b'[' => nth(value, part)?,
            _ => return None,
        };
        at = within.shifted(at.start);
    }
    Some(at)
}

/// Whether this begins and ends as a text, an object or a list does; what is between is not
/// looked at.
pub fn is_whole(json: &[u8]) -> bool {
    let ends = (json.first(), json.last());
    json.len() > 1
        && matches!(
            ends,
            (Some(b'"'), Some(b'"')) | (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']'))
        )
}

/// The row with a field of its outermost object set, or added at its end; `None` takes it out,
/// with its comma: what was added goes again without a trace. A name that stands there twice is
/// set, or taken out, twice. `None` where the row is no object.
pub fn with_field(line: &[u8], name: &str, json: Option<&[u8]>) -> Option<Vec<u8>> {
    let at = object(line)?;
    let mut fields = Vec::new();
    span::fields(&line[at.start..], &mut fields)?;
    for field in &mut fields {
        field.name = field.name.shifted(at.start);
        field.value = field.value.shifted(at.start);
    }
    let named = |field: &Field| is(field.name.of(line), name);
    let Some(json) = json else { return Some(without(line, at, &fields, &named)) };
    if fields.iter().any(named) {
        let set = fields.iter().filter(|field| named(field));
        let places: Vec<(Span, Vec<u8>)> = set.map(|field| (field.value, json.to_vec())).collect();
        return Some(replaced(line, &places));
    }
    let mut added = Vec::with_capacity(name.len() + json.len() + 4);
    let behind = fields.last().map_or(at.start + 1, |last| last.value.end);
    added.extend_from_slice(if fields.is_empty() { b"" } else { b"," });
    serde_json::to_writer(&mut added, name).ok()?;
    added.push(b':');
    added.extend_from_slice(json);
    Some(replaced(line, &[(Span { start: behind, end: behind }, added)]))
}

/// The row without the fields that are `named`.
fn without(line: &[u8], at: Span, fields: &[Field], named: &dyn Fn(&Field) -> bool) -> Vec<u8> {
    let (mut places, mut kept) = (Vec::new(), None);
    for (n, field) in fields.iter().enumerate() {
        if !named(field) {
            kept = Some(field);
            continue;
        }
        // With the comma ahead of it; where nothing stays ahead, with the one behind it.
        let cut = match (kept, fields.get(n + 1)) {
            (Some(_), _) => Span { start: fields[n - 1].value.end, end: field.value.end },
            (None, Some(next)) => Span { start: field.name.start - 1, end: next.name.start - 1 },
            (None, None) if n == 0 => Span { start: at.start + 1, end: field.value.end },
            (None, None) => Span { start: field.name.start - 1, end: field.value.end },
        };
        places.push((cut, Vec::new()));
    }
    replaced(line, &places)
}

/// Where the object lies that the row is, blanks around it aside.
fn object(line: &[u8]) -> Option<Span> {
    let start = line.iter().position(|b| !b.is_ascii_whitespace())?;
    let mut cursor = Cursor::from(line, start);
    let at = cursor.value().filter(|_| line[start] == b'{')?;
    cursor.ended().then_some(at)
}

/// The value of the one field of that name.
fn only(object: &[u8], name: &str) -> Option<Span> {
    let mut cursor = Cursor::new(object);
    let (mut found, mut more) = (None, cursor.enter(b'{')?);
    while more {
        let here = is(cursor.name()?.of(object), name);
        let value = cursor.value()?;
        if here && found.replace(value).is_some() {
            return None;
        }
        more = cursor.more(b'}')?;
    }
    found
}

/// The item of that number, written as numbers are.
fn nth(list: &[u8], number: &str) -> Option<Span> {
    let plain =
        number == "0" || (!number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit()));
    let mut left: usize = number.parse().ok().filter(|_| plain)?;
    let mut cursor = Cursor::new(list);
    let mut more = cursor.enter(b'[')?;
    while more {
        let item = cursor.value()?;
        if left == 0 {
            return Some(item);
        }
        left -= 1;
        more = cursor.more(b']')?;
    }
    None
}

/// Whether a name as it is written between its quotes says `name`.
fn is(written: &[u8], name: &str) -> bool {
    *read(written) == *name.as_bytes()
}

/// How deep objects and arrays are looked into for names that stand twice; no value lies deeper.
const DEEP: usize = 80;

/// The keys that stand for more than one place in the row, as a name on the way stands twice in
/// its object: [`locate`] finds nothing at them, nor below them.
pub fn twice(line: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    doubled(&mut Cursor::new(line), line, &mut String::new(), &mut Vec::new(), &mut found, DEEP);
    found
}

fn doubled<'a>(
    cursor: &mut Cursor,
    line: &'a [u8],
    path: &mut String,
    names: &mut Vec<Cow<'a, [u8]>>,
    found: &mut Vec<String>,
    deep: usize,
) -> Option<()> {
    let (length, first) = (path.len(), names.len());
    let dot = if path.is_empty() { "" } else { "." };
    match cursor.peek()? {
        b'{' if deep > 0 => {
            let mut more = cursor.enter(b'{')?;
            while more {
                let name = read(cursor.name()?.of(line));
                path.push_str(dot);
                path.push_str(&String::from_utf8_lossy(&name));
                names.push(name);
                doubled(cursor, line, path, names, found, deep - 1)?;
                path.truncate(length);
                more = cursor.more(b'}')?;
            }
            names[first..].sort_unstable();
            for same in names[first..].chunk_by(|a, b| a == b).filter(|same| same.len() > 1) {
                found.push([path, dot, &String::from_utf8_lossy(&same[0])].concat());
            }
            names.truncate(first);
        }
        b'[' if deep > 0 => {
            let (mut more, mut number) = (cursor.enter(b'[')?, 0usize);
            while more {
                path.push_str(dot);
                path.push_str(&number.to_string());
                doubled(cursor, line, path, names, found, deep - 1)?;
                path.truncate(length);
                number += 1;
                more = cursor.more(b']')?;
            }
        }
        _ => {
            cursor.value()?;
        }
    }
    Some(())
}

/// A name, from what is written between its quotes.
fn read(written: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', written).is_none() {
        return Cow::Borrowed(written);
    }
    let quoted = [b"\"", written, b"\""].concat();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(name) => Cow::Owned(name.into_bytes()),
        // Half a surrogate pair is no name that a key can have.
        Err(_) => Cow::Borrowed(written),
    }
}

/// Whether the row is sound JSON throughout: one that isn't is never changed.
pub fn sound(line: &[u8]) -> bool {
    let row = line.trim_ascii_start();
    row.starts_with(b"{") && serde_json::from_slice::<&RawValue>(row).is_ok()
}

#[cfg(test)]
mod tests;
