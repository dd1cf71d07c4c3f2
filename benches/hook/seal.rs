//! The seal of a file of 3,000 words, and of a file with one entry, whose cost is only the process.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use notes::compaction::{Role, Shape, measure, parse};

use crate::harness::Case;

const WORDS: usize = 3_000;

/// Both cases, with the environment of `like`.
pub fn cases(like: &Case, work: &Path) -> [Case; 2] {
    let shape = Shape::default();
    let full = file(&shape);
    let words = measure(&parse(&full, &shape)).total;
    assert!(words.abs_diff(WORDS) <= WORDS / 50, "the file to seal has {words} words");
    let small = "# Compaction\n\n## Forward State\n\n- Go on with the parser.\n";
    [("seal, 3,000 words", "full.md", full.as_str()), ("seal, one entry", "small.md", small)].map(
        |(name, file, text)| {
            let path = work.join(file);
            fs::write(&path, text).expect("file");
            let args = ["seal", "--file", path.to_str().expect("utf-8")];
            let args = args.map(str::to_owned).to_vec();
            Case { args, counted: text == full, ..like.instead(name, &like.program) }
        },
    )
}

/// A file as after a long session: entries of 15 to 40 words in every section but the guard's own.
/// A tenth is repeated, a fifth closed.
fn file(shape: &Shape) -> String {
    const STEMS: &str = "parser socket retry budget schema cursor ledger timeout branch fixture \
        cache index migration payload registry window signal buffer worker digest session handler \
        journal token";
    let stems: Vec<&str> = STEMS.split(' ').collect();
    let sections: Vec<_> = shape.sections.iter().filter(|s| s.role != Role::Git).collect();
    let each = WORDS / sections.len();
    let mut text = String::from("# Compaction\n");
    let mut n = 0_usize;
    for section in sections {
        let _ = write!(text, "\n## {}\n\n", section.name);
        // Entries that must stay may not fill the file, or no seal could make space.
        let may_close = section.role != Role::Summary;
        let mut left = each;
        while left > 15 {
            let length = (15 + n * 7 % 26).min(left);
            let seed = if n.is_multiple_of(10) { n.saturating_sub(1) } else { n };
            let words: Vec<String> = (0..length)
                .map(|i| format!("{}{}", stems[(seed * 5 + i * 7) % 24], (seed * 31 + i) % 97))
                .collect();
            let mark = if may_close && !n.is_multiple_of(5) { "- [x] " } else { "- " };
            let _ = writeln!(text, "{mark}{}", words.join(" "));
            (left, n) = (left - length, n + 1);
        }
    }
    text
}
