//! Transcript rows as client 2.1.329 writes them, with only the fields in use.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::model::SYNTHETIC;
use super::usage::Usage;
use base::clock::Time;

/// Rows of at least this length are scanned before they are parsed: most hold whole requests.
const LONG: usize = 64 * 1024;

/// Whether a row may say something of use, even if only its parent, as the client's attachments do.
pub fn may_be_relevant(line: &[u8]) -> bool {
    let kinds =
        [r#""type":"assistant""#, r#""type":"user""#, "compact_boundary", r#""parentUuid":""#];
    line.len() < LONG || kinds.iter().any(|kind| memmem::find(line, kind.as_bytes()).is_some())
}

/// A row, with only the fields in use.
#[derive(Deserialize)]
pub struct Row<'a> {
    #[serde(borrow, rename = "type", default)]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub subtype: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub uuid: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "parentUuid", default)]
    pub parent: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "isSidechain", default)]
    pub sidechain: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub message: Option<&'a RawValue>,
    #[serde(borrow, rename = "compactMetadata", default)]
    pub compact: Option<&'a RawValue>,
}

/// A field that may have an unknown shape. It then counts as missing, and the row still counts.
pub fn field<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// What a compaction's row says.
#[derive(Deserialize)]
pub struct Compact {
    /// Optional in the client's own types (read in client 2.1.329).
    #[serde(rename = "postTokens")]
    pub post_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(default)]
    usage: Option<Usage>,
}

/// A message's content, unparsed.
#[derive(Deserialize)]
pub struct Content<'a> {
    #[serde(borrow, default)]
    pub content: Option<&'a RawValue>,
}

/// A main-loop response with its usage.
pub struct Response {
    pub message: Option<String>,
    pub model: Option<String>,
    pub at: Option<Time>,
    pub total: u64,
    pub output: u64,
}

impl Response {
    /// `None` for rows without usage and for the client's own rows.
    pub fn of(row: &Row) -> Option<Self> {
        let message = field::<Message>(row.message)?;
        let usage = message.usage?;
        let total = usage.total();
        // The client writes rows of its own with zero usage.
        if total == 0 || message.model.as_deref() == Some(SYNTHETIC) {
            return None;
        }
        Some(Self {
            message: message.id.map(Cow::into_owned),
            model: message.model.map(Cow::into_owned),
            at: field(row.timestamp),
            total,
            output: usage.output_tokens.unwrap_or(0),
        })
    }
}
