//! Finds places for new text where it does not change the meaning of existing text.

use super::item::Marker;
use super::render::{heading, items};
use super::{Block, BlockKind, Document, Entry, blocks, parse};

/// Ends a list without visible text.
pub(super) const LIST_END: &str = "<!-- -->";

/// A text and the position to insert it.
#[derive(Clone)]
pub(super) struct Insertion {
    pub at: usize,
    pub text: String,
}

impl Insertion {
    pub(super) fn apply(&self, source: &str) -> String {
        [&source[..self.at], &self.text, &source[self.at..]].concat()
    }
}

/// The file's line break.
pub(super) fn newline(source: &str) -> &'static str {
    let crlf = source.find('\n').is_some_and(|at| source[..at].ends_with('\r'));
    if crlf { "\r\n" } else { "\n" }
}

/// The ways to put items at the end of a section, the simplest first.
pub(super) fn ways(document: &Document, section: usize, new: &[(&Marker, &str)]) -> Vec<Insertion> {
    listed(document, section, new, |list, tight| {
        opening(document, section).map(|opening| appended(document, opening, list, tight))
    })
}

/// The ways to put items at the top of a section, the simplest first.
pub(super) fn ways_first(
    document: &Document,
    section: usize,
    new: &[(&Marker, &str)],
) -> Vec<Insertion> {
    listed(document, section, new, |list, tight| {
        let opens =
            |block: &Block| block.kind == BlockKind::Section && block.section == Some(section);
        let opening = document.blocks().iter().position(opens)?;
        let appended = appended(document, opening, list, tight);
        let first = document.blocks().get(prompted(document, opening) + 1);
        let empty = first.is_none_or(|block| block.kind == BlockKind::Section);
        let before = if empty { Vec::new() } else { prepended(document, opening, list, tight) };
        Some([before, appended].concat())
    })
}

/// The ways that `into` returns for the items as a list. `into` also gets whether the list begins
/// with a bullet. Without a section, returns the ways to create it.
fn listed(
    document: &Document,
    section: usize,
    new: &[(&Marker, &str)],
    into: impl Fn(&str, bool) -> Option<Vec<Insertion>>,
) -> Vec<Insertion> {
    let newline = newline(document.source());
    let ways = [0, 4].map(|least| {
        let mut list = String::new();
        items(new, least, &mut list);
        let list = list.replace('\n', newline);
        let tight = new.first().is_some_and(|(marker, _)| **marker == Marker::Bullet);
        into(&list, tight).unwrap_or_else(|| created(document, section, &list))
    });
    ways.into_iter().flatten().collect()
}

fn appended(document: &Document, opening: usize, items: &str, tight: bool) -> Vec<Insertion> {
    let source = document.source();
    let newline = newline(source);
    let root: Vec<&Block> = document.blocks()[opening + 1..]
        .iter()
        .take_while(|block| {
            matches!(block.kind, BlockKind::Comment | BlockKind::Entry(_) | BlockKind::Gap)
        })
        .collect();
    let last = root.iter().rev().find(|block| block.kind != BlockKind::Gap);
    let heading = &document.blocks()[opening];
    let end = line_end(source, last.unwrap_or(&heading));
    let entry = last.and_then(|block| entry_of(document, block));
    let tight = tight && entry.is_some_and(|entry| entry.marker == Marker::Bullet);
    let gap = if tight { newline.to_owned() } else { newline.repeat(2) };
    let mut ways =
        vec![Insertion { at: end, text: format!("{gap}{items}{}", line_break_after(source, end)) }];
    if let Some(fence) = entry.and_then(|entry| blocks::closing_fence(&source[entry.range.clone()]))
    {
        let text =
            format!("{newline}{fence}{newline}{newline}{items}{}", line_break_after(source, end));
        ways.push(Insertion { at: end, text });
    }
    ways.extend(below_heading(document, opening, items));
    ways
}

/// The ways to put items right below a heading and its prompt.
fn below_heading(document: &Document, opening: usize, items: &str) -> [Insertion; 2] {
    let source = document.source();
    let newline = newline(source);
    let start = line_end(source, &document.blocks()[prompted(document, opening)]);
    // A blank line keeps the next paragraph out of the item.
    let text = format!("{newline}{newline}{items}{newline}{}", line_break_after(source, start));
    // A comment ends the list, so that the item does not contain an indented block.
    let fenced = format!(
        "{newline}{newline}{items}{newline}{LIST_END}{newline}{}",
        line_break_after(source, start)
    );
    [text, fenced].map(|text| Insertion { at: start, text })
}

/// The index of a section's heading, or of the prompt below it.
fn prompted(document: &Document, opening: usize) -> usize {
    let next = document.blocks().get(opening + 1);
    opening + usize::from(next.is_some_and(|block| block.kind == BlockKind::Comment))
}

/// The ways to put items before the first entry of a section.
fn prepended(document: &Document, opening: usize, items: &str, tight: bool) -> Vec<Insertion> {
    let newline = newline(document.source());
    let first = document.blocks().get(prompted(document, opening) + 1);
    let bullet = first.filter(|block| {
        tight && entry_of(document, block).is_some_and(|entry| entry.marker == Marker::Bullet)
    });
    let joined =
        bullet.map(|block| Insertion { at: block.range.start, text: format!("{items}{newline}") });
    joined.into_iter().chain(below_heading(document, opening, items)).collect()
}

/// The ways to create a missing section in its place.
pub(super) fn created(document: &Document, section: usize, body: &str) -> Vec<Insertion> {
    let source = document.source();
    let newline = newline(source);
    let mut text = String::new();
    heading(&document.shape().sections[section], newline, &mut text);
    text.push_str(newline);
    text.push_str(body);
    text.push_str(newline);
    let later = |block: &&Block| block.kind == BlockKind::Section && block.section > Some(section);
    let at = document.blocks().iter().find(later).map_or(source.len(), |block| block.range.start);
    let before = &source[..at];
    let gap = if before.is_empty() || ends_blank(before) {
        String::new()
    } else if before.ends_with('\n') {
        newline.to_owned()
    } else {
        newline.repeat(2)
    };
    let tail = if at < source.len() { newline } else { "" };
    let mut ways = vec![Insertion { at, text: format!("{gap}{text}{tail}") }];
    let previous = document.entries().filter(|entry| entry.range.end <= at).last();
    if let Some(fence) =
        previous.and_then(|entry| blocks::closing_fence(&source[entry.range.clone()]))
    {
        let first = if before.ends_with('\n') { "" } else { newline };
        ways.insert(
            0,
            Insertion { at, text: format!("{first}{fence}{newline}{newline}{text}{tail}") },
        );
    }
    ways
}

/// The index of the last heading of a section.
pub(super) fn opening(document: &Document, section: usize) -> Option<usize> {
    let opens = |block: &Block| block.kind == BlockKind::Section && block.section == Some(section);
    document.blocks().iter().rposition(opens)
}

/// The end of a block's last line with text, without its line break.
pub(super) fn line_end(source: &str, block: &Block) -> usize {
    let raw = &source[block.range.clone()];
    let text = raw.trim_end().len();
    let rest = &raw[text..];
    block.range.start + text + rest.find(['\n', '\r']).unwrap_or(rest.len())
}

fn entry_of<'a>(document: &'a Document, block: &Block) -> Option<&'a Entry> {
    let BlockKind::Entry(index) = block.kind else { return None };
    document.entries().nth(index)
}

/// The line break needed after text inserted at `at`.
fn line_break_after(source: &str, at: usize) -> &'static str {
    let newline = newline(source);
    let rest = &source[at..];
    if rest.is_empty() {
        return newline;
    }
    let next =
        rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\n', '\r'])).unwrap_or(rest);
    let line = next.lines().next().unwrap_or_default();
    if line.trim().is_empty() || line.starts_with('#') { "" } else { newline }
}

fn ends_blank(text: &str) -> bool {
    let Some(rest) = text.strip_suffix('\n') else { return false };
    rest.trim_end_matches(['\r', ' ', '\t']).ends_with('\n') || rest.trim().is_empty()
}

/// Whether `new` only adds these entries to the section.
pub(super) fn adds_only(
    document: &Document,
    new: &str,
    section: usize,
    added: &[(&Marker, &str)],
) -> bool {
    let new = parse(new, document.shape());
    // An open fence may have got its closing line.
    let fence = |rest: &str| rest.trim().chars().all(|letter| matches!(letter, '`' | '~'));
    let same = |old: &Entry, new: &Entry| {
        let kept = new.text.strip_prefix(&old.text).is_some_and(fence);
        kept && old.section == new.section && old.under == new.under
    };
    let old: Vec<_> = document.entries().collect();
    let now: Vec<_> = new.entries().collect();
    if now.len() != old.len() + added.len() {
        return false;
    }
    let at = old.iter().zip(&now).take_while(|(a, b)| same(a, b)).count();
    // Entries equal to the added ones may come right before, so step back until they match.
    (0..=added.len().min(at)).any(|back| {
        let at = at - back;
        let (new, rest) = now[at..].split_at(added.len());
        let fits = |(entry, (_, text)): (&&Entry, &(&Marker, &str))| {
            entry.section == Some(section) && entry.under.is_none() && entry.text == *text
        };
        new.iter().zip(added).all(fits) && old[at..].iter().zip(rest).all(|(a, b)| same(a, b))
    })
}
