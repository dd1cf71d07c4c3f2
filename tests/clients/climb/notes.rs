//! Notes with the mistakes of a hasty agent, and the compaction file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::world::jobs;

/// The mistakes in an edit of the compaction file.
pub const SLOPPY: [&str; 6] =
    ["heading level", "numbers", "tabs", "open fence", "above the headings", "paragraph"];

/// The text of the file after an edit with this mistake, which adds the fact.
pub fn sloppy(form: &str, old: &str, fact: &str) -> String {
    let forward = "## Forward State\n";
    let below = |entries: &str| {
        if old.contains(forward) {
            old.replacen(forward, &format!("{forward}{entries}"), 1)
        } else {
            format!("{old}\n{forward}{entries}")
        }
    };
    match form {
        "heading level" => format!("{old}\n# Forward State\n\n* {fact}, then test it\n"),
        "numbers" => below(&format!("1. {fact} comes next\n2) and the tests after it\n")),
        "tabs" => below(&format!("\t-\t{fact} comes next\n\t\t-\twith a note below it\n")),
        "open fence" => format!("{old}\n## Open Threads\n- it hangs:\n```sh\nmake {fact}\n"),
        "above the headings" => match old.find("\n## ") {
            Some(at) => format!("{}\n- {fact} was found\n{}", &old[..at], &old[at..]),
            None => format!("- {fact} was found\n{old}"),
        },
        _ => below(&format!("Then {fact} has to be done,\nas the user said.\n\n")),
    }
}

/// The compaction file of the project's only job.
pub fn file(state: &Path) -> Option<PathBuf> {
    let files = jobs(state).into_iter().map(|job| job.join("compaction.md"));
    let mut files: Vec<_> = files.filter(|f| f.is_file()).collect();
    files.sort();
    files.pop()
}

/// The sealed versions in order.
pub fn sealed(state: &Path) -> Vec<PathBuf> {
    let mut found = archive(state);
    found.retain(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        name.starts_with('v') && name[1..].chars().all(|c| c.is_ascii_digit())
    });
    found.sort();
    found
}

/// All files with sealed or removed notes.
pub fn archive(state: &Path) -> Vec<PathBuf> {
    let folders = jobs(state).into_iter().filter_map(|job| fs::read_dir(job.join("sealed")).ok());
    folders.flatten().flatten().map(|entry| entry.path()).collect()
}

/// The lines of notes without headings, front matter and comments.
pub fn content(text: &str) -> Vec<String> {
    let text = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, t)| t);
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        plain.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let lines = plain.lines().map(str::trim_end);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

/// Counts the words of the compaction file.
pub fn words(state: &Path) -> usize {
    let text = file(state).and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    content(&text).iter().map(|line| line.split_whitespace().count()).sum()
}

/// The ids of the open entries under Forward State.
pub fn next_steps(state: &Path) -> Vec<String> {
    let text = file(state).and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let shape = notes::compaction::Shape::default();
    let document = notes::compaction::parse(&text, &shape);
    let open = document.section(0).filter(|entry| !entry.closed && !entry.none);
    open.map(|entry| entry.id.to_string()).collect()
}
