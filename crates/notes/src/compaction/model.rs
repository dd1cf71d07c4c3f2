//! The parts of a compaction file after reading.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::render::one_line;
use super::{FrontMatter, Marker, Shape};

/// A parsed file: blocks that cover the whole source, and the entries among them.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    pub(super) source: &'a str,
    pub(super) shape: &'a Shape,
    pub(super) front: FrontMatter,
    pub(super) title: Option<String>,
    pub(super) blocks: Vec<Block>,
    pub(super) entries: Vec<Entry>,
}

/// One block of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its position, including the blank lines after it.
    pub range: Range<usize>,
    /// The section that contains it; for a heading, the section it opens.
    pub section: Option<usize>,
    /// What it is.
    pub kind: BlockKind,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// The front matter with its fences.
    Front,
    /// The file's title.
    Title,
    /// The heading of a known section.
    Section,
    /// A heading that names no section. Inside a section it groups the entries below it.
    Heading {
        /// Its text.
        title: String,
    },
    /// An HTML comment.
    Comment,
    /// An entry, by its index in [`Document::entries`].
    Entry(usize),
    /// Blank lines, thematic breaks, headings without words.
    Gap,
}

impl<'a> Document<'a> {
    /// The text it was read from.
    pub fn source(&self) -> &'a str {
        self.source
    }

    /// The shape it was read with.
    pub fn shape(&self) -> &'a Shape {
        self.shape
    }

    /// The front matter; all fields `None` where the file has none.
    pub fn front(&self) -> &FrontMatter {
        &self.front
    }

    /// The text of the title.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The blocks of the source, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// All entries in file order, including stray ones.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The entries of one section, even if the file has its heading several times.
    pub fn section(&self, index: usize) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.section == Some(index))
    }

    /// The names of the sections that an agent writes and that have no entry.
    pub fn empty_authored(&self) -> Vec<String> {
        let shape = self.shape();
        let empty = shape.authored().filter(|index| self.section(*index).next().is_none());
        empty.map(|index| shape.name(Some(index)).to_owned()).collect()
    }

    /// The entries outside of all sections.
    pub fn stray(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.section.is_none())
    }

    /// Whether the file has a heading for this section.
    pub fn has_section(&self, index: usize) -> bool {
        self.blocks
            .iter()
            .any(|block| block.kind == BlockKind::Section && block.section == Some(index))
    }
}

/// A list item with its nested content, or a paragraph or other block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its position in the source, without the final line break.
    pub range: Range<usize>,
    /// Its section; `None` for stray text.
    pub section: Option<usize>,
    /// The unknown heading above it.
    pub under: Option<String>,
    /// Its text without list marker and indentation, with flags, and with `\n` as line break.
    pub text: String,
    /// How it was marked.
    pub marker: Marker,
    /// Starts with `!`: the seal always keeps it.
    pub pinned: bool,
    /// `[x]`, `~~…~~` or `closed:`.
    pub closed: bool,
    /// `none: <reason>`, the answer for a section without content.
    pub none: bool,
    /// The kind at its start (`risk: …`), if the shape routes it.
    pub kind: Option<String>,
    /// Its id, which ignores marker, spacing, pin and closing.
    pub id: EntryId,
    /// Its number of words.
    pub words: usize,
}

/// The short name of an entry: 6 hex digits of a hash of its text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId([u8; 3]);

/// A text that is no entry id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an entry id; an id has 6 hex digits")]
pub struct EntryIdError(String);

impl EntryId {
    /// Computes the id of a text without flags.
    pub(crate) fn from_text(bare: &str) -> Self {
        let hash = Sha256::digest(one_line(bare).as_bytes());
        Self([hash[0], hash[1], hash[2]])
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [a, b, c] = self.0;
        write!(f, "{a:02x}{b:02x}{c:02x}")
    }
}

impl fmt::Debug for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for EntryId {
    type Err = EntryIdError;

    fn from_str(text: &str) -> Result<Self, EntryIdError> {
        let wrong = || EntryIdError(text.to_owned());
        if text.len() != 6 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let number = u32::from_str_radix(text, 16).map_err(|_| wrong())?;
        let [_, a, b, c] = number.to_be_bytes();
        Ok(Self([a, b, c]))
    }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EntryId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_and_written() {
        let id = EntryId::from_text("a  text\nof two lines");
        assert_eq!(id, EntryId::from_text(" a text of two lines "));
        assert_ne!(id, EntryId::from_text("a text of two Lines"));
        assert_eq!(id.to_string().parse(), Ok(id));
        let json = serde_json::to_string(&id).expect("json");
        assert_eq!(serde_json::from_str::<EntryId>(&json).expect("json"), id);
        for wrong in ["", "12345", "1234567", "+12345", "gggggg"] {
            assert_eq!(wrong.parse::<EntryId>(), Err(EntryIdError(wrong.to_owned())));
        }
    }
}
