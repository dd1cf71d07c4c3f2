//! Long strings anywhere below a value, each by its path.

use super::key::numbered;
use super::key::{Key, Keys};
use crate::placeholder::{BEGIN, GAIN};
use sessions::span::{Cursor, Span};

/// Names whose values are the entry's structure wherever they stand: the clients' own, and the
/// fields that extraction sets.
const STRUCTURE: [&[u8]; 30] = [
    b"__id",
    b"id",
    b"__ts",
    b"__meta",
    b"__hash",
    b"type",
    b"customType",
    b"timestamp",
    b"parentId",
    b"toolCallId",
    b"toolUseId",
    b"tool_call_id",
    b"tool_use_id",
    b"version",
    b"cwd",
    b"_extractable",
    b"_restored",
    b"_pruned",
    b"_redacted",
    b"modelId",
    b"provider",
    b"thinkingLevel",
    b"firstKeptEntryId",
    b"fromHook",
    b"tokensBefore",
    b"role",
    SIGNATURE[0],
    SIGNATURE[1],
    SEAL[0],
    SEAL[1],
];

/// What results call the id of their call.
pub const CALL: [&[u8]; 4] = [b"toolCallId", b"tool_call_id", b"toolUseId", b"tool_use_id"];

/// Fields that hold content in flat rows, and arguments in its calls.
pub const CONTENT: [&[u8]; 10] = [
    b"content",
    b"text",
    b"output",
    b"result",
    b"data",
    b"thinking",
    b"arguments",
    b"input",
    b"params",
    b"error",
];

/// What the signature of reasoning is called.
pub const SIGNATURE: [&[u8]; 2] = [b"signature", b"thinkingSignature"];

/// What pi calls the signature of a text, and of a call: what they are signed with stays under
/// them.
pub const SEAL: [&[u8]; 2] = [b"textSignature", b"thoughtSignature"];

/// Whether a signature is one: not empty.
pub fn signs(json: &[u8]) -> bool {
    !matches!(json, b"\"\"" | b"null")
}

/// How deep objects and arrays are looked into.
const DEEP: usize = 64;

/// Whether a value, as JSON, is worth to be known of: what is shorter can't get shorter. Only the
/// ledger says whether one is a placeholder; a string that begins like one is a value however
/// short it is, so that it can be asked.
pub fn counts(json: &[u8]) -> bool {
    json.len() >= GAIN || json.starts_with(BEGIN)
}

/// A string that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its path.
    pub key: Key,
    /// Its JSON.
    pub span: Span,
}

/// Walks over the value at the cursor, and puts the strings in it that count into `found`.
/// Pictures, what is signed, names of the structure, and names that a path can't hold are left
/// out.
/// `None` where the JSON is broken; `path` is as before then, too.
pub fn below(
    cursor: &mut Cursor,
    line: &[u8],
    path: &mut String,
    keys: &mut Keys,
    found: &mut Vec<Found>,
) -> Option<Span> {
    let length = path.len();
    let span = walk(cursor, line, path, keys, found, DEEP);
    path.truncate(length);
    span
}

fn walk(
    cursor: &mut Cursor,
    line: &[u8],
    path: &mut String,
    keys: &mut Keys,
    found: &mut Vec<Found>,
    deep: usize,
) -> Option<Span> {
    let start = cursor.at();
    let (length, first) = (path.len(), found.len());
    match cursor.peek()? {
        b'{' if deep > 0 => {
            let (mut more, mut picture) = (cursor.enter(b'{')?, false);
            let (mut signed, mut reasons, mut sealed) = (false, false, false);
            while more {
                let name = cursor.name()?.of(line);
                reasons |= name == b"thinking";
                let named = std::str::from_utf8(name).ok().filter(|name| fits(name));
                match named {
                    Some(named) if !STRUCTURE.contains(&name) => {
                        path.push('.');
                        path.push_str(named);
                        walk(cursor, line, path, keys, found, deep - 1)?;
                        path.truncate(length);
                    }
                    _ => {
                        let value = cursor.value()?.of(line);
                        picture |= name == b"type" && matches!(value, b"\"image\"" | b"\"base64\"");
                        signed |= SIGNATURE.contains(&name) && signs(value);
                        sealed |= SEAL.contains(&name) && signs(value);
                    }
                }
                more = cursor.more(b'}')?;
            }
            if picture || sealed || signed && reasons {
                found.truncate(first);
            }
        }
        b'[' if deep > 0 => {
            let mut more = cursor.enter(b'[')?;
            let mut index = 0usize;
            while more {
                numbered(path, index);
                walk(cursor, line, path, keys, found, deep - 1)?;
                path.truncate(length);
                index += 1;
                more = cursor.more(b']')?;
            }
        }
        quote => {
            let span = cursor.value()?;
            if quote == b'"' && counts(span.of(line)) {
                found.push(Found { key: keys.of(path), span });
            }
        }
    }
    Some(Span { start, end: cursor.at() })
}

/// Whether a path can hold a name.
fn fits(name: &str) -> bool {
    !name.is_empty() && !name.contains(['.', '\\'])
}
