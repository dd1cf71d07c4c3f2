//! What a phase's exit hands in: Markdown under the sections' headings, or notes by kind.

use super::kinds;
use crate::compaction::{
    BlockKind, Document, Entry, EntryId, Marker, NEXT, Role, Shape, flags, item, note, notes,
    parse, says_nothing,
};

/// One entry, and the section it goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Index in the shape.
    pub section: usize,
    /// How it is marked.
    pub marker: Marker,
    /// What it says, flags and kind in front.
    pub text: String,
    /// Goes to the top of its section: a next step.
    pub first: bool,
}

impl Note {
    /// What it will be called in the file.
    pub fn id(&self) -> EntryId {
        EntryId::of(flags::flags(&self.text).bare)
    }
}

/// Why a slice can't be taken as it is. Nothing of it is written then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SliceError {
    /// Text that belongs to no section.
    #[error(
        "line {line} stands under no section's heading ({head:?}); put it under one of: {known}"
    )]
    Outside {
        /// Where, counted from 1.
        line: usize,
        /// Its first words.
        head: String,
        /// The sections there are.
        known: String,
    },
    /// A heading that names no section, with text below it.
    #[error("line {line}: no section is called {heading:?}; there are: {known}")]
    Heading {
        /// Where, counted from 1.
        line: usize,
        /// What it says.
        heading: String,
        /// The sections there are.
        known: String,
    },
    /// The commits' section.
    #[error("line {line}: {section} is written by brain-guard alone; leave it out")]
    Git {
        /// Where, counted from 1.
        line: usize,
        /// Its name.
        section: String,
    },
    /// No route for a kind.
    #[error("unknown kind {kind:?}; kinds: {known}")]
    Kind {
        /// What was asked for.
        kind: String,
        /// The kinds there are.
        known: String,
    },
}

/// The notes a text of one kind makes.
///
/// # Errors
/// The kind leads nowhere, or to the commits.
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
        let (marker, text) = note(&marker, &kinds::marked(kind, about, &text));
        Note { section, marker, text, first }
    });
    Ok(entries.collect())
}

/// The line of the first heading of a section in a text, counted from 1, and what it says.
pub fn first_heading(text: &str, shape: &Shape) -> Option<(usize, String)> {
    let document = parse(text, shape);
    let block = document.blocks().iter().find(|block| block.kind == BlockKind::Section)?;
    let heading = text[block.range.clone()].lines().next().unwrap_or_default();
    Some((line_of(text, block.range.start), heading.trim().to_owned()))
}

/// Reads Markdown under section headings: names, aliases and roles, at any level. A heading
/// of another name inside a section makes one entry with what stands below it, as the seal
/// would. Comments, empty items and the text's title say nothing.
///
/// # Errors
/// What stands under no section, or under that of the commits, by its line.
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
    /// Section, heading and entries below it, and whether one of them went its own way.
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
        // A heading whose entries all went their own way says nothing more.
        if !parted || text.contains('\n') {
            let (marker, text) = note(&Marker::Bullet, &text);
            self.notes.push(Note { section, marker, text, first: false });
        }
    }
}

/// A kind or `none:` with nothing behind it, as a form has it.
fn unfilled(text: &str) -> bool {
    let bare = flags::flags(text).bare;
    let form = |word: &str| [kinds::STEERING, kinds::DIRECTIVE, "none"].contains(&word);
    flags::lead(bare).is_some_and(|(word, rest)| form(&word) && says_nothing(rest))
}

/// The shape with its roles as headings.
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
