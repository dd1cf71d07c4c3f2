//! The compaction file: its structure, and how it is read, measured and edited.
//!
//! An agent writes the Markdown by hand, so reading never fails and never loses a byte. [`parse()`]
//! splits the source into blocks, and [`render()`] joins them again. This module uses no files,
//! clock or environment.

mod blocks;
mod defaults;
mod edit;
pub(crate) mod flags;
mod front;
mod insert;
pub(crate) mod item;
mod measure;
mod model;
mod note;
mod parse;
mod reader;
mod rename;
mod render;
mod shape;
mod stamp;
mod template;
mod words;

pub use edit::{EditError, add, add_first, append, close, replace_section_body};
pub use flags::{Flags, flags};
pub use front::FrontMatter;
pub use item::{Marker, written};
pub use measure::{Measure, SectionWords, gauge_words, measure};
pub use model::{Block, BlockKind, Document, Entry, EntryId, EntryIdError};
pub(crate) use note::note;
pub use note::notes;
pub use parse::parse;
pub use parse::says_nothing;
pub use reader::for_reader;
pub use rename::rename;
pub use render::render;
pub(crate) use render::{CanonicalSection, canonical, prompt, reads_back, sound};
pub use shape::{NEXT, Role, Section, Shape, ShapeError};
pub use stamp::{Stamp, StampState, digest};
pub use template::{DEFAULT_TEMPLATE, template};
pub use words::count_words;

#[cfg(test)]
mod tests;
