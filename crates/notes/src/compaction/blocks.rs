//! Splits a Markdown text into its top-level blocks, by range.
//!
//! Block structure is that of pulldown-cmark. An unclosed fence or comment would hide the rest of
//! the file, so a heading of a known section still ends it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::shape::Shape;
use super::words::visible;

/// One top-level block. List items are blocks, and their list is not.
#[derive(Debug)]
pub(super) struct RawBlock {
    /// From the start of its line to the end of its text.
    pub range: Range<usize>,
    pub kind: RawKind,
}

#[derive(Debug, PartialEq)]
pub(super) enum RawKind {
    Heading {
        level: u8,
        setext: bool,
        title: String,
    },
    Item,
    Comment,
    Rule,
    Paragraph,
    /// Text that Markdown leaves out: link definitions.
    Definition,
    Other,
}

/// The blocks of `source` from byte `start` on. Text outside of all blocks (link definitions)
/// becomes a block, so that only white space is left out.
pub(super) fn blocks(source: &str, start: usize, shape: &Shape) -> Vec<RawBlock> {
    let masked = without_open_comments(source, shape);
    let text = masked.as_deref().unwrap_or(source);
    let mut found = Vec::new();
    let mut at = start;
    while let Some(resume) = scan(text, at, shape, &mut found).filter(|&resume| resume > at) {
        at = resume;
    }
    cover(source, start, found)
}

/// Reads blocks from `at` on. Returns where to continue after a block that was cut.
fn scan(text: &str, at: usize, shape: &Shape, found: &mut Vec<RawBlock>) -> Option<usize> {
    let mut depth = 0_usize;
    let mut heading = None;
    for (event, range) in Parser::new_ext(&text[at..], Options::empty()).into_offset_iter() {
        let range = range.start + at..range.end + at;
        match event {
            Event::Start(tag) => {
                let kind = match (depth, &tag) {
                    (0, Tag::List(_)) => None,
                    (0, Tag::Heading { level, .. }) => {
                        heading = Some((*level, String::new()));
                        None
                    }
                    (0, Tag::HtmlBlock | Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                        if let Some(cut) = cut_at(text, &range, shape) {
                            let range = range.start..cut;
                            found.push(RawBlock { kind: of_html(&text[range.clone()]), range });
                            return Some(cut);
                        }
                        Some(if tag == Tag::HtmlBlock {
                            of_html(&text[range.clone()])
                        } else {
                            RawKind::Other
                        })
                    }
                    (0, Tag::Paragraph) => Some(RawKind::Paragraph),
                    (0, _) => Some(RawKind::Other),
                    (1, Tag::Item) => Some(RawKind::Item),
                    _ => None,
                };
                found.extend(kind.map(|kind| RawBlock { range, kind }));
                depth += 1;
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                if let (TagEnd::Heading(_), Some((level, title))) =
                    (tag, heading.take_if(|_| depth == 0))
                {
                    let setext = !text[range.clone()].trim_start().starts_with('#');
                    found.push(RawBlock {
                        kind: RawKind::Heading { level: number(level), setext, title },
                        range,
                    });
                }
            }
            Event::Rule if depth == 0 => found.push(RawBlock { range, kind: RawKind::Rule }),
            Event::Text(part) | Event::Code(part) | Event::InlineHtml(part) => {
                if let Some((_, title)) = &mut heading {
                    title.push_str(&part);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some((_, title)) = &mut heading {
                    title.push(' ');
                }
            }
            _ => {}
        }
    }
    None
}

fn number(level: HeadingLevel) -> u8 {
    level as u8
}

fn of_html(raw: &str) -> RawKind {
    let comment = raw.contains("<!--") && visible(raw).all(|part| part.trim().is_empty());
    if comment { RawKind::Comment } else { RawKind::Other }
}

/// Where a known heading ends a block that cannot be meant to contain it: an unclosed fence, or raw
/// HTML.
fn cut_at(text: &str, range: &Range<usize>, shape: &Shape) -> Option<usize> {
    let raw = &text[range.clone()];
    if raw.trim_start().starts_with("<!--") || closing_fence(raw).is_none() && is_fence(raw) {
        return None;
    }
    let first = raw.find('\n')? + 1;
    known_heading(&raw[first..], shape).map(|heading| range.start + first + heading)
}

fn is_fence(raw: &str) -> bool {
    raw.trim_start().starts_with(['`', '~'])
}

/// The line that closes an open fence; `None` if there is no open fence.
pub(super) fn closing_fence(raw: &str) -> Option<String> {
    let raw = raw.trim();
    let letter = raw.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
    let length = raw.len() - raw.trim_start_matches(letter).len();
    let last = raw.lines().next_back().unwrap_or_default();
    let near = last.len() - last.trim_start_matches(' ').len() < 4;
    let last = last.trim();
    let closes = near
        && raw.contains('\n')
        && last.len() >= length
        && last.chars().all(|other| other == letter);
    (length >= 3 && !closes).then(|| String::from(letter).repeat(length))
}

/// The offset of the first line that is an ATX heading of a known section.
fn known_heading(text: &str, shape: &Shape) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_known_heading(line, shape) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

fn is_known_heading(line: &str, shape: &Shape) -> bool {
    let title = line.trim_start_matches(' ');
    let hashes = title.bytes().take_while(|&byte| byte == b'#').count();
    line.len() - title.len() < 4
        && (1..=6).contains(&hashes)
        && title[hashes..].starts_with([' ', '\t'])
        && shape.find_heading(title).is_some()
}

/// A heading without the space after its `#`s. Markdown reads it as a paragraph, but a person does
/// not.
pub(super) fn heading_without_space(raw: &str) -> Option<(u8, &str)> {
    let raw = raw.trim_end();
    let line = raw.trim_start_matches(' ');
    let title = line.trim_start_matches('#');
    let hashes = line.len() - title.len();
    let plain =
        raw.len() - line.len() < 4 && (1..=6).contains(&hashes) && !raw.contains(['\n', '\r']);
    plain.then_some((hashes as u8, title))
}

/// The starts of comments that hide too much. Such a comment is never closed, or is closed only by
/// another comment's end after a known heading.
pub(super) fn open_comments(source: &str, shape: &Shape) -> Vec<usize> {
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(found) = source[at..].find("<!--") {
        let start = at + found;
        let inner = start + 4;
        // Inside a line or an item, a comment ends with it.
        let line = source[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        if !source[line..start].bytes().all(|byte| byte == b' ') {
            at = inner;
            continue;
        }
        let end = source[inner..].find("-->").map(|end| inner + end);
        let swallows = end.is_none_or(|end| {
            let inside = &source[inner..end];
            inside.rfind("<!--").is_some_and(|next| known_heading(&inside[..next], shape).is_some())
        });
        if swallows {
            open.push(start);
        }
        at = if swallows { inner } else { end.map_or(inner, |end| end + 3) };
    }
    open
}

/// A copy of the source without open comments. It has the same length, so that ranges stay valid.
fn without_open_comments(source: &str, shape: &Shape) -> Option<String> {
    let open = open_comments(source, shape);
    if open.is_empty() {
        return None;
    }
    let mut masked = String::with_capacity(source.len());
    let mut at = 0;
    for start in open {
        masked.push_str(&source[at..start]);
        masked.push('x');
        at = start + 1;
    }
    masked.push_str(&source[at..]);
    Some(masked)
}

/// Moves block starts to the start of their lines, and turns text between blocks into blocks.
fn cover(source: &str, start: usize, found: Vec<RawBlock>) -> Vec<RawBlock> {
    let mut covered: Vec<RawBlock> = Vec::with_capacity(found.len());
    let mut end = start;
    for mut block in found {
        if block.range.end <= end {
            continue;
        }
        let line = source[..block.range.start].rfind(['\n', '\r']).map_or(0, |at| at + 1).max(end);
        if source[line..block.range.start.max(line)].trim().is_empty() {
            block.range.start = line;
        }
        block.range.start = block.range.start.max(end);
        leftover(source, end..block.range.start, &mut covered);
        // A link definition and the line right below it look like one paragraph to a person.
        let joins = |last: &mut RawBlock| {
            last.kind == RawKind::Definition
                && block.kind == RawKind::Paragraph
                && source[last.range.end..block.range.start].lines().count() < 2
        };
        if let Some(definition) = covered.pop_if(joins) {
            block.range.start = definition.range.start;
        }
        end = block.range.end;
        covered.push(block);
    }
    leftover(source, end..source.len(), &mut covered);
    covered
}

fn leftover(source: &str, range: Range<usize>, covered: &mut Vec<RawBlock>) {
    let text = &source[range.clone()];
    if text.trim().is_empty() {
        return;
    }
    let end = range.start + text.trim_end().len();
    let line_over = |text: &str| text.is_empty() || text.ends_with(['\n', '\r']);
    let in_line = !text.starts_with(['\n', '\r']) && !line_over(&source[..range.start]);
    match covered.last_mut() {
        Some(last) if in_line || last.kind == RawKind::Item && text.starts_with([' ', '\t']) => {
            last.range.end = end;
        }
        _ => {
            let blank = text.len() - text.trim_start().len();
            let first = range.start + text[..blank].rfind(['\n', '\r']).map_or(0, |at| at + 1);
            covered.push(RawBlock { range: first..end, kind: RawKind::Definition });
        }
    }
}
