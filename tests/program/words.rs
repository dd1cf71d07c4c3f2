//! The words of the user's texts: each thing has one name, and the names it had are gone.

use std::fs;
use std::path::{Path, PathBuf};

/// Words that stand for something else in the glossary, with the word to use. `*` ends a beginning.
const OLD: [(&str, &str); 15] = [
    ("inscri*", "import"),
    ("stance", "tier"),
    ("stances", "tiers"),
    ("gauge", "context usage, or the size of the compaction file"),
    ("gauges", "context usage and the size of the compaction file"),
    ("the fill", "context usage"),
    ("crossing", "boundary"),
    ("crossings", "boundaries"),
    ("hand-over", "compaction file"),
    ("topic", "engagement"),
    ("workstream", "engagement"),
    ("workstreams", "engagements"),
    ("pays", "breaks even"),
    ("road", "carrier"),
    ("what was made", "successor"),
];

/// Aliases that a page may name.
const ALIASES: [&str; 1] = ["`inscribe`"];

/// The pages for users, what the agent reads, and the recorded texts.
fn texts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = vec![root.join("README.md")];
    for folder in ["docs", "templates", "commands", "skills/brain-guard", "skills/extraction"] {
        let entries = fs::read_dir(root.join(folder)).expect("folder").flatten();
        all.extend(entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")));
    }
    // For maintainers, who read the code's words.
    all.retain(|path| !path.ends_with("docs/architecture.md"));
    all.extend(["fixtures/texts.md", "fixtures/errors.txt"].map(|name| root.join(name)));
    all.sort();
    all
}

fn found(line: &str, old: &str) -> bool {
    let (word, beginning) = old.strip_suffix('*').map_or((old, false), |word| (word, true));
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '{' || c == '}';
    line.match_indices(word).any(|(at, _)| {
        let after = line[at + word.len()..].chars().next();
        !line[..at].ends_with(part) && (beginning || !after.is_some_and(part))
    })
}

#[test]
fn texts_use_the_glossarys_words() {
    let mut wrong = Vec::new();
    for path in texts() {
        let text = fs::read_to_string(&path).expect("text").to_lowercase();
        // The headings of the recorded texts are the names of their templates.
        for (n, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with("## user-")) {
            let line = ALIASES.iter().fold(line.to_owned(), |line, alias| line.replace(alias, ""));
            let old = OLD.iter().filter(|(old, _)| found(&line, old));
            wrong.extend(old.map(|(old, word)| {
                format!("{}:{n}: {old:?}; the word is {word:?}", path.display())
            }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_word_is_found_whole_and_placeholders_are_not_words() {
    assert!(found("the gauge is", "gauge") && found("it pays.", "pays"));
    assert!(found("what is inscribed", "inscri*"));
    assert!(!found("the {{gauge}} is", "gauge") && !found("repays", "pays"));
}
