//! Edits a row: values are replaced, fields are set, everything else stays byte for byte.

use std::borrow::Cow;

use serde_json::value::RawValue;

use sessions::span::{self, Cursor, Field, Span};

/// The row with new JSON at these places, which must be in order and not overlap.
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

/// Where the value with that key (`message.content.0.text`) is in the row. `None` if there is none,
/// the row is not exactly one object, or a name on the path occurs twice: readers differ in which
/// one they take. A name with a dot cannot be part of a key.
pub fn locate(line: &[u8], key: &str) -> Option<Span> {
    let mut at = object(line)?;
    for part in key.split('.') {
        let value = at.slice(line);
        let within = match value.first()? {
            b'{' => only(value, part)?,
            b'[' => nth(value, part)?,
            _ => return None,
        };
        at = within.shifted(at.start);
    }
    Some(at)
}

/// Whether this starts and ends like a string, an object or an array; the middle is not checked.
pub fn is_whole(json: &[u8]) -> bool {
    let ends = (json.first(), json.last());
    json.len() > 1
        && matches!(
            ends,
            (Some(b'"'), Some(b'"')) | (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']'))
        )
}

/// The row with a field of its outermost object set, or added at its end. `None` as `json` removes
/// it with its comma, so that an added field leaves no trace. A name that occurs twice is set or
/// removed twice. Returns `None` if the row is not an object.
pub fn with_field(line: &[u8], name: &str, json: Option<&[u8]>) -> Option<Vec<u8>> {
    let at = object(line)?;
    let mut fields = Vec::new();
    span::fields(&line[at.start..], &mut fields)?;
    for field in &mut fields {
        field.name = field.name.shifted(at.start);
        field.value = field.value.shifted(at.start);
    }
    let named = |field: &Field| name_matches(field.name.slice(line), name);
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

/// The row without the fields that match `named`.
fn without(line: &[u8], at: Span, fields: &[Field], named: &dyn Fn(&Field) -> bool) -> Vec<u8> {
    let (mut places, mut kept) = (Vec::new(), None);
    for (n, field) in fields.iter().enumerate() {
        if !named(field) {
            kept = Some(field);
            continue;
        }
        // With the comma before it; if no field before it stays, with the comma after it.
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

/// Where the row's object is, without the blanks around it.
fn object(line: &[u8]) -> Option<Span> {
    let start = line.iter().position(|b| !b.is_ascii_whitespace())?;
    let mut cursor = Cursor::from(line, start);
    let at = cursor.value().filter(|_| line[start] == b'{')?;
    cursor.ended().then_some(at)
}

/// The value of the only field with that name.
fn only(object: &[u8], name: &str) -> Option<Span> {
    let mut cursor = Cursor::new(object);
    let (mut found, mut more) = (None, cursor.enter(b'{')?);
    while more {
        let here = name_matches(cursor.name()?.slice(object), name);
        let value = cursor.value()?;
        if here && found.replace(value).is_some() {
            return None;
        }
        more = cursor.more(b'}')?;
    }
    found
}

/// The item with that index, written without leading zeros.
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

/// Whether a name, as written between its quotes, means `name`.
fn name_matches(written: &[u8], name: &str) -> bool {
    *read(written) == *name.as_bytes()
}

/// How deep to search for names that occur twice; no value lies deeper.
const DEEP: usize = 80;

/// The keys that mean more than one place in the row, because a name occurs twice in its object:
/// [`locate`] finds nothing there or below.
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
                let name = read(cursor.name()?.slice(line));
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

/// A name, from the bytes between its quotes.
fn read(written: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', written).is_none() {
        return Cow::Borrowed(written);
    }
    let quoted = [b"\"", written, b"\""].concat();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(name) => Cow::Owned(name.into_bytes()),
        // Half a surrogate pair cannot be part of a key.
        Err(_) => Cow::Borrowed(written),
    }
}

/// Whether the whole row is valid JSON; an invalid row is never changed.
pub fn sound(line: &[u8]) -> bool {
    let row = line.trim_ascii_start();
    row.starts_with(b"{") && serde_json::from_slice::<&RawValue>(row).is_ok()
}

#[cfg(test)]
mod tests;
