//! Rules that crate borders do not enforce: no circular imports between a crate's modules, and no
//! access to the outside world in the guard's decisions and in the notes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the guard that use neither files nor clock, directly or indirectly.
const PURE: [&str; 4] = ["boundary", "journal", "policy", "report"];

/// The paths that these may not name.
const WORLD: &[&str] = &[
    "base::atomic",
    "base::disk",
    "base::lock",
    "clock::now",
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

/// The code of a crate's files by their modules' paths, without tests and comments.
fn sources(source: &Path) -> BTreeMap<Vec<String>, String> {
    let mut sources = BTreeMap::new();
    for path in files(source).into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs")) {
        let below = path.strip_prefix(source).expect("below").with_extension("");
        let parts = below.iter().map(|part| part.to_string_lossy().into_owned());
        let module: Vec<String> = parts.filter(|part| part != "mod").collect();
        let is_test = module.iter().any(|part| part == "tests" || part == "properties");
        if !is_test && module != ["lib"] && module != ["main"] {
            sources.insert(module, code(&fs::read_to_string(&path).expect("text")));
        }
    }
    sources
}

/// A crate's top modules, with their code.
fn modules(source: &Path) -> BTreeMap<String, String> {
    let mut modules: BTreeMap<String, String> = BTreeMap::new();
    for (path, code) in sources(source) {
        modules.entry(path[0].clone()).or_default().push_str(&code);
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

/// The modules that a `super::` or `crate::` path in this module leads to, each of a group.
fn imports(module: &[String], code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (start, first) in [(module.len(), "super::"), (0, "crate::")] {
        for (at, _) in code.match_indices(first) {
            let before = &code[..at];
            let ups = before.len() - before.trim_end_matches("super::").len();
            if code[at + first.len()..].starts_with("super::") {
                continue;
            }
            let above = start.saturating_sub(if start == 0 { 0 } else { 1 + ups / 7 });
            let rest = &code[at + first.len()..];
            let group = rest.strip_prefix('{').and_then(|rest| rest.split('}').next());
            let one =
                || rest.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).next();
            for name in group.or_else(one).unwrap_or_default().split(',') {
                let parts = name.trim().split("::").map(str::to_owned);
                paths.push(module[..above].iter().cloned().chain(parts).collect());
            }
        }
    }
    paths
}

/// What is left of a graph without what leads to no circle.
fn circles<K: Ord + Clone>(mut left: BTreeMap<K, BTreeSet<K>>) -> BTreeMap<K, BTreeSet<K>> {
    while let Some((lowest, _)) = left.iter().find(|(_, imports)| imports.is_empty()) {
        let lowest = lowest.clone();
        left.remove(&lowest);
        for imports in left.values_mut() {
            imports.remove(&lowest);
        }
    }
    left
}

#[test]
fn modules_have_no_circular_imports() {
    for source in crates() {
        let all = modules(&source);
        let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (module, code) in &all {
            assert!(!code.contains("use crate::{"), "{module}: one line for each module, please");
            let others = all.keys().map(String::as_str).filter(|other| other != module);
            let imports = others.filter(|other| names(code, &format!("crate::{other}")));
            graph.insert(module, imports.collect());
        }
        assert_eq!(circles(graph), BTreeMap::new(), "{}: each leads back", source.display());
    }
}

/// A folder's own file names what is below it, and may be named from there.
#[test]
fn files_have_no_circular_imports() {
    for source in crates() {
        let all = sources(&source);
        let is_file = |path: &[String]| all.contains_key(path);
        let mut graph = BTreeMap::new();
        for (module, code) in &all {
            let file = |path: Vec<String>| {
                let mut above = (1..=path.len()).rev().map(|n| path[..n].to_vec());
                above.find(|path| is_file(path))
            };
            let imports = imports(module, code).into_iter().filter_map(file);
            let beside =
                |path: &Vec<String>| !path.starts_with(module) && !module.starts_with(path);
            graph.insert(module.clone(), imports.filter(beside).collect());
        }
        assert_eq!(circles(graph), BTreeMap::new(), "{}: each leads back", source.display());
    }
}

#[test]
fn pure_modules_name_nothing_of_the_outside_world() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut all = modules(&crates.join("guard/src"));
    all.retain(|module, _| PURE.contains(&module.as_str()));
    assert_eq!(all.len(), PURE.len());
    all.extend(modules(&crates.join("notes/src")));
    for (module, code) in &all {
        let named: Vec<_> = WORLD.iter().filter(|path| names(code, path)).collect();
        assert!(named.is_empty(), "{module}: {named:?}");
        assert!(!code.contains("use std::{"), "{module}: one line for each module, please");
    }
}

#[test]
fn names_ignores_comments_tests_and_longer_paths() {
    let code = code(
        "// std::fs\nuse std::fs::File;\nuse crate::filesystem;\n#[cfg(test)]\nmod tests {\nuse std::env;\n}",
    );
    let found: Vec<_> = WORLD.iter().filter(|path| names(&code, path)).collect();
    assert_eq!(found, [&"std::fs"]);
}
