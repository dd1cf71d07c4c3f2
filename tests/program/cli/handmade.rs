//! Files written by hand: append, phase exit and seal do what a careful reader expects, or refuse
//! and name the line.

mod cases;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use notes::compaction::{Document, Shape, parse};
use serde_json::{Value, json};

use crate::support::hook::{Hook, fixtures};

const SLICE: &str = "## forward\n- the next step of the slice\n\n## threads\n- none: the slice leaves nothing open\n\n\
                     ## risks\n- a risk of the slice\n\n## insight\n- an insight of the slice\n";

/// The files, each with LF and with CRLF line ends.
fn files() -> Vec<(String, String)> {
    let dir = fixtures().join("compaction/handmade");
    let mut names: Vec<PathBuf> =
        fs::read_dir(dir).expect("fixtures").flatten().map(|entry| entry.path()).collect();
    names.sort();
    assert!(names.len() >= 9, "{names:?}");
    let mut files = Vec::new();
    for path in names {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("name").to_owned();
        let text = fs::read_to_string(&path).expect("fixture");
        assert!(!text.contains('\r'), "{name}: line ends are the test's to change");
        files.push((format!("{name}, CRLF"), text.replace('\n', "\r\n")));
        files.push((name, text));
    }
    files
}

fn fixture(name: &str) -> String {
    files().into_iter().find(|(file, _)| file == name).expect("fixture").1
}

fn german() -> Value {
    let section = |name: &str, role: &str| json!({"name": name, "role": role, "prompt": format!("Was in „{name}“ gehört.")});
    json!({"file": {"shape": {"sections": [
        section("Wie es weitergeht", "forward"), section("Offene Fäden", "threads"), section("Annahmen", "risks"),
        section("Arbeitsweise", "insight"), section("Früheres", "summary"), section("Git-Meldungen", "git"),
    ]}}})
}

/// A session whose job has this file, and the shape in effect.
fn job(name: &str, text: &str) -> (Hook, Shape) {
    let hook = Hook::begun();
    let mut shape = Shape::default();
    if name.starts_with("german") {
        hook.settings(&german());
        shape = serde_json::from_value(german()["file"]["shape"].clone()).expect("shape");
    }
    write(&hook, text.as_bytes());
    (hook, shape)
}

fn write(hook: &Hook, bytes: &[u8]) {
    let file = hook.file();
    fs::create_dir_all(file.parent().expect("folder")).expect("folder");
    fs::write(file, bytes).expect("file");
}

fn text(hook: &Hook) -> String {
    fs::read_to_string(hook.file()).expect("file")
}

/// Each entry of a document with its section, white space normalized.
fn says(document: &Document) -> Vec<(String, String)> {
    // An unclosed fence gets its closing line from the text after it.
    let even = |text: &str| {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        words.trim_end_matches("```").trim_end().to_owned()
    };
    let name = |section| document.shape().name(section).to_owned();
    document.entries().map(|entry| (name(entry.section), even(&entry.text))).collect()
}

/// Whether `new` is `old` with whole lines inserted and no byte changed.
fn only_adds(old: &str, new: &str) -> bool {
    let mut lines = new.split_inclusive('\n');
    old.split_inclusive('\n').all(|line| {
        // The last line may have gained its newline.
        lines.any(|other| other == line || !line.ends_with('\n') && other.trim_end() == line)
    })
}

#[test]
fn append_adds_one_line_and_changes_no_other() {
    for (name, source) in files() {
        let (hook, shape) = job(&name, &source);
        for (kind, role) in
            [("thread", "threads"), ("risk", "risks"), ("why", "insight"), ("scope", "forward")]
        {
            let before = text(&hook);
            let note = format!("a note of kind {kind}");
            let answer = hook.raw(&["append", "--kind", kind, &note], b"");
            assert_eq!(answer.code, Some(0), "{name}: {answer:?}");
            let after = text(&hook);
            assert!(only_adds(&before, &after), "{name}: {after}");
            let (was, is) = (parse(&before, &shape), parse(&after, &shape));
            let section = shape.name(shape.find(role)).to_owned();
            let mut expected = says(&was);
            expected.push((section, note));
            let (is, expected): (BTreeSet<_>, BTreeSet<_>) =
                (says(&is).into_iter().collect(), expected.into_iter().collect());
            assert_eq!(is, expected, "{name}");
        }
        if name.ends_with("CRLF") {
            let after = text(&hook);
            assert_eq!(
                after.matches('\n').count(),
                after.matches("\r\n").count(),
                "{name}: mixed line ends"
            );
        }
    }
}

#[test]
fn phase_exit_only_adds_lines_to_any_file() {
    for (name, source) in files() {
        let (hook, shape) = job(&name, &source);
        assert_eq!(hook.raw(&["phase", "enter", "by hand"], b"").code, Some(0), "{name}");
        assert_eq!(text(&hook), source, "{name}: entering writes nothing there");
        let refused = hook.raw(&["phase", "exit"], b"");
        assert_eq!(refused.code, Some(1), "{name}: what stood there is no work of the phase");
        assert_eq!(refused.stderr.matches("no entry").count(), 3, "{name}: {refused:?}");
        let left = hook.raw(&["phase", "exit"], SLICE.as_bytes());
        assert_eq!(left.code, Some(0), "{name}: {left:?}");
        let after = text(&hook);
        assert!(only_adds(&source, &after), "{name}: {after}");
        let document = parse(&after, &shape);
        for (role, note) in [
            ("forward", "the next step of the slice"),
            ("threads", "none: the slice leaves nothing open"),
            ("risks", "a risk of the slice"),
            ("insight", "an insight of the slice"),
        ] {
            let section = shape.name(shape.find(role)).to_owned();
            assert!(
                says(&document).contains(&(section, note.to_owned())),
                "{name}: {note}: {after}"
            );
        }
    }
}

/// A line's words without its markers.
fn words(line: &str) -> String {
    let line = line.trim().trim_start_matches(['#', '-', '*', '+', '>', ' ', '\t']);
    let line = line.strip_prefix("[x]").unwrap_or(line);
    let letters = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    letters.collect::<Vec<_>>().join(" ")
}

#[test]
fn seal_restores_the_shape_and_loses_no_line() {
    for (name, source) in files() {
        let (hook, shape) = job(&name, &source);
        let answer = crate::cli::seal::seal(&hook, &[]);
        assert_eq!(answer.code, Some(0), "{name}: {answer:?}");
        let sealed = text(&hook);
        let headings: Vec<&str> =
            sealed.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let names: Vec<&str> = shape.sections.iter().map(|section| section.name.as_str()).collect();
        assert_eq!(headings, names, "{name}: each section once, in order");
        assert!(!sealed.contains('\r'), "{name}");
        let folder = hook.file().with_file_name("sealed");
        assert_eq!(fs::read_to_string(folder.join("v0001.raw.md")).expect("raw"), source, "{name}");
        let removed = fs::read_to_string(folder.join("v0001.removed.md")).unwrap_or_default();
        let kept: BTreeSet<String> = sealed.lines().chain(removed.lines()).map(words).collect();
        let lost: Vec<&str> = source
            .lines()
            .filter(|line| *line != "version: 0")
            .filter(|line| shape.find(line.trim_start_matches(['#', ' '])).is_none())
            .filter(|line| {
                !kept.contains(&words(line)) && !kept.iter().any(|kept| kept.contains(&words(line)))
            })
            .collect();
        assert!(lost.is_empty(), "{name}: {lost:?}\n{sealed}\n{removed}");
        let again = crate::cli::seal::seal(&hook, &[]);
        assert!(again.stdout.starts_with("already sealed"), "{name}: {again:?}");
        assert_eq!(text(&hook), sealed, "{name}");
    }
}
