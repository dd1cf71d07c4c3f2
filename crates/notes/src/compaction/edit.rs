//! Edits a file and leaves every other byte unchanged.

use super::flags;
use super::insert::{self, Insertion};
use super::item::{self, Marker};
use super::{Block, BlockKind, Document, Entry, Shape, blocks, notes, parse, says_nothing};

/// Why an edit was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The shape has no such section.
    #[error("there is no section {name:?}; use one of: {known}")]
    UnknownSection {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// The entry is empty.
    #[error("the entry is empty; write what it should say, or `none: <reason>`")]
    EmptyEntry,
    /// No entry has this id.
    #[error("no entry {id:?}{near}")]
    UnknownId {
        /// The requested id.
        id: String,
        /// The entries with the nearest ids, ready to print.
        near: String,
    },
    /// Several entries have the id.
    #[error("{id:?} matches several entries: {entries}; give all six digits")]
    Ambiguous {
        /// The requested id.
        id: String,
        /// The entries, ready to print.
        entries: String,
    },
    /// Marking an entry would change the meaning of the lines next to it.
    #[error(
        "line {line} runs into the lines next to it: put a blank line before and after the entry and try again"
    )]
    Joined {
        /// The line, counted from 1.
        line: usize,
    },
    /// An open fence, comment or tag in the file would contain the new text.
    #[error(
        "line {line} opens a fence, comment or tag that is never closed: close it and try again"
    )]
    Open {
        /// The line, counted from 1.
        line: usize,
    },
}

/// Adds one or several entries ([`notes()`]) at the end of a section. Creates a missing section in
/// its place. Every existing byte stays.
pub fn append(text: &str, shape: &Shape, section: &str, entry: &str) -> Result<String, EditError> {
    add(text, shape, find(shape, section)?, &notes(entry))
}

/// Adds entries, as [`notes()`] makes them, at the end of a section given by index.
pub fn add(
    text: &str,
    shape: &Shape,
    section: usize,
    entries: &[(Marker, String)],
) -> Result<String, EditError> {
    put(text, shape, section, entries, insert::ways)
}

/// Like [`add()`], but at the top of the section.
pub fn add_first(
    text: &str,
    shape: &Shape,
    section: usize,
    entries: &[(Marker, String)],
) -> Result<String, EditError> {
    put(text, shape, section, entries, insert::ways_first)
}

/// Returns the ways to put entries into a section, the simplest first.
type Ways = fn(&Document, usize, &[(&Marker, &str)]) -> Vec<Insertion>;

/// Adds entries in the first way that changes nothing else.
fn put(
    text: &str,
    shape: &Shape,
    section: usize,
    entries: &[(Marker, String)],
    ways: Ways,
) -> Result<String, EditError> {
    if entries.is_empty() {
        return Err(EditError::EmptyEntry);
    }
    let new: Vec<_> = entries.iter().map(|(marker, text)| (marker, text.as_str())).collect();
    let document = parse(text, shape);
    let ways = ways(&document, section, &new);
    let sound = |new_text: &String| insert::adds_only(&document, new_text, section, &new);
    ways.iter().map(|way| way.apply(text)).find(sound).ok_or_else(|| open(&document, &ways))
}

/// Closes an entry. The id may be shortened to three digits if it is unambiguous. Entries with the
/// same text are closed together. A closed entry stays unchanged.
pub fn close(text: &str, shape: &Shape, id: &str) -> Result<String, EditError> {
    let document = parse(text, shape);
    let wanted = id.trim().trim_start_matches('#').to_ascii_lowercase();
    let long = wanted.len() >= 3;
    let found: Vec<_> =
        document.entries().filter(|e| long && e.id.to_string().starts_with(&wanted)).collect();
    let Some(first) = found.first() else {
        return Err(EditError::UnknownId { id: id.to_owned(), near: near(&document, &wanted) });
    };
    if found.iter().any(|entry| entry.id != first.id) {
        let entries: Vec<_> = found.iter().map(|entry| named(entry)).collect();
        return Err(EditError::Ambiguous { id: id.to_owned(), entries: entries.join(", ") });
    }
    let mut out = text.to_owned();
    for entry in found.iter().rev().filter(|entry| !entry.closed) {
        let before = parse(&out, shape);
        let ways = closings(&out, entry);
        let closed = ways.into_iter().find(|new| closes_only(&before, new, entry));
        out = closed.ok_or_else(|| stuck(&document, entry))?;
    }
    Ok(out)
}

/// Why no way to close the entry works. Below an open comment, any comment end would close that
/// comment.
fn stuck(document: &Document, entry: &Entry) -> EditError {
    let source = document.source();
    let open = blocks::open_comments(source, document.shape());
    match open.into_iter().rfind(|at| *at < entry.range.start) {
        Some(open) => EditError::Open { line: line_of(source, open) },
        None => EditError::Joined { line: line_of(source, entry.range.start) },
    }
}

/// The ways to write an entry as closed, the simplest first.
fn closings(text: &str, entry: &Entry) -> Vec<String> {
    let newline = insert::newline(text);
    let (start, end) = (entry.range.start, entry.range.end);
    let raw = &text[entry.range.clone()];
    let blank = raw.len() - raw.trim_start_matches([' ', '\t']).len();
    let put = |at: usize, new: &str| [&text[..at], new, &text[at..]].concat();
    let own_item = |body: &str, after: &str| {
        let mut item = String::new();
        item::write_padded(&Marker::Bullet, body, 4, &mut item);
        [
            &text[..start],
            newline,
            &item.replace('\n', newline),
            newline,
            after,
            newline,
            &text[end..],
        ]
        .concat()
    };
    let (closed, fenced) =
        (format!("[x]\n{}", entry.text), format!("[x]\n{}", item::fenced(&entry.text)));
    let mut ways = Vec::new();
    if entry.marker == Marker::Block {
        let closed_block = [&text[..start + blank], "closed: ", &text[start + blank..end]].concat();
        ways.push([&closed_block, &text[end..]].concat());
        ways.push([&closed_block, newline, &text[end..]].concat());
        // A word in front of a fence or similar markup would turn it into a paragraph.
        ways.insert(if is_markup(&entry.text) { 0 } else { 2 }, own_item(&closed, ""));
    } else {
        let digits = raw[blank..].bytes().take_while(u8::is_ascii_digit).count();
        let marker = start + blank + digits + 1;
        let gap = text[marker..end].len() - text[marker..end].trim_start_matches([' ', '\t']).len();
        let body = &text[marker + gap..end];
        if body.starts_with("[ ]") {
            ways.push([&text[..marker + gap], "[x]", &text[marker + gap + 3..]].concat());
        }
        if body.starts_with(['\n', '\r']) {
            ways.push(put(marker, " [x]"));
        } else if is_markup(body) && gap > 0 {
            let pad = " ".repeat(blank + digits + 1 + gap);
            ways.push(put(marker + gap, &format!("[x]{newline}{pad}")));
        }
        ways.push(put(marker + gap, if gap == 0 { " [x] " } else { "[x] " }));
        ways.push(own_item(&closed, ""));
    }
    // A comment ends the list, so that its last item does not contain an indented block. A rule
    // does the same where the comment's end would close an open comment above.
    let ends = insert::LIST_END;
    ways.extend([own_item(&closed, ends), own_item(&fenced, ""), own_item(&fenced, ends)]);
    ways.push(own_item(&fenced, "***"));
    ways
}

/// Whether a text starts with markup that only works at the start of a line.
fn is_markup(text: &str) -> bool {
    ["```", "~~~", ">", "|", "<", "#", "    "].iter().any(|start| text.starts_with(start))
}

/// Whether `new` differs from the document only in this entry being closed.
fn closes_only(document: &Document, new: &str, closed: &Entry) -> bool {
    let new = parse(new, document.shape());
    let same = |(a, b): (&&Entry, &&Entry)| {
        let touched = a.range == closed.range;
        let flags = a.pinned == b.pinned && b.closed == (a.closed || touched);
        flags
            && a.section == b.section
            && a.under == b.under
            && (a.text == b.text || touched && bare_text(a) == bare_text(b))
    };
    let (before, after) = (meaningful_entries(document), meaningful_entries(&new));
    before.len() == after.len() && before.iter().zip(&after).all(same)
}

/// The entries with more than punctuation.
fn meaningful_entries<'a>(document: &'a Document) -> Vec<&'a Entry> {
    document.entries().filter(|entry| !says_nothing(&entry.text)).collect()
}

/// The words of an entry, without flags, white space and backticks around it.
fn bare_text(entry: &Entry) -> String {
    let bare = flags::flags(&entry.text).bare;
    bare.split_whitespace().collect::<String>().trim_matches('`').to_owned()
}

/// Replaces the text of a section below its heading and prompt. The guard itself writes `body`.
/// Creates a missing section.
pub fn replace_section_body(
    text: &str,
    shape: &Shape,
    section: &str,
    body: &str,
) -> Result<String, EditError> {
    let section = find(shape, section)?;
    let document = parse(text, shape);
    let newline = insert::newline(text);
    let body = body.trim_matches(['\n', '\r']).replace("\r\n", "\n").replace('\n', newline);
    let Some(opening) = insert::opening(&document, section) else {
        let ways = insert::created(&document, section, &body);
        let kept = |new: &String| keeps_others(&document, new, section);
        return ways
            .iter()
            .map(|way| way.apply(text))
            .find(kept)
            .ok_or_else(|| open(&document, &ways));
    };
    let blocks = document.blocks();
    let prompt = blocks.get(opening + 1).filter(|block| block.kind == BlockKind::Comment);
    let start = insert::line_end(text, prompt.unwrap_or(&blocks[opening]));
    let outside = |kind: &BlockKind, own: bool| *kind == BlockKind::Section || !own;
    let next = blocks[opening + 1..]
        .iter()
        .find(|block| outside(&block.kind, block.section == Some(section)));
    let end = next.map_or(text.len(), |block| block.range.start);
    let gap = if body.is_empty() { "" } else { newline };
    let tail = if next.is_some() { newline } else { "" };
    // A comment ends the list, so that its last item does not contain an indented heading.
    let fence = [insert::LIST_END, newline].concat();
    let ways = ["", &fence].map(|fence| Insertion {
        at: start,
        text: [newline, gap, &body, gap, fence, tail].concat(),
    });
    let new = ways.iter().map(|way| [&text[..start], &way.text, &text[end..]].concat());
    new.into_iter()
        .find(|new| keeps_others(&document, new, section))
        .ok_or_else(|| open(&document, &ways))
}

/// Whether `new` has the document's headings, and the same entries outside of one section.
fn keeps_others(document: &Document, new: &str, section: usize) -> bool {
    let new = parse(new, document.shape());
    let others = |document: &Document| -> Vec<_> {
        let other = document.entries().filter(|entry| entry.section != Some(section));
        other.map(|entry| (entry.section, entry.text.clone())).collect()
    };
    let headings = |document: &Document| -> Vec<_> {
        let own = |block: &&Block| {
            !matches!(block.kind, BlockKind::Comment | BlockKind::Entry(_) | BlockKind::Gap)
        };
        let other =
            document.blocks().iter().filter(own).filter(|block| block.section != Some(section));
        other.map(|block| (block.section, block.kind.clone())).collect()
    };
    others(document) == others(&new) && headings(document) == headings(&new)
}

fn find(shape: &Shape, name: &str) -> Result<usize, EditError> {
    shape.find(name).ok_or_else(|| {
        let known: Vec<_> = shape.sections.iter().map(|section| section.name.as_str()).collect();
        EditError::UnknownSection { name: name.to_owned(), known: known.join(", ") }
    })
}

fn open(document: &Document, ways: &[Insertion]) -> EditError {
    let at = ways.first().map_or(0, |way| way.at);
    let before = document.entries().filter(|entry| entry.range.start < at).last();
    EditError::Open {
        line: line_of(document.source(), before.map_or(0, |entry| entry.range.start)),
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn near(document: &Document, wanted: &str) -> String {
    let distance = |entry: &&Entry| {
        let id = entry.id.to_string();
        id.bytes().zip(wanted.bytes().chain(std::iter::repeat(0))).filter(|(a, b)| a != b).count()
    };
    let mut entries: Vec<_> = document.entries().filter(|entry| !entry.closed).collect();
    entries.sort_by_key(distance);
    let entries: Vec<_> = entries.iter().take(3).map(|entry| named(entry)).collect();
    if entries.is_empty() {
        "; no entry is open".to_owned()
    } else {
        format!("; the nearest are: {}", entries.join(", "))
    }
}

fn named(entry: &Entry) -> String {
    format!("{} ({})", entry.id, item::head(flags::flags(&entry.text).bare, 40))
}
