//! Writes text: a document as it was read, or the canonical form of the seal.

use std::borrow::Cow;

use super::item::{self, Marker};
use super::{Document, FrontMatter, Section, Shape, parse};

/// Joins the blocks of a document into its source text, byte for byte.
pub fn render(document: &Document) -> String {
    document.blocks().iter().map(|block| &document.source()[block.range.clone()]).collect()
}

/// The content of one section in canonical form.
#[derive(Clone, Debug, Default)]
pub(crate) struct CanonicalSection<'a> {
    /// Comments with their delimiters, including the section's prompt.
    pub comments: Vec<&'a str>,
    /// Marker and text of each entry.
    pub items: Vec<(&'a Marker, &'a str)>,
}

/// Writes a complete file: front matter, title, and all sections of the shape in order. Each entry
/// is a list item, so that its markup ends with it.
pub(crate) fn canonical(
    front: &FrontMatter,
    title: &str,
    shape: &Shape,
    sections: &[CanonicalSection],
) -> String {
    let mut out = String::with_capacity(16 * 1024);
    front.write(&mut out);
    out.push_str("\n# ");
    out.push_str(&one_line(title));
    out.push('\n');
    for (section, content) in shape.sections.iter().zip(sections) {
        out.push('\n');
        heading_line(section, "\n", &mut out);
        for comment in &content.comments {
            out.push_str(comment);
            out.push('\n');
        }
        if !content.items.is_empty() {
            out.push('\n');
            items(&content.items, 0, &mut out);
            out.push('\n');
        }
    }
    out
}

/// Writes entries as list items, indented by at least `least` columns, without a final line break.
pub(super) fn items(items: &[(&Marker, &str)], least: usize, out: &mut String) {
    for (index, (marker, text)) in items.iter().enumerate() {
        if index > 0 {
            let tight = !ordered(marker) && !ordered(items[index - 1].0);
            out.push_str(if tight { "\n" } else { "\n\n" });
        }
        item::write_padded(marker, text, least, out);
    }
}

fn ordered(marker: &Marker) -> bool {
    matches!(marker, Marker::Ordered(_))
}

fn heading_line(section: &Section, newline: &str, out: &mut String) {
    out.push_str("## ");
    out.push_str(&one_line(&section.name));
    out.push_str(newline);
}

/// Writes a section's heading, and its prompt as a comment.
pub(super) fn heading(section: &Section, newline: &str, out: &mut String) {
    heading_line(section, newline, out);
    if let Some(prompt) = prompt(section) {
        out.push_str(&prompt);
        out.push_str(newline);
    }
}

/// A section's prompt as a comment.
pub(crate) fn prompt(section: &Section) -> Option<String> {
    let prompt = one_line(&section.prompt).replace("--", "—");
    (!prompt.is_empty()).then(|| format!("<!-- {prompt} -->"))
}

/// A text on one line, with single spaces. Most are already like that.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    if text.split(' ').eq(text.split_whitespace()) {
        return Cow::Borrowed(text);
    }
    let words: Vec<_> = text.split_whitespace().collect();
    Cow::Owned(words.join(" "))
}

/// Returns an entry in a form that is read back as this one entry: unchanged if possible, or in a
/// fence.
pub(crate) fn sound(marker: &Marker, text: &str) -> (Marker, String) {
    let marker = if *marker == Marker::Block { Marker::Bullet } else { marker.clone() };
    // One plain line is always an item.
    let plain = !text.contains('\n')
        && text.starts_with(char::is_alphanumeric)
        && !text.contains(['\r', '\0']);
    if plain || reads_back(&marker, text) {
        return (marker, text.to_owned());
    }
    (Marker::Bullet, item::fenced(text))
}

/// Whether the file reads this entry back unchanged.
pub(crate) fn reads_back(marker: &Marker, text: &str) -> bool {
    let shape = Shape::none();
    // With a neighbor on either side, as in a file.
    let mut written = String::new();
    items(&[(&Marker::Bullet, "a"), (marker, text), (&Marker::Bullet, "a")], 0, &mut written);
    written.push_str("\n\n# b\n");
    let document = parse(&written, &shape);
    let texts: Vec<_> =
        document.entries().map(|entry| (&entry.marker, entry.text.as_str())).collect();
    texts == [(&Marker::Bullet, "a"), (marker, text), (&Marker::Bullet, "a")]
        && document.title() == Some("b")
}
