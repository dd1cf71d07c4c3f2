//! The same of a session of Claude Code with what extraction's rules look at: the texts of results
//! and what calls were given, too.

use std::fs::File;
use std::io::{self, BufReader};

use serde::Deserialize;
use serde_json::value::RawValue;
use sessions::line::Lines;

use crate::typed::{Content, Text};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Row<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    subtype: Option<Text<'a>>,
    #[serde(borrow)]
    uuid: Option<Text<'a>>,
    #[serde(borrow)]
    parent_uuid: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<Text<'a>>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(rename = "_extractable", borrow)]
    extractable: Option<&'a RawValue>,
    #[serde(rename = "_restored", borrow)]
    restored: Option<Text<'a>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    tool_use_result: Option<Copied<'a>>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    role: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<Content<'a, Block<'a>>>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    signature: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    tool_use_id: Option<Text<'a>>,
    #[serde(default)]
    is_error: bool,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<Content<'a, Part<'a>>>,
}

/// A part of a result.
#[derive(Deserialize)]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
}

/// What the client keeps of a result for itself.
#[derive(Deserialize)]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Copied<'a> {
    #[serde(borrow)]
    stdout: Option<Text<'a>>,
    #[serde(borrow)]
    stderr: Option<Text<'a>>,
}

/// Rows, prompts, bytes of text.
///
/// # Errors
/// What the system says; a line that is no row of the kind this knows.
pub fn read(mut lines: Lines<BufReader<File>>) -> io::Result<(u64, u64, u64)> {
    let (mut rows, mut prompts, mut texts) = (0, 0, 0);
    while let Some(line) = lines.next()? {
        let row: Row = std::hint::black_box(serde_json::from_slice(line.bytes)?);
        rows += 1;
        match row.message.and_then(|message| message.content) {
            Some(Content::Text(text)) => {
                prompts += u64::from(row.kind.is_some_and(|kind| kind.0 == "user"));
                texts += text.len() as u64;
            }
            Some(Content::Blocks(blocks)) => {
                let of_blocks = blocks.iter().filter_map(|block| block.text.as_ref());
                texts += of_blocks.map(|text| text.0.len() as u64).sum::<u64>();
            }
            None => {}
        }
    }
    Ok((rows, prompts, texts))
}
