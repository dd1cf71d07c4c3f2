//! The layers, by the modules' `use` lines and full paths: what is pure touches
//! neither the world nor the modules that do, and the hook loads nothing heavy.
#![allow(clippy::disallowed_methods, reason = "tests are an edge: they read the source")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules that are told everything they need.
const PURE: [&str; 10] = [
    "policy",
    "compaction",
    "seal",
    "job",
    "boundary",
    "transcript",
    "git",
    "report",
    "surgery",
    "extract",
];

/// What these may not name.
const WORLD: [&str; 18] = [
    "crate::store",
    "crate::carrier",
    "crate::process",
    "crate::hook",
    "crate::cmd",
    "crate::cli",
    "crate::env",
    "crate::log",
    "crate::texts",
    "crate::index",
    "rusqlite",
    "std::fs",
    "std::env",
    "std::process",
    "std::net",
    "std::os",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// What the hook may not name: it starts at every tool call.
const HEAVY: [&str; 11] = [
    "crate::index",
    "crate::surgery",
    "crate::extract",
    "rusqlite",
    "tiktoken_rs",
    "rmcp",
    "tokio",
    "tracing",
    "croner",
    "globset",
    "zstd",
];

/// What the hook's path goes through besides `hook` itself.
const HOT: [&str; 5] =
    ["policy", "store/tail", "transcript/fill", "transcript/row", "transcript/branch"];

/// A module's code without its tests and comments.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let source = source.split("#[cfg(test)]\npub(crate) mod tests").next().unwrap_or_default();
    let lines =
        source.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths that code names, `use` groups spelled out: `a::{b, c::{d}}` is `a::b`, `a::c::d`.
fn paths(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let begins = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':');
        if begins {
            let line = code[..at].matches('\n').count() + 1;
            at += path(rest, "", line, &mut found);
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// Reads one path behind `prefix`; returns its length.
fn path(text: &str, prefix: &str, line: usize, found: &mut Vec<(usize, String)>) -> usize {
    let name = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let here = if prefix.is_empty() {
        text[..name].to_owned()
    } else {
        format!("{prefix}::{}", &text[..name])
    };
    let Some(behind) = text[name..].strip_prefix("::") else {
        found.push((line, here));
        return name;
    };
    let begun = name + 2;
    let Some(group) = behind.strip_prefix('{') else {
        if behind.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            return begun + path(behind, &here, line, found);
        }
        found.push((line, here));
        return begun;
    };
    let mut at = 0;
    while at < group.len() && !group[at..].starts_with('}') {
        let rest = &group[at..];
        if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let below = group[..at].matches('\n').count();
            at += path(rest, &here, line + below, found);
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    begun + 2 + at
}

/// The places in this module that name something forbidden. `super` is spelled out.
fn violations(module: &str, file: &str, source: &str, forbidden: &[&str]) -> Vec<String> {
    let depth = file.matches('/').count();
    let mut wrong = Vec::new();
    for (line, path) in paths(&code(source)) {
        let ups = path.matches("super::").count();
        // One `super` of `policy/x.rs` is `crate::policy`, of `policy/mod.rs` the crate.
        let height = depth - usize::from(file.ends_with("/mod.rs"));
        let path = match path.rsplit_once("super::") {
            Some((_, rest)) if ups > height => format!("crate::{rest}"),
            Some((_, rest)) => format!("crate::{module}::{rest}"),
            None => path.replace("brain_guard::", "crate::"),
        };
        let hit =
            |f: &&&str| path.strip_prefix(**f).is_some_and(|r| r.is_empty() || r.starts_with("::"));
        if let Some(what) = forbidden.iter().find(hit) {
            wrong.push(format!("{file}:{line} names {what}"));
        }
    }
    wrong
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push(path);
        }
    }
    all.sort();
    all
}

fn in_module(module: &str, forbidden: &[&str]) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = files(&source.join(module));
    let single = source.join(format!("{module}.rs"));
    if single.is_file() {
        found.push(single);
    }
    assert!(!found.is_empty(), "there is no module {module}");
    let mut wrong = Vec::new();
    for path in found {
        let file = path.strip_prefix(&source).expect("below").display().to_string();
        // Files of nothing but tests are an edge of their own.
        let edge = ["/tests.rs", "/tests/", "/laws.rs", "/laws/"];
        if !edge.iter().any(|part| file.contains(part)) {
            wrong.extend(violations(
                module,
                &file,
                &fs::read_to_string(&path).expect("source"),
                forbidden,
            ));
        }
    }
    wrong
}

#[test]
fn what_is_pure_names_nothing_of_the_world() {
    let wrong: Vec<String> = PURE.iter().flat_map(|module| in_module(module, &WORLD)).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_hook_names_nothing_heavy() {
    let hook = ["hook"].iter().chain(&HOT);
    let wrong: Vec<String> = hook.flat_map(|module| in_module(module, &HEAVY)).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn only_the_index_names_the_database() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let all = fs::read_dir(source).expect("source").flatten();
    let names = all.map(|entry| entry.path().file_stem().expect("name").display().to_string());
    let others = names.filter(|name| name != "index");
    let wrong: Vec<String> = others.flat_map(|name| in_module(&name, &["rusqlite"])).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

/// The top modules that this one names.
fn imports(module: &str, all: &BTreeSet<String>) -> BTreeSet<String> {
    let named: Vec<String> = all.iter().map(|other| format!("crate::{other}")).collect();
    let forbidden: Vec<&str> = named.iter().map(String::as_str).collect();
    let found = in_module(module, &forbidden);
    let names = found.iter().filter_map(|line| line.rsplit_once("crate::"));
    names.map(|(_, other)| other.to_owned()).filter(|other| other != module).collect()
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let entries = fs::read_dir(source).expect("source").flatten();
    let names = entries.map(|entry| entry.path().file_stem().expect("name").display().to_string());
    let all: BTreeSet<String> = names.filter(|name| name != "lib" && name != "main").collect();
    let mut left: BTreeMap<&String, BTreeSet<String>> =
        all.iter().map(|module| (module, imports(module, &all))).collect();
    // What imports nothing that is left is below all the rest.
    while let Some(lowest) = left.iter().find(|(_, imports)| imports.is_empty()) {
        let lowest = *lowest.0;
        left.remove(lowest);
        for imports in left.values_mut() {
            imports.remove(lowest);
        }
    }
    assert_eq!(left, BTreeMap::new(), "each of these leads back to itself");
}

/// The test itself, on code that breaks the rules in every way there is.
#[test]
fn a_violation_is_found_however_it_is_written() {
    for source in [
        "use crate::store::state::Client;",
        "use crate::{clock::Time, store::{self, paths}};",
        "use std::{\n    collections::BTreeMap,\n    fs,\n};",
        "use std::fs::{self as files, File};",
        "fn f() { let _ = std::env::var(\"X\"); }",
        "use std::time::{Duration, Instant};",
        "use super::super::store::atomic;",
        "fn f() -> crate::env::Env { todo!() }",
    ] {
        assert_ne!(
            violations("policy", "policy/x.rs", source, &WORLD),
            Vec::<String>::new(),
            "{source}"
        );
    }
    assert_eq!(violations("policy", "policy/mod.rs", "use super::store::x;", &WORLD).len(), 1);
    assert_eq!(violations("hook", "hook/mod.rs", "use crate::index::search;", &HEAVY).len(), 1);
    let found =
        violations("policy", "policy/x.rs", "\n\nuse std::{\n    fmt,\n    fs,\n};", &WORLD);
    assert_eq!(found, ["policy/x.rs:5 names std::fs"]);
}

#[test]
fn what_is_allowed_is_not_found() {
    for source in [
        "use crate::clock::Time;\nuse std::fmt;\nuse std::time::Duration;",
        "// use std::fs;\n/// `std::env::var`",
        "use super::store::x;\nuse crate::storey::x;\nuse std::fsx;",
        "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}",
    ] {
        assert_eq!(
            violations("policy", "policy/x.rs", source, &WORLD),
            Vec::<String>::new(),
            "{source}"
        );
    }
}
