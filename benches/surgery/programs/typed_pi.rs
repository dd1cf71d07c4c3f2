//! The same of a session of pi or `OpenClaw`: the fields that extraction's rules look at.

use std::fs::File;
use std::io::{self, BufReader};

use serde::Deserialize;
use serde_json::value::RawValue;
use sessions::line::Lines;

use crate::typed::Text;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Row<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    parent_id: Option<Text<'a>>,
    #[serde(borrow)]
    timestamp: Option<Text<'a>>,
    #[serde(borrow)]
    first_kept_entry_id: Option<Text<'a>>,
    #[serde(rename = "_extractable", borrow)]
    extractable: Option<&'a RawValue>,
    #[serde(rename = "_restored", borrow)]
    restored: Option<Text<'a>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Message<'a> {
    #[serde(borrow)]
    role: Option<Text<'a>>,
    #[serde(borrow)]
    tool_name: Option<Text<'a>>,
    #[serde(default)]
    is_error: bool,
    #[serde(default, borrow)]
    content: Vec<Block<'a>>,
    details: Option<Details<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    thinking_signature: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Details<'a> {
    #[serde(borrow)]
    aggregated: Option<Text<'a>>,
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
        let Some(message) = row.message else { continue };
        prompts += u64::from(message.role.is_some_and(|role| role.0 == "user"));
        let of_blocks = message.content.iter().filter_map(|block| block.text.as_ref());
        texts += of_blocks.map(|text| text.0.len() as u64).sum::<u64>();
    }
    Ok((rows, prompts, texts))
}
