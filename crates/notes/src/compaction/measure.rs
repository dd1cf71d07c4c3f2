//! Measures the file in words, as a person counts them.

use serde::Serialize;

use super::{Document, Role, Shape, parse};

/// The words of a file, section by section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measure {
    /// The gauge: words of all entries except the commits. Front matter, comments and headings do
    /// not count.
    pub total: usize,
    /// Every section of the shape in order, including the commits.
    pub sections: Vec<SectionWords>,
    /// Words of the commits, which are not part of `total`.
    pub git: usize,
    /// Words outside of all sections, which are part of `total`.
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

/// The words that the gauge shows for a file: [`Measure::total`].
pub fn gauge_words(text: &str, shape: &Shape) -> usize {
    measure(&parse(text, shape)).total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::words::count_words;

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
        let of = |name| &measure.sections[shape.find(name).expect("a section")];
        assert_eq!((of("forward").words, of("git").entries), (2, 1));
    }
}
