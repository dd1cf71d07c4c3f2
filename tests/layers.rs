//! Rules that crate borders do not enforce: no circular imports between a crate's modules, and no
//! access to the outside world in the guard's decisions.
#![allow(clippy::disallowed_methods, reason = "tests are an edge: they read the source")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the guard that use neither files nor clock, directly or indirectly.
const PURE: [&str; 7] = ["boundary", "compaction", "git", "job", "policy", "report", "seal"];

/// The paths that these may not name.
const WORLD: [&str; 8] = [
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "crate::client",
    "crate::files",
    "crate::hook",
    "crate::texts",
];

fn crates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let members = fs::read_dir(root.join("crates")).expect("crates").flatten();
    members.map(|member| member.path().join("src")).chain([root.join("src")]).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A crate's top modules, with their code but without tests and comments.
fn modules(source: &Path) -> BTreeMap<String, String> {
    let mut modules: BTreeMap<String, String> = BTreeMap::new();
    for path in files(source).into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs")) {
        let below = path.strip_prefix(source).expect("below").with_extension("");
        let name = below.iter().next().expect("name").to_string_lossy().into_owned();
        let mut parts = below.iter().map(|part| part.to_string_lossy());
        if matches!(name.as_str(), "lib" | "main")
            || parts.any(|p| p == "tests" || p == "properties")
        {
            continue;
        }
        modules.entry(name).or_default().push_str(&code(&fs::read_to_string(&path).expect("text")));
    }
    modules
}

fn code(source: &str) -> String {
    let untested = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = untested.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Whether the code names this path or one below it; the first part of a group is enough.
fn names(code: &str, path: &str) -> bool {
    code.match_indices(path).any(|(at, _)| {
        !code[at + path.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn modules_have_no_circular_imports() {
    for source in crates() {
        let all = modules(&source);
        let mut left: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (module, code) in &all {
            assert!(!code.contains("use crate::{"), "{module}: one line for each module, please");
            let others = all.keys().map(String::as_str).filter(|other| other != module);
            let imports = others.filter(|other| names(code, &format!("crate::{other}")));
            left.insert(module, imports.collect());
        }
        // A module without remaining imports is below all others.
        while let Some(lowest) = left.iter().find(|(_, imports)| imports.is_empty()) {
            let lowest = *lowest.0;
            left.remove(lowest);
            for imports in left.values_mut() {
                imports.remove(lowest);
            }
        }
        assert_eq!(left, BTreeMap::new(), "{}: each leads back to itself", source.display());
    }
}

#[test]
fn pure_modules_name_nothing_of_the_outside_world() {
    let all = modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/guard/src"));
    for module in PURE {
        let code = all.get(module).unwrap_or_else(|| panic!("there is no module {module}"));
        let named: Vec<_> = WORLD.into_iter().filter(|path| names(code, path)).collect();
        assert_eq!(named, [""; 0], "{module}");
        assert!(!code.contains("use std::{"), "{module}: one line for each module, please");
    }
}

#[test]
fn names_ignores_comments_tests_and_longer_paths() {
    let code = code(
        "// std::fs\nuse std::fs::File;\nuse crate::filesystem;\n#[cfg(test)]\nmod tests {\nuse std::env;\n}",
    );
    let found: Vec<_> = WORLD.into_iter().filter(|path| names(&code, path)).collect();
    assert_eq!(found, ["std::fs"]);
}
