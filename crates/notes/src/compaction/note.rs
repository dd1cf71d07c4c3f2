//! Turns a text from a person or agent into entries of the file.

use super::item;
use super::render::sound;
use super::{BlockKind, Marker, Shape, parse};

/// Splits a text into entries. In a text with a list, each item and each block beside it is one
/// entry, as in the file. Any other text is a single note. Empty entries are left out.
pub fn notes(text: &str) -> Vec<(Marker, String)> {
    let none = Shape::none();
    let document = parse(text, &none);
    let plain = |kind: &BlockKind| matches!(kind, BlockKind::Entry(_) | BlockKind::Gap);
    let listed = document.blocks().iter().all(|block| plain(&block.kind))
        && document.entries().any(|entry| entry.marker != Marker::Block);
    let items: Vec<_> = if listed {
        document.entries().map(|entry| (entry.marker.clone(), entry.text.clone())).collect()
    } else {
        vec![(Marker::Bullet, item::block_text(text))]
    };
    let filled = items.into_iter().filter(|(_, text)| !text.trim().is_empty());
    filled.map(|(marker, text)| note(&marker, &text)).collect()
}

/// Returns an entry in a form that the file reads back unchanged.
pub(crate) fn note(marker: &Marker, text: &str) -> (Marker, String) {
    // An indented block gets a fence, because at the start of an item it would depend on the item's
    // own indentation.
    if text.starts_with(' ') { sound(marker, &item::fenced(text)) } else { sound(marker, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_makes_an_entry_an_item_whatever_stands_beside_it() {
        for (text, expected) in [
            ("one", &["one"][..]),
            ("- a\n- b\n  c", &["a", "b\nc"]),
            (
                "Open:\n\n- a\n- b\n\nand a paragraph\nof two lines",
                &["Open:", "a", "b", "and a paragraph\nof two lines"],
            ),
            ("two\nlines\n\n- a\n  - nested\n", &["two\nlines", "a\n- nested"]),
            ("- a\n\n```\nx\n```\n", &["a", "```\nx\n```"]),
            ("1. a\n2. b\n\n> quoted", &["a", "b", "> quoted"]),
            // A text without a list is one note.
            ("a\n\nb", &["a\n\nb"]),
            ("look:\n\n```\nx\n```", &["look:\n\n```\nx\n```"]),
            // A heading keeps the items below it together.
            ("### a\n- b\n- c", &["### a\n- b\n- c"]),
            ("- \n", &[]),
            (" \n", &[]),
        ] {
            let notes = notes(text);
            let got: Vec<&str> = notes.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(got, expected, "{text:?}");
        }
    }
}
