//! The seal of a file of 3,000 words, as the verb is run; and of a file with one
//! entry, whose cost is the process and not the pass.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use guard::compaction::{Role, Shape, measure, parse};

use crate::case::Case;

/// The file that is sealed, by what it is called in the figures.
pub const FULL: &str = "seal, 3,000 words";

/// The file that there is nothing to do for.
pub const SMALL: &str = "seal, one entry";

const WORDS: usize = 3_000;

/// Both, with the environment of `like`.
pub fn cases(like: &Case, work: &Path) -> [Case; 2] {
    let shape = Shape::default();
    let full = file(&shape);
    let words = measure(&parse(&full, &shape)).total;
    assert!(words.abs_diff(WORDS) <= WORDS / 50, "the file to seal has {words} words");
    let small = "# Compaction\n\n## Forward State\n\n- Go on with the parser.\n";
    [(FULL, "full.md", full.as_str()), (SMALL, "small.md", small)].map(|(name, file, text)| {
        let path = work.join(file);
        fs::write(&path, text).expect("file");
        let args = ["seal", "--file", path.to_str().expect("utf-8")];
        Case { args: args.map(str::to_owned).to_vec(), ..like.instead(name, &like.program) }
    })
}

/// A file as a long session leaves it: entries of fifteen to forty words in every
/// section but the guard's own, a tenth of them said twice, a fifth closed.
fn file(shape: &Shape) -> String {
    const STEMS: [&str; 24] = [
        "parser",
        "socket",
        "retry",
        "budget",
        "schema",
        "cursor",
        "ledger",
        "timeout",
        "branch",
        "fixture",
        "cache",
        "index",
        "migration",
        "payload",
        "registry",
        "window",
        "signal",
        "buffer",
        "worker",
        "digest",
        "session",
        "handler",
        "journal",
        "token",
    ];
    let sections: Vec<_> = shape.sections.iter().filter(|s| s.role != Role::Git).collect();
    let each = WORDS / sections.len();
    let mut text = String::from("# Compaction\n");
    let mut n = 0_usize;
    for section in sections {
        let _ = write!(text, "\n## {}\n\n", section.name);
        // What must stay may not fill the file, or no seal could make room.
        let may_close = section.role != Role::Summary;
        let mut left = each;
        while left > 15 {
            let length = (15 + n * 7 % 26).min(left);
            let seed = if n.is_multiple_of(10) { n.saturating_sub(1) } else { n };
            let words: Vec<String> = (0..length)
                .map(|i| format!("{}{}", STEMS[(seed * 5 + i * 7) % 24], (seed * 31 + i) % 97))
                .collect();
            let mark = if may_close && !n.is_multiple_of(5) { "- [x] " } else { "- " };
            let _ = writeln!(text, "{mark}{}", words.join(" "));
            (left, n) = (left - length, n + 1);
        }
    }
    text
}
