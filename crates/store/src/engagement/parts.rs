//! Splits Markdown into the parts that `engagement.md` is read from.

use pulldown_cmark::{Event, MetadataBlockKind, Options, Parser, Tag, TagEnd};

/// A part of the file.
pub struct Part {
    /// Its first line, from 1.
    pub line: usize,
    pub kind: PartKind,
    /// Its text; tabs separate table cells.
    pub text: String,
}

#[derive(PartialEq)]
pub enum PartKind {
    /// The YAML front matter.
    Front,
    Heading,
    /// A table row or a list item.
    Entry,
    /// Other text.
    Paragraph,
}

/// The parts of the file in order, without code blocks.
pub fn parse(text: &str) -> Vec<Part> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut parts: Vec<Part> = Vec::new();
    let mut code = false;
    for (event, at) in Parser::new_ext(text, options).into_offset_iter() {
        // A paragraph in an item belongs to the item.
        let in_item = parts.last().is_some_and(|p| p.kind == PartKind::Entry && p.text.is_empty());
        let mut begin = |kind| {
            let line = text[..at.start].matches('\n').count() + 1;
            parts.push(Part { line, kind, text: String::new() });
        };
        match event {
            Event::Start(Tag::MetadataBlock(MetadataBlockKind::YamlStyle)) => {
                begin(PartKind::Front);
            }
            Event::Start(Tag::Heading { .. }) => begin(PartKind::Heading),
            Event::Start(Tag::TableRow | Tag::TableHead | Tag::Item) => begin(PartKind::Entry),
            Event::Start(Tag::Paragraph) if !in_item => begin(PartKind::Paragraph),
            Event::Start(Tag::CodeBlock(_)) => code = true,
            Event::End(TagEnd::CodeBlock) => code = false,
            Event::Text(words) | Event::Code(words) if !code => {
                if let Some(part) = parts.last_mut() {
                    part.text.push_str(&words);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(part) = parts.last_mut() {
                    part.text.push('\n');
                }
            }
            Event::End(TagEnd::TableCell) => {
                if let Some(part) = parts.last_mut() {
                    part.text.push('\t');
                }
            }
            _ => {}
        }
    }
    parts
}
