//! Parses the notes of a phase's exit: Markdown under section headings, or notes by kind.

use super::kinds;
use crate::compaction::{
    BlockKind, Document, Entry, EntryId, Marker, NEXT, Role, Shape, flags, item, note, notes,
    parse, says_nothing,
};

/// One entry and its section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Index in the shape.
    pub section: usize,
    /// How it is marked.
    pub marker: Marker,
    /// Its text, with flags and kind.
    pub text: String,
    /// Whether it goes to the top of its section, as a next step does.
    pub first: bool,
}

impl Note {
    /// Its id in the file.
    pub fn id(&self) -> EntryId {
        EntryId::from_text(flags::flags(&self.text).bare)
    }
}

/// Why the text is rejected. Nothing of it is written then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SliceError {
    /// Text that belongs to no section.
    #[error("line {line} is not under a section heading ({head:?}); put it under one of: {known}")]
    Outside {
        /// Where, counted from 1.
        line: usize,
        /// Its first words.
        head: String,
        /// The existing sections.
        known: String,
    },
    /// A heading with text below it that names no section.
    #[error("line {line}: no section is called {heading:?}; there are: {known}")]
    Heading {
        /// Where, counted from 1.
        line: usize,
        /// The heading.
        heading: String,
        /// The existing sections.
        known: String,
    },
    /// An entry in the section for commits.
    #[error("line {line}: {section} is written by brain-guard alone; leave it out")]
    Git {
        /// Where, counted from 1.
        line: usize,
        /// Its name.
        section: String,
    },
    /// An unknown kind.
    #[error("unknown kind {kind:?}; kinds: {known}")]
    Kind {
        /// The given kind.
        kind: String,
        /// The known kinds.
        known: String,
    },
}

/// Parses a text of one kind.
///
/// # Errors
/// The kind is unknown or leads to the section for commits.
pub fn of_kind(
    shape: &Shape,
    kind: &str,
    about: Option<&str>,
    text: &str,
) -> Result<Vec<Note>, SliceError> {
    let writable = |index: &usize| shape.role(*index) != Role::Git;
    let Some(section) = shape.route(kind).filter(writable) else {
        let kinds: Vec<&str> = shape.all_kinds().collect();
        return Err(SliceError::Kind { kind: kind.to_owned(), known: kinds.join(", ") });
    };
    let first = kind.trim().eq_ignore_ascii_case(NEXT);
    let entries = notes(text).into_iter().map(|(marker, text)| {
        let (marker, text) = note(&marker, &kinds::with_kind(kind, about, &text));
        Note { section, marker, text, first }
    });
    Ok(entries.collect())
}

/// The first section heading in a text: its line, counted from 1, and its text.
pub fn first_heading(text: &str, shape: &Shape) -> Option<(usize, String)> {
    let document = parse(text, shape);
    let block = document.blocks().iter().find(|block| block.kind == BlockKind::Section)?;
    let heading = text[block.range.clone()].lines().next().unwrap_or_default();
    Some((line_of(text, block.range.start), heading.trim().to_owned()))
}

/// Parses Markdown under section headings: names, aliases and roles, at any level. Another heading
/// inside a section becomes one entry with the text below it, as in a seal. Comments, empty items
/// and the title are ignored.
///
/// # Errors
/// Text under no section or under the section for commits, with its line.
pub fn read(text: &str, shape: &Shape) -> Result<Vec<Note>, SliceError> {
    let shape = &with_roles(shape);
    let document = parse(text, shape);
    let entries: Vec<&Entry> = document.entries().collect();
    let mut reader = Reader { document: &document, notes: Vec::new(), group: None };
    for block in document.blocks() {
        let line = || line_of(text, block.range.start);
        match &block.kind {
            BlockKind::Gap | BlockKind::Comment | BlockKind::Title => {}
            BlockKind::Front => return Err(reader.outside(1, "front matter")),
            BlockKind::Section => reader.close(),
            BlockKind::Heading { title } => {
                reader.close();
                let Some(section) = block.section else {
                    let (heading, known) = (title.clone(), known(shape));
                    return Err(SliceError::Heading { line: line(), heading, known });
                };
                reader.writable(section, line())?;
                reader.group = Some((section, title.clone(), false));
            }
            BlockKind::Entry(index) => {
                let entry = entries[*index];
                if says_nothing(&entry.text) || unfilled(&entry.text) {
                    continue;
                }
                let Some(section) = entry.section else {
                    return Err(reader.outside(line(), &entry.text));
                };
                reader.writable(section, line())?;
                reader.take(entry, section);
            }
        }
    }
    reader.close();
    Ok(reader.notes)
}

struct Reader<'a> {
    document: &'a Document<'a>,
    notes: Vec<Note>,
    /// Section, heading with its entries, and whether one of them became a separate note.
    group: Option<(usize, String, bool)>,
}

impl Reader<'_> {
    fn outside(&self, line: usize, text: &str) -> SliceError {
        SliceError::Outside {
            line,
            head: item::head(text, 40),
            known: known(self.document.shape()),
        }
    }

    fn writable(&self, section: usize, line: usize) -> Result<(), SliceError> {
        let shape = self.document.shape();
        if shape.role(section) != Role::Git {
            return Ok(());
        }
        Err(SliceError::Git { line, section: shape.name(Some(section)).to_owned() })
    }

    fn take(&mut self, entry: &Entry, section: usize) {
        let own = entry.pinned || entry.closed || entry.none || entry.kind.is_some();
        match &mut self.group {
            Some((_, text, _)) if !own => {
                text.push('\n');
                item::write(&entry.marker, &entry.text, text);
            }
            group => {
                if let Some((_, _, parted)) = group {
                    *parted = true;
                }
                let (marker, text) = note(&entry.marker, &entry.text);
                self.notes.push(Note { section, marker, text, first: false });
            }
        }
    }

    fn close(&mut self) {
        let Some((section, text, parted)) = self.group.take() else { return };
        // A heading is dropped if all its entries became separate notes.
        if !parted || text.contains('\n') {
            let (marker, text) = note(&Marker::Bullet, &text);
            self.notes.push(Note { section, marker, text, first: false });
        }
    }
}

/// A kind or `none:` without text, as in an empty form.
fn unfilled(text: &str) -> bool {
    let bare = flags::flags(text).bare;
    let form = |word: &str| [kinds::STEERING, kinds::DIRECTIVE, "none"].contains(&word);
    flags::lead(bare).is_some_and(|(word, rest)| form(&word) && says_nothing(rest))
}

/// Adds the roles as heading aliases.
fn with_roles(shape: &Shape) -> Shape {
    let mut wider = shape.clone();
    for index in 0..shape.sections.len() {
        let role = shape.role(index);
        let word = role.as_str();
        let first = shape.with_role(role) == Some(index) && role != Role::Custom;
        if first && wider.find_heading(word).is_none() {
            wider.sections[index].aliases.push(word.to_owned());
        }
    }
    wider
}

fn known(shape: &Shape) -> String {
    let names = shape.sections.iter().filter(|section| section.role != Role::Git);
    names.map(|section| section.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests;
