//! Adds our block to the file's text and removes it again. Every byte of the user's stays, and
//! removing undoes adding.

use super::parse::{Block, Entry, File, Span, Unreadable};
use super::{CLEAR, FOR_CLEAR, FOR_RESUME, RESUME, find, free, parse};

/// What the file should become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Both chords are bound, by us or by the user, or no chord is free.
    Unchanged,
    /// The new text.
    Text(String),
}

/// What is left of the file without our bindings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removed {
    /// It had none of ours.
    Unchanged,
    /// The remaining text.
    Text(String),
    /// Nothing: we created the file, and nobody else wrote into it.
    File,
}

/// Adds the missing bindings; without a file, creates one.
///
/// # Errors
/// The client cannot read the file either, so it must not be changed.
pub fn merge(text: Option<&str>) -> Result<Merged, Unreadable> {
    let text_or_none = text.unwrap_or(r#"{"bindings":[]}"#);
    let bindings = parse(text_or_none)?;
    let there = find(text_or_none);
    let lacking = |is_there: bool, candidates, action| {
        let chord = if is_there { None } else { free(candidates, &bindings) };
        chord.map(|chord| (chord, action))
    };
    let clear = lacking(there.clear.is_some(), &FOR_CLEAR, CLEAR);
    // A block of ours is recognized by its resume chord, so it always holds one.
    let resume = lacking(there.resume.is_some() && clear.is_none(), &FOR_RESUME, RESUME);
    let Some(resume) = resume else { return Ok(Merged::Unchanged) };
    let entries: Vec<_> = clear.into_iter().chain([resume]).collect();
    Ok(Merged::Text(match text {
        Some(text) => insert_block(text, &File::read(text)?, &entries),
        None => new_file_text(&entries),
    }))
}

/// Removes what [`merge`] added.
///
/// # Errors
/// As [`merge`].
pub fn remove(text: &str) -> Result<Removed, Unreadable> {
    let file = File::read(text)?;
    let is_ours = |block: &Block| {
        block.context == "Chat" && block.entries.iter().any(|e| is_ours(e) && does(e, RESUME))
    };
    let mut left = text.to_owned();
    // From the end, so that earlier positions stay valid.
    for at in (0..file.blocks.len()).rev().filter(|at| is_ours(&file.blocks[*at])) {
        let block = &file.blocks[at];
        let ours: Vec<&Entry> = block.entries.iter().filter(|e| self::is_ours(e)).collect();
        if ours.len() == block.entries.len() {
            let entries: Vec<_> =
                ours.iter().map(|e| (e.key.as_str(), e.action.as_deref().unwrap_or(""))).collect();
            if text == new_file_text(&entries) {
                return Ok(Removed::File);
            }
            let spans: Vec<Span> = file.blocks.iter().map(|b| b.span.clone()).collect();
            left.replace_range(cut(&spans, at, file.list.start + 1), "");
            continue;
        }
        for at in (0..block.entries.len()).rev().filter(|at| self::is_ours(&block.entries[*at])) {
            let spans: Vec<Span> = block.entries.iter().map(|e| e.span.clone()).collect();
            left.replace_range(cut(&spans, at, spans[0].start), "");
        }
    }
    Ok(if left == text { Removed::Unchanged } else { Removed::Text(left) })
}

fn does(entry: &Entry, action: &str) -> bool {
    entry.action.as_deref() == Some(action)
}

/// Whether install could have written this entry.
fn is_ours(entry: &Entry) -> bool {
    let chord = entry.key.as_str();
    !entry.span.is_empty()
        && (does(entry, CLEAR) && FOR_CLEAR.contains(&chord)
            || does(entry, RESUME) && FOR_RESUME.contains(&chord))
}

/// The span to cut so that a part goes with its comma: from the end of the part before, else to the
/// start of the next, else all from `open`.
fn cut(spans: &[Span], at: usize, open: usize) -> Span {
    match (at.checked_sub(1), spans.get(at + 1)) {
        (Some(before), _) => spans[before].end..spans[at].end,
        (None, Some(next)) => spans[at].start..next.start,
        (None, None) => open..spans[at].end,
    }
}

/// The file that we create; adding to a file of the user never results in this one.
fn new_file_text(entries: &[(&str, &str)]) -> String {
    let style = Style { line: "\n", indent: "  ", unit: "  " };
    format!("{{\n  \"bindings\": [{}]\n}}\n", style.block(entries))
}

fn insert_block(text: &str, file: &File, entries: &[(&str, &str)]) -> String {
    let outer = leading(text, text.find("\"bindings\"").unwrap_or_default());
    let unit = outer.filter(|unit| !unit.is_empty()).unwrap_or("  ");
    let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let tight = !text.contains("\": ");
    let in_line = || in_line(entries, tight);
    let block = |indent: &str| Style { line, indent, unit }.block(entries);
    let (at, added) = if let Some(Block { span, .. }) = file.blocks.last() {
        let added = match leading(text, span.start) {
            Some(indent) if text[span.clone()].contains('\n') => {
                format!(",{line}{indent}{}", block(indent))
            }
            Some(indent) => format!(",{line}{indent}{}", in_line()),
            None => format!("{}{}", if tight { "," } else { ", " }, in_line()),
        };
        (span.end, added)
    } else {
        let added = outer.map_or_else(in_line, |outer| {
            let indent = format!("{outer}{unit}");
            format!("{line}{indent}{}", block(&indent))
        });
        (file.list.start + 1, added)
    };
    format!("{}{added}{}", &text[..at], &text[at..])
}

/// The indentation before `at`, if the line holds only white space before it.
fn leading(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n')? + 1;
    let before = &text[start..at];
    before.chars().all(|c| c == ' ' || c == '\t').then_some(before)
}

fn in_line(entries: &[(&str, &str)], tight: bool) -> String {
    let (colon, comma) = if tight { (":", ",") } else { (": ", ", ") };
    let entries: Vec<String> =
        entries.iter().map(|(chord, action)| format!("\"{chord}\"{colon}\"{action}\"")).collect();
    let entries = entries.join(comma);
    format!("{{\"context\"{colon}\"Chat\"{comma}\"bindings\"{colon}{{{entries}}}}}")
}

/// How the file's lines are laid out.
struct Style<'a> {
    line: &'a str,
    /// The indentation of the block's own braces.
    indent: &'a str,
    unit: &'a str,
}

impl Style<'_> {
    fn block(&self, entries: &[(&str, &str)]) -> String {
        let Self { line, indent, unit } = self;
        let entry = |(chord, action): &(&str, &str)| {
            format!("{line}{indent}{unit}{unit}\"{chord}\": \"{action}\"")
        };
        let entries: Vec<String> = entries.iter().map(entry).collect();
        let entries = entries.join(",");
        format!(
            "{{{line}{indent}{unit}\"context\": \"Chat\",{line}{indent}{unit}\"bindings\": {{{entries}{line}{indent}{unit}}}{line}{indent}}}"
        )
    }
}

#[cfg(test)]
mod tests;
