//! From what a person or agent hands in to entries of the file.

use super::item;
use super::render::sound;
use super::{BlockKind, Marker, Shape, parse};

/// The entries a text makes. With a list in it each of its items and each block beside it
/// is one, as in the file; without one the text is a single note, its paragraphs, code and
/// tables together. What says nothing is left out.
pub fn notes(text: &str) -> Vec<(Marker, String)> {
    let none = Shape::none();
    let document = parse(text, &none);
    let plain = |kind: &BlockKind| matches!(kind, BlockKind::Entry(_) | BlockKind::Gap);
    let listed = document.blocks().iter().all(|block| plain(&block.kind))
        && document.entries().any(|entry| entry.marker != Marker::Block);
    let items: Vec<_> = if listed {
        document.entries().map(|entry| (entry.marker.clone(), entry.text.clone())).collect()
    } else {
        vec![(Marker::Bullet, item::of_block(text))]
    };
    let filled = items.into_iter().filter(|(_, text)| !text.trim().is_empty());
    filled.map(|(marker, text)| note(&marker, &text)).collect()
}

/// One entry in a form that the file gives back as it is.
pub(crate) fn note(marker: &Marker, text: &str) -> (Marker, String) {
    // An indented block is fenced: as the start of an item it would depend on the item's own indentation.
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
            // Without a list it is one note.
            ("a\n\nb", &["a\n\nb"]),
            ("look:\n\n```\nx\n```", &["look:\n\n```\nx\n```"]),
            // A heading holds what follows together.
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
