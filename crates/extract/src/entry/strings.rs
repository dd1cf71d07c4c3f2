//! Finds long strings anywhere below a value, each with its path.

use super::key::numbered;
use super::key::{Key, Keys};
use crate::placeholder::{BEGIN, GAIN};
use sessions::span::{Cursor, Span};

/// Names that are structure wherever they occur: the clients' own, and the fields that extraction
/// sets.
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

/// Names of the call's id in results.
pub const CALL: [&[u8]; 4] = [b"toolCallId", b"tool_call_id", b"toolUseId", b"tool_use_id"];

/// Fields with content in flat rows, and with arguments in their calls.
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

/// Names of the signature of reasoning.
pub const SIGNATURE: [&[u8]; 2] = [b"signature", b"thinkingSignature"];

/// pi's names for the signature of a text and of a call. Neither is ever separated from its
/// signature.
pub const SEAL: [&[u8]; 2] = [b"textSignature", b"thoughtSignature"];

/// Whether there is a signature that is not empty.
pub fn signs(json: &[u8]) -> bool {
    !matches!(json, b"\"\"" | b"null")
}

/// How deep to look into objects and arrays.
const DEEP: usize = 64;

/// Whether a value, as JSON, is worth considering: a shorter one cannot get shorter. Only the
/// ledger knows placeholders, so a string that begins like one always counts.
pub fn counts(json: &[u8]) -> bool {
    json.len() >= GAIN || json.starts_with(BEGIN)
}

/// A string that was found.
#[derive(Debug, Clone)]
pub struct Found {
    pub key: Key,
    /// Its JSON.
    pub span: Span,
}

/// Walks over the value at the cursor and collects into `found` the strings that count. Skips
/// images, signed content, structural names, and names that a path cannot hold. `None` if the JSON
/// is broken; `path` is restored even then.
pub fn collect_strings(
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
            let (mut more, mut image) = (cursor.enter(b'{')?, false);
            let (mut signed, mut reasons, mut sealed) = (false, false, false);
            while more {
                let name = cursor.name()?.slice(line);
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
                        let value = cursor.value()?.slice(line);
                        image |= name == b"type" && matches!(value, b"\"image\"" | b"\"base64\"");
                        signed |= SIGNATURE.contains(&name) && signs(value);
                        sealed |= SEAL.contains(&name) && signs(value);
                    }
                }
                more = cursor.more(b'}')?;
            }
            if image || sealed || signed && reasons {
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
            if quote == b'"' && counts(span.slice(line)) {
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
