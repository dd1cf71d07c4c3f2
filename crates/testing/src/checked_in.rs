//! Files that tests generate and that are checked in.
#![allow(clippy::disallowed_methods, reason = "tests are an edge: they read and write the file")]

use std::fs;
use std::path::Path;

/// Compares a checked-in file with its expected content. Returns the first line that differs, with
/// the lines before it. If the variable at the start of `command` is set, writes the file.
pub fn difference(path: &Path, expected: &str, command: &str) -> Option<String> {
    let variable = command.split('=').next().unwrap_or_default();
    if std::env::var_os(variable).is_some() {
        fs::write(path, expected).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return None;
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    if kept == expected {
        return None;
    }
    let same = kept.lines().zip(expected.lines()).take_while(|(old, new)| old == new).count();
    let before: Vec<String> = kept
        .lines()
        .take(same)
        .skip(same.saturating_sub(3))
        .map(|l| format!("    {l}\n"))
        .collect();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
    Some(format!(
        "{}:{}: this line differs\n{}  - {}\n  + {}\nIf that is meant: {command}\n",
        path.display(),
        same + 1,
        before.concat(),
        line(&kept),
        line(expected),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_shown_with_the_command() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kept.txt");
        fs::write(&path, "a\nb\nc\n").unwrap();
        let command = "UPDATE_NOTHING_AT_ALL=1 cargo test";
        assert_eq!(difference(&path, "a\nb\nc\n", command), None);
        let said = difference(&path, "a\nb\nd\n", command).unwrap();
        assert!(said.ends_with(&format!("kept.txt:3: this line differs\n    a\n    b\n  - c\n  + d\nIf that is meant: {command}\n")), "{said}");
        let said = difference(&path, "a\nb\n", command).unwrap();
        assert!(said.contains("  - c\n  + (the end)\n"), "{said}");
    }
}
