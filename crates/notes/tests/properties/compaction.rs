//! Properties of the compaction file that hold for any text.

use proptest::prelude::*;

use notes::compaction::{
    BlockKind, Document, EditError, Entry, Shape, add, add_first, close, count_words, digest,
    notes, parse, render, replace_section_body, says_nothing, written,
};

/// Pieces that have broken Markdown tools before, to be joined at random.
const PIECES: &[&str] = &[
    "## Forward State",
    "# forward state:",
    "### Open Threads ###",
    "##Process Insight",
    "Prior Summary\n---",
    "Open Threads\n===",
    "# a job",
    "## Notes",
    "#### Sub heading",
    "##",
    "## Git Commit Messages",
    "Assumptions and Risks\n----------",
    "- an item",
    "* other item",
    "+ third",
    "1. one",
    "7) seven",
    "- [x] done",
    "- [ ] to do",
    "- ! pinned",
    "- ~~gone~~",
    "closed: it",
    "- none: nothing came up",
    "- risk: it may break",
    "why: because",
    "  - nested",
    "    deeper",
    "\tby tab",
    "-\ttab item",
    "-     code item",
    "```",
    "```rust",
    "~~~",
    "    ```",
    "  ```",
    "<!-- a comment -->",
    "<!-- open",
    "-->",
    "- <!-- in an item",
    "- ```",
    "<div>",
    "<pre>",
    "</pre>",
    "<script>",
    "> a quote",
    "> - in a quote",
    "| a | b |\n|---|---|",
    "[a]: /url",
    "[b]:",
    "---",
    "***",
    "- - -",
    "...",
    "---\njob: x\nversion: 2\n---",
    "\u{feff}",
    "a paragraph",
    "of two lines",
    "word",
    "\0",
    "\u{b}",
    "\u{a0}nbsp",
    "東京",
    "🔥",
    "-",
    "!",
    "[x]",
    "~~",
    "a ~~ b",
    "\\",
    "`",
    "``",
    "&amp;",
    "{{job}}",
];

/// Any file that an agent might leave, and worse.
fn messy() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        12 => prop::sample::select(PIECES).prop_map(str::to_owned),
        2 => "[a-c]{1,3}( [a-c]{1,3}){0,4}",
        1 => "\\PC{0,12}",
        1 => any::<String>(),
    ];
    let gap = prop_oneof![6 => Just("\n"), 4 => Just("\n\n"), 1 => Just("\r\n"), 1 => Just("\r"), 1 => Just(" "), 1 => Just("\n\n\n"), 1 => Just("\n  ")];
    prop::collection::vec((piece, gap), 0..24).prop_map(|pieces| {
        pieces.into_iter().flat_map(|(piece, gap)| [piece, gap.to_owned()]).collect()
    })
}

/// The same without lone carriage returns, which only the property of [`render`] covers.
pub(super) fn ended() -> impl Strategy<Value = String> {
    messy().prop_map(|text| text.replace("\r\n", "\n").replace('\r', " ")).prop_flat_map(|text| {
        let crlf = text.replace('\n', "\r\n");
        prop_oneof![4 => Just(text), 1 => Just(crlf)]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn rendering_gives_back_the_source(text in messy()) {
        let shape = Shape::default();
        let document = parse(&text, &shape);
        prop_assert_eq!(render(&document), text.as_str());
        let mut end = 0;
        for block in document.blocks() {
            prop_assert_eq!(block.range.start, end);
            end = block.range.end;
        }
        prop_assert_eq!(end, text.len());
    }

    #[test]
    fn no_word_stands_outside_of_the_blocks_that_hold_words(text in messy()) {
        let shape = Shape::default();
        let document = parse(&text, &shape);
        for block in document.blocks() {
            let raw = &text[block.range.clone()];
            match &block.kind {
                BlockKind::Gap => prop_assert!(!raw.chars().any(char::is_alphanumeric), "{:?}", raw),
                BlockKind::Entry(index) => {
                    let entry = document.entries().nth(*index).expect("an entry");
                    let written = written(&entry.marker, &entry.text);
                    let strip = |text: &str| -> String { text.chars().filter(|l| l.is_alphanumeric()).collect() };
                    prop_assert_eq!(strip(raw), strip(&written));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn an_append_adds_only_itself(text in ended(), entry in ended(), section in 0..5_usize, first: bool) {
        let shape = Shape::default();
        let add = if first { add_first } else { add };
        let entries = notes(&entry);
        let new = match add(&text, &shape, section, &entries) {
            Ok(new) => new,
            // The append is refused only for an empty entry, or if an open fence, comment or tag
            // could contain the entry.
            Err(error) => {
                let open = ["```", "~~~", "<"].iter().any(|open| text.contains(open));
                let turned_down = match error {
                    EditError::Open { .. } => open,
                    EditError::EmptyEntry => !entry.chars().any(char::is_alphabetic),
                    _ => false,
                };
                prop_assert!(turned_down, "{}", error);
                return Ok(());
            }
        };
        let (old, now) = (parse(&text, &shape), parse(&new, &shape));
        prop_assert!(now.section(section).count() > old.section(section).count());
        prop_assert_eq!(now.entries().count() - old.entries().count(), now.section(section).count() - old.section(section).count());
        let added = new.len() - text.len();
        prop_assert!((0..=text.len()).any(|at| new.is_char_boundary(at) && new.is_char_boundary(at + added)
            && new[..at] == text[..at.min(text.len())] && new[at + added..] == text[at..]));
        let id = |document: &Document| document.section(section).last().map(|entry| entry.id);
        let again = add(&new, &shape, section, &entries).expect("appended before");
        prop_assert!(parse(&again, &shape).section(section).any(|entry| Some(entry.id) == id(&now)));
    }

    #[test]
    fn closing_closes_one_entry_and_keeps_its_id(text in ended(), pick in any::<prop::sample::Index>()) {
        let shape = Shape::default();
        let document = parse(&text, &shape);
        let entries: Vec<_> = document.entries().filter(|entry| entry.words > 0).collect();
        if entries.is_empty() {
            return Ok(());
        }
        let id = entries[pick.index(entries.len())].id;
        let new = match close(&text, &shape, &id.to_string()) {
            Ok(new) => new,
            // Close refuses an entry right below a link definition, which is part of a paragraph of
            // markers. It also refuses an entry below an open comment if it would end that comment.
            Err(error) => {
                let turned_down = match error {
                    EditError::Joined { .. } => text.contains("]:"),
                    EditError::Open { .. } => text.contains("<!--"),
                    _ => false,
                };
                prop_assert!(turned_down, "{}", error);
                return Ok(());
            }
        };
        let closed = parse(&new, &shape);
        let telling = |document: &Document| -> Vec<Entry> {
            document.entries().filter(|entry| !says_nothing(&entry.text)).cloned().collect()
        };
        let (before, after) = (telling(&document), telling(&closed));
        prop_assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            prop_assert_eq!(after.closed, before.closed || before.id == id);
            prop_assert_eq!(after.pinned, before.pinned);
            prop_assert_eq!(after.section, before.section);
        }
        prop_assert_eq!(close(&new, &shape, &id.to_string()).ok().filter(|_| closed.entries().any(|e| e.id == id)).unwrap_or(new.clone()), new);
    }

    #[test]
    fn a_replaced_body_touches_nothing_else(text in ended()) {
        let shape = Shape::default();
        let Ok(new) = replace_section_body(&text, &shape, "git", "- `abc1234` subject\n  body") else { return Ok(()) };
        let (old, now) = (parse(&text, &shape), parse(&new, &shape));
        let git = shape.find("git").expect("a section");
        prop_assert!(now.section(git).any(|entry| entry.text == "`abc1234` subject\nbody"));
        prop_assert_eq!(digest(&old), digest(&now));
        let again = replace_section_body(&new, &shape, "git", "- `abc1234` subject\n  body").expect("as before");
        prop_assert_eq!(again.replace('\r', ""), new.replace('\r', ""));
    }

    #[test]
    fn counting_is_additive(a in "\\PC{0,40}", b in "\\PC{0,40}") {
        prop_assume!(!a.contains("<!--") && !b.contains("-->"));
        prop_assert_eq!(count_words(&format!("{a} {b}")), count_words(&a) + count_words(&b));
    }
}
