//! A typical session reader that parses each line into types: the fields of the scan, borrowed if
//! possible, everything else skipped.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader};
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use sessions::line::Lines;

/// Borrows a text without escapes. (In an `Option`, serde would copy a plain `Cow`.)
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

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
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "parsed, which is what is measured")]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<Content<'a, Block<'a>>>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[allow(
    dead_code,
    clippy::struct_field_names,
    reason = "the API's names, parsed, which is what is measured"
)]
struct Usage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
}

/// A text, or a list of blocks.
enum Content<'a, B> {
    Text(Cow<'a, str>),
    Blocks(Vec<B>),
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
    name: Option<Text<'a>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

impl<'de: 'a, 'a, B: Deserialize<'de>> Deserialize<'de> for Content<'a, B> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either<B>(PhantomData<B>);
        impl<'de, B: Deserialize<'de>> Visitor<'de> for Either<B> {
            type Value = Content<'de, B>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a text or blocks")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = items.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }
        from.deserialize_any(Either(PhantomData))
    }
}

/// Rows, prompts, bytes of text.
///
/// # Errors
/// The system's, or a line that is no row of a known kind.
pub fn read(mut lines: Lines<BufReader<File>>) -> io::Result<(u64, u64, u64)> {
    let (mut rows, mut prompts, mut texts) = (0, 0, 0);
    while let Some(line) = lines.next()? {
        let row: Row = std::hint::black_box(serde_json::from_slice(line.bytes)?);
        rows += 1;
        let Some(Message { content: Some(content), .. }) = row.message else { continue };
        let mut result = false;
        match content {
            Content::Text(text) => texts += text.len() as u64,
            Content::Blocks(blocks) => {
                for block in &blocks {
                    result |= block.kind.as_ref().is_some_and(|k| k.0 == "tool_result");
                    texts += block.text.as_ref().map_or(0, |t| t.0.len() as u64);
                }
            }
        }
        prompts += u64::from(row.kind.is_some_and(|k| k.0 == "user") && !result && !row.is_meta);
    }
    Ok((rows, prompts, texts))
}
