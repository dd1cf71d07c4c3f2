//! How big the file is, in words as a person counts them.

use serde::Serialize;

use super::{Document, Role, Shape, parse};

/// The words of a file, section by section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// The gauge: words of all entries but those of the commits. Front matter,
    /// comments and headings don't count.
    pub total: usize,
    /// Every section of the shape, in order; the commits too.
    pub sections: Vec<SectionWords>,
    /// Words of the commits, which are not in `total`.
    pub git: usize,
    /// Words outside of every section, which are in `total`.
    pub stray: usize,
}

/// The words of one section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionWords {
    /// The section's name.
    pub name: String,
    /// Its words.
    pub words: usize,
    /// Its entries.
    pub entries: usize,
}

/// Measures a document.
pub fn measure(document: &Document) -> Measure {
    let shape = document.shape();
    let named = |name: &str| SectionWords { name: name.to_owned(), words: 0, entries: 0 };
    let sections = shape.sections.iter().map(|section| named(&section.name)).collect();
    let mut measure = Measure { total: 0, sections, git: 0, stray: 0 };
    for entry in document.entries() {
        let Some(section) = entry.section else {
            measure.stray += entry.words;
            measure.total += entry.words;
            continue;
        };
        measure.sections[section].words += entry.words;
        measure.sections[section].entries += 1;
        if shape.role(section) == Role::Git {
            measure.git += entry.words;
        } else {
            measure.total += entry.words;
        }
    }
    measure
}

/// The gauge's reading of a file: [`Measure::total`].
pub fn gauge_words(text: &str, shape: &Shape) -> usize {
    measure(&parse(text, shape)).total
}

/// Counts words: runs without white space that hold a letter or digit. Each ideograph
/// and kana counts one, as their scripts write no spaces. Comments don't count.
pub fn count_words(text: &str) -> usize {
    visible(text).map(|part| part.split_whitespace().map(words_of_run).sum::<usize>()).sum()
}

/// The parts of a text that stand outside of HTML comments. One that is not closed hides nothing.
pub(crate) fn visible(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let hidden = text.find("<!--").and_then(|start| {
            let end = text[start + 4..].find("-->")?;
            Some((start, start + 4 + end + 3))
        });
        let Some((start, end)) = hidden else { return Some(text) };
        rest = Some(&text[end..]);
        Some(&text[..start])
    })
}

fn words_of_run(run: &str) -> usize {
    if run.is_ascii() {
        return usize::from(run.bytes().any(|byte| byte.is_ascii_alphanumeric()));
    }
    let (mut words, mut in_word) = (0, false);
    for letter in run.chars() {
        if is_cjk(letter) {
            words += 1;
            in_word = false;
        } else if letter.is_alphanumeric() && !in_word {
            words += 1;
            in_word = true;
        }
    }
    words
}

/// Ideographs and kana: the scripts that are counted by the letter.
pub(crate) fn is_cjk(letter: char) -> bool {
    matches!(letter,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fd}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3134f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_a_person_does() {
        for (text, words) in [
            ("", 0),
            ("one", 1),
            ("one — two, three-four …", 3),
            ("https://example.org/a?b=c `let x = 1;`", 4),
            ("- [ ] * + # >", 0),
            ("naïve Größe ﬁn", 3),
            ("你好世界", 4),
            ("東京 tower、カメラ", 6),
            ("使用rust编写", 5),
            ("안녕 세상", 2),
            ("a <!-- not these --> b <!---->c", 3),
            ("a <!-- these three count", 4),
        ] {
            assert_eq!(count_words(text), words, "{text}");
        }
    }

    #[test]
    fn the_gauge_leaves_out_what_the_agent_did_not_write() {
        let text = "---\njob: one two three\n---\n# A title\n\nstray\n\n## Forward State\n<!-- a prompt -->\n- one two\n\n\
                    ## Git Commit Messages\n- abc five words of commit\n";
        let shape = Shape::default();
        let measure = measure(&parse(text, &shape));
        assert_eq!((measure.total, measure.git, measure.stray), (3, 5, 1));
        assert_eq!(measure.sections[0].words, 2);
        assert_eq!(measure.sections[5].entries, 1);
    }
}
