//! Prepares the notes for the next session to read.

use super::{BlockKind, Shape, parse};

/// The notes without the parts only the program reads: front matter, comments, and empty headings.
pub fn for_reader(source: &str) -> String {
    let shape = Shape::none();
    let document = parse(source, &shape);
    let mut out = String::with_capacity(source.len());
    // Headings that wait for an entry below them, outermost first.
    let mut waiting: Vec<&str> = Vec::new();
    // Whether a blank line goes before the next entry.
    let mut apart = false;
    for block in document.blocks() {
        let text = source[block.range.clone()].trim_end();
        match block.kind {
            BlockKind::Front | BlockKind::Comment | BlockKind::Gap => apart = true,
            BlockKind::Title => push(&mut out, text, true),
            BlockKind::Section | BlockKind::Heading { .. } => {
                while waiting.last().is_some_and(|last| level(last) >= level(text)) {
                    waiting.pop();
                }
                waiting.push(text);
            }
            BlockKind::Entry(_) => {
                apart &= waiting.is_empty();
                for heading in waiting.drain(..) {
                    push(&mut out, heading, true);
                }
                push(&mut out, text, apart);
                apart = source[block.range.clone()][text.len()..].matches('\n').count() > 1;
            }
        }
    }
    out
}

fn push(out: &mut String, text: &str, apart: bool) {
    if apart && !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
    out.push('\n');
}

/// The depth of a heading. An underlined heading counts as an outer one.
fn level(heading: &str) -> usize {
    heading.chars().take_while(|c| *c == '#').count().max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_somebody_wrote_is_left() {
        let sealed = "---\njob: lexer\ndigest: abc\n---\n\n# lexer\n\n## Forward State\n<!-- what next -->\n\
                      - drop the cache\n  <!-- kept: it is in the entry -->\n\n## Open Threads\n<!-- open -->\n\n\
                      ## Prior Summary\n### Build\n### Tests\n- they take 20 minutes\n## Git Commit Messages\n";
        let left = "# lexer\n\n## Forward State\n- drop the cache\n  <!-- kept: it is in the entry -->\n\n\
                    ## Prior Summary\n\n### Tests\n- they take 20 minutes\n";
        assert_eq!(for_reader(sealed), left);
        assert_eq!(for_reader("---\njob: j\n---\n# j\n\n## Forward State\n<!-- x -->\n"), "# j\n");
        assert_eq!(for_reader(""), "");
    }

    proptest! {
        #[test]
        fn every_word_of_an_entry_is_left(
            lines in proptest::collection::vec("(#{1,3} |- |> |    |)[a-z<!>-]{0,6}( [a-z]{1,4})?", 0..12),
        ) {
            let text = lines.join("\n");
            let shape = Shape::none();
            let words = |text: &str| -> Vec<String> {
                let document = parse(text, &shape);
                let texts = document.entries().map(|entry| entry.text.clone());
                texts.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
            };
            prop_assert_eq!(words(&for_reader(&text)), words(&text));
        }
    }
}
