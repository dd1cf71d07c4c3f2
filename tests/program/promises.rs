//! The tables of promises in `CONTRIBUTING.md` and of rules in `docs/extraction.md` name tests that
//! exist.

use std::fs;
use std::path::Path;

/// The names in backticks in the last column of the table of tests, without what begins with `./`.
fn named(text: &str) -> Vec<&str> {
    let (_, table) = text.split_once("| the test that holds it |").expect("a table");
    let (table, _) = table.split_once("\n\n").expect("an end");
    let cells = table.lines().filter_map(|line| line.split('|').rev().nth(1));
    let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    quoted.filter(|name| !name.starts_with("./")).collect()
}

fn sources(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            all.push_str(&fs::read_to_string(&path).expect("text"));
        }
    }
}

#[test]
fn every_test_that_holds_a_promise_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = String::new();
    for folder in ["tests", "crates", "src"] {
        sources(&root.join(folder), &mut all);
    }
    let [text, rules] = ["CONTRIBUTING.md", "docs/extraction.md"]
        .map(|file| fs::read_to_string(root.join(file)).expect("text"));
    let (mut named, rules) = (named(&text), named(&rules));
    assert!(named.len() > 40 && rules.len() > 15, "{named:?} and {rules:?}");
    named.extend(rules);
    // A test is a function, a line of a table of cases, or a group of `faults`.
    let is_there = |name: &&str| {
        let own = name.rsplit("::").next().unwrap_or_default();
        all.contains(&format!("fn {own}("))
            || all.contains(&format!("    {own}: "))
            || name.starts_with("faults::") && all.contains(&format!("mod {own};"))
            || name.starts_with("pi::") && all.contains(&format!("pub fn {own}("))
    };
    let missing: Vec<_> = named.into_iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "a table names tests that are not there: {missing:?}");
}

#[test]
fn names_are_read_from_the_last_column() {
    let text =
        "| promise | the test that holds it |\n|---|---|\n| `a` | `b`, `./c`; `d::e` |\n\nend";
    assert_eq!(named(text), ["b", "d::e"]);
}
