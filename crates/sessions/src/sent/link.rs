//! What the order of a conversation depends on: of each row, and of the client's notes in the file.

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::dialect::{Kind, Row};
use crate::span;
use base::clock::Time;
use base::paths::digest;

/// How a row is linked. Ids are hashes. The names are short because a session has many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    #[serde(rename = "i")]
    pub id: u64,
    /// Its parent; of a compaction, the row before.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// When it was written, in milliseconds.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    #[serde(rename = "k")]
    pub kind: Kind,
    /// The API's message of an assistant's row.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// A subagent's row in a main-loop file.
    #[serde(rename = "b", default, skip_serializing_if = "std::ops::Not::not")]
    pub beside: bool,
    /// Whether it has words of its own; a compaction of Claude Code has not.
    #[serde(rename = "w", default, skip_serializing_if = "std::ops::Not::not")]
    pub has_words: bool,
}

impl Link {
    pub fn of(id: &str, row: &Row) -> Self {
        let hash = |id: &str| digest(id.as_bytes());
        let at = row.at.and_then(|at| at.parse::<Time>().ok());
        let message = row.message.filter(|_| row.kind == Kind::Assistant);
        Self {
            id: hash(id),
            parent: row.parent.map(hash),
            at: at.map(|at| at.timestamp_millis()),
            kind: row.kind,
            message: message.map(hash),
            beside: row.sidechain,
            has_words: row.content.is_some(),
        }
    }

    /// Whether it is a message of either side.
    pub fn is_message(&self) -> bool {
        let kinds = [Kind::Prompt, Kind::Summary, Kind::ToolResult, Kind::Notice, Kind::Assistant];
        kinds.contains(&self.kind)
    }
}

/// What a compaction keeps of the rows before it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) enum Kept {
    #[default]
    Nothing,
    /// These rows, behind the anchor.
    Rows { anchor: Option<u64>, rows: Vec<u64> },
    /// The rows from the head to the tail, behind the anchor.
    Segment { anchor: Option<u64>, head: u64, tail: u64 },
    /// pi: the rows from this one up to the compaction, behind it.
    From(u64),
}

impl Kept {
    /// Reads a compaction's row.
    pub fn of(line: &[u8], link: &Link) -> Self {
        let hash = |json: &[u8], name: &str| {
            span::find(json, name).and_then(span::plain).map(|id| digest(id.as_bytes()))
        };
        // Only pi writes the summary into the compaction's row.
        if link.has_words {
            return Self::From(hash(line, "firstKeptEntryId").unwrap_or_default());
        }
        let Some(data) = span::find(line, "compactMetadata") else { return Self::Nothing };
        if let Some(listed) = span::find(data, "preservedMessages")
            && let Some(ids) = span::find(listed, "uuids")
        {
            let mut items = Vec::new();
            span::items(ids, &mut items);
            let ids = items.iter().filter_map(|item| span::plain(item.slice(ids)));
            let rows: Vec<u64> = ids.map(|id| digest(id.as_bytes())).collect();
            if !rows.is_empty() {
                return Self::Rows { anchor: hash(listed, "anchorUuid"), rows };
            }
        }
        let segment = span::find(data, "preservedSegment");
        let ends =
            segment.and_then(|json| Some((hash(json, "headUuid")?, hash(json, "tailUuid")?)));
        match (segment, ends) {
            (Some(json), Some((head, tail))) => {
                Self::Segment { anchor: hash(json, "anchorUuid"), head, tail }
            }
            _ => Self::Nothing,
        }
    }
}

/// The client's note of where the conversation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// The row; `None` before the first prompt.
    pub leaf: Option<u64>,
    /// The user chose it, by a rewind.
    pub is_explicit: bool,
    /// How many rows with an id were before the note.
    pub place: usize,
}

impl Mark {
    /// Reads a row of bookkeeping.
    pub fn of(line: &[u8], place: usize) -> Option<Self> {
        memmem::find(line, b"last-prompt")?;
        if span::find(line, "type") != Some(b"\"last-prompt\"") {
            return None;
        }
        let leaf = span::find(line, "leafUuid").and_then(span::plain);
        let is_explicit = span::find(line, "explicit") == Some(b"true");
        Some(Self { leaf: leaf.map(|id| digest(id.as_bytes())), is_explicit, place })
    }

    /// The newest note counts; without a row and without the user's choice, the one before.
    pub fn or_earlier(self, earlier: Option<Self>) -> Self {
        if self.leaf.is_none() && !self.is_explicit { earlier.unwrap_or(self) } else { self }
    }
}
