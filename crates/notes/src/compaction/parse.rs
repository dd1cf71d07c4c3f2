//! Parses a text into a [`Document`]. Never fails, never loses a byte.

use super::blocks::{self, RawBlock, RawKind};
use super::flags;
use super::item::{self, Marker};
use super::shape::heading_key;
use super::words::count_words;
use super::{Block, BlockKind, Document, Entry, EntryId, FrontMatter, Shape};

/// Parses a file. Recognizes sections as a person does: at any heading level, in any case, with or
/// without closing `#`s, colon or number.
pub fn parse<'a>(text: &'a str, shape: &'a Shape) -> Document<'a> {
    let (front, front_end) = FrontMatter::read(text);
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let start = front_end.max(mark);
    let document = Document {
        source: text,
        shape,
        front,
        title: None,
        blocks: Vec::new(),
        entries: Vec::new(),
    };
    let mut reader = Reader { document, section: None, level: 0, under: None, begun: false };
    let found = blocks::blocks(text, start, shape);
    if front_end > 0 {
        reader.push(0, BlockKind::Front);
    }
    let first = found.first().map_or(text.len(), |block| block.range.start);
    if first > front_end {
        reader.push(front_end, BlockKind::Gap);
    }
    for block in found {
        reader.take(&block);
    }
    let Reader { mut document, .. } = reader;
    let mut end = text.len();
    for block in document.blocks.iter_mut().rev() {
        block.range.end = end;
        end = block.range.start;
    }
    document
}

struct Reader<'a> {
    document: Document<'a>,
    section: Option<usize>,
    level: u8,
    under: Option<String>,
    begun: bool,
}

impl Reader<'_> {
    fn push(&mut self, start: usize, kind: BlockKind) {
        self.document.blocks.push(Block { range: start..start, section: self.section, kind });
    }

    fn take(&mut self, block: &RawBlock) {
        let start = block.range.start;
        let raw = &self.document.source[block.range.clone()];
        match &block.kind {
            RawKind::Heading { level, setext, title } => {
                self.heading(block, *level, *setext, title);
            }
            RawKind::Rule => self.push(start, BlockKind::Gap),
            // White space that Markdown does not treat as such.
            _ if raw.trim().is_empty() => self.push(start, BlockKind::Gap),
            RawKind::Comment => self.push(start, BlockKind::Comment),
            RawKind::Item => {
                let (marker, text) = item::parse_item(raw);
                self.entry(block, marker, text);
            }
            RawKind::Paragraph | RawKind::Definition | RawKind::Other => {
                let known = blocks::heading_without_space(raw)
                    .filter(|(_, title)| self.document.shape.find_heading(title).is_some());
                if let Some((level, title)) = known {
                    self.heading(block, level, false, title);
                } else {
                    self.entry(block, Marker::Block, item::block_text(raw));
                }
            }
        }
        self.begun = true;
    }

    fn heading(&mut self, block: &RawBlock, level: u8, setext: bool, title: &str) {
        let start = block.range.start;
        let known = self.document.shape.find_heading(title);
        let is_job = self
            .document
            .front
            .job
            .as_deref()
            .is_some_and(|job| heading_key(job) == heading_key(title));
        let untitled =
            self.document.title.is_none() && self.section.is_none() && self.under.is_none();
        if level == 1
            && untitled
            && (known.is_none() || is_job && !self.begun)
            && !says_nothing(title)
        {
            self.document.title =
                Some(heading_text(&self.document.source[block.range.clone()], setext));
            self.push(start, BlockKind::Title);
        } else if let Some(section) = known {
            self.section = Some(section);
            self.level = level;
            self.under = None;
            self.push(start, BlockKind::Section);
        } else if setext && level == 2 {
            // This is usually a rule below a paragraph, and rarely a heading.
            let text = item::block_text(&self.document.source[block.range.clone()]);
            let text = text.rsplit_once('\n').map_or(text.as_str(), |(text, _)| text.trim_end());
            self.entry(block, Marker::Block, text.to_owned());
        } else if says_nothing(&self.document.source[block.range.clone()]) {
            self.push(start, BlockKind::Gap);
        } else {
            if level <= self.level {
                self.section = None;
                self.level = 0;
            }
            let title = heading_text(&self.document.source[block.range.clone()], setext);
            self.under = Some(title.clone());
            self.push(start, BlockKind::Heading { title });
        }
    }

    fn entry(&mut self, block: &RawBlock, marker: Marker, text: String) {
        let flags = flags::flags(&text);
        let kind = flags.word.filter(|word| self.document.shape.routes.contains_key(word));
        let (pinned, closed, none) = (flags.pinned, flags.closed, flags.none);
        let id = EntryId::from_text(flags.bare);
        let words = count_words(flags.bare);
        let raw = &self.document.source[block.range.clone()];
        let range = block.range.start..block.range.start + raw.trim_end().len();
        let (section, under) = (self.section, self.under.clone());
        self.push(block.range.start, BlockKind::Entry(self.document.entries.len()));
        let entry =
            Entry { range, section, under, text, marker, pinned, closed, none, kind, id, words };
        self.document.entries.push(entry);
    }
}

/// Whether a text contains only ASCII punctuation and white space.
pub fn says_nothing(text: &str) -> bool {
    text.chars().all(|letter| {
        letter.is_whitespace() || letter.is_ascii() && !letter.is_ascii_alphanumeric()
    })
}

/// The words of a heading with their inline markup.
fn heading_text(raw: &str, setext: bool) -> String {
    let raw = raw.trim();
    let text = if setext {
        raw.rsplit_once(['\n', '\r']).map_or(raw, |(text, _)| text).trim()
    } else {
        let text = raw.trim_start_matches('#').trim();
        let open = text.trim_end_matches('#');
        if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { text }
    };
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}
