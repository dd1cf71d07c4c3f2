//! The section of commits, which the guard writes: the newest in full, older ones as hash and
//! subject.

use serde::{Deserialize, Serialize};

use crate::compaction::{Document, Marker, Role, count_words, reads_back};

use super::Input;
use super::draft::{Draft, Item};
use super::report::StepReport;

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its hash, as long as the file shows it.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message.
    pub body: String,
}

/// The section for these commits, newest first: Markdown of at most `limit` words, without a final
/// newline. Bodies are left out before subjects, the oldest first.
pub fn render_commits(commits: &[Commit], limit: usize) -> String {
    let items = items(commits, limit, 0);
    let written: Vec<_> = items
        .iter()
        .map(|item| crate::compaction::item::written(&item.marker, &item.text))
        .collect();
    written.join("\n")
}

/// Maximum words of a subject. Without a blank line the whole message is the subject, and one long
/// message would leave no room for other commits.
const SUBJECT_WORDS: usize = 40;

/// The first line for a commit.
fn subject(commit: &Commit) -> String {
    let mut words = commit.subject.split_whitespace();
    let mut line: Vec<_> = words.by_ref().take(SUBJECT_WORDS).collect();
    line.extend(words.next().map(|_| "…"));
    format!("`{}` {}", commit.hash.trim().replace('`', ""), line.join(" "))
}

/// A message's body in a form that parses back unchanged: all line ends become `\n`. Lines of white
/// space become empty, also those with form feeds or no-break spaces, which git keeps.
fn body(commit: &Commit) -> String {
    let even = commit.body.replace("\r\n", "\n").replace('\r', "\n");
    let blank = |line: &str| line.trim().is_empty();
    let lines: Vec<_> = even.split('\n').map(|l| if blank(l) { "" } else { l }).collect();
    lines.join("\n").trim().to_owned()
}

fn items(commits: &[Commit], limit: usize, section: usize) -> Vec<Item> {
    let mut room = limit;
    let mut lines = Vec::new();
    for commit in commits {
        let line = subject(commit);
        let words = count_words(&line);
        if words > room {
            break;
        }
        room -= words;
        lines.push(line);
    }
    for (line, commit) in lines.iter_mut().zip(commits) {
        let body = body(commit);
        let words = count_words(&body);
        if words > room {
            break;
        }
        room -= words;
        if !body.is_empty() {
            line.push_str("\n\n");
            line.push_str(&body);
        }
    }
    let item = |text: &str| Item::new(&Marker::Bullet, text, Some(section), section);
    let sound = |(line, commit): (&String, &Commit)| {
        let whole = item(line);
        // The agent cannot fix this section, so text that does not parse back would fail all seals.
        if reads_back(&whole.marker, &whole.text) { whole } else { item(&subject(commit)) }
    };
    lines.iter().zip(commits).map(sound).collect()
}

/// Replaces the section's entries by the commits from the input.
pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    let (Some(commits), Some(section)) = (draft.input.git, draft.shape().with_role(Role::Git))
    else {
        return;
    };
    let new = items(commits, draft.slice(section).unwrap_or(0), section);
    for old in std::mem::take(&mut draft.git) {
        if !new.iter().any(|item| item.text == old.text) {
            draft.record(&old, None, log);
        }
    }
    draft.git = new;
}

/// Whether the file already has these commits.
pub(super) fn is_current(input: &Input, document: &Document) -> bool {
    let (Some(commits), Some(section)) = (input.git, input.shape.with_role(Role::Git)) else {
        return true;
    };
    let limit = input.shape.sections.get(section).and_then(|at| input.limits.slice(at));
    let new = items(commits, limit.unwrap_or(0), section);
    new.iter()
        .map(|item| item.text.as_str())
        .eq(document.section(section).map(|entry| entry.text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::{Shape, parse};

    fn commit(subject: &str, body: &str) -> Commit {
        Commit { hash: "1a2b3c4d5e".into(), subject: subject.into(), body: body.into() }
    }

    #[test]
    fn whatever_a_message_holds_reads_back_as_one_commit() {
        let shape = Shape::default();
        let name = &shape.sections[shape.with_role(Role::Git).unwrap()].name;
        for text in ["a\rb", "a\n\u{c}\nb", "a\n \t\nb", "a\n\u{a0}\nb", "\u{b}\n- a", "~~~\n\r```"]
        {
            let commits = [commit("x", text), commit("y", "")];
            let body = render_commits(&commits, 100);
            let file = format!("## {name}\n\n{body}\n");
            let document = parse(&file, &shape);
            let section = shape.with_role(Role::Git).unwrap();
            assert_eq!(document.section(section).count(), 2, "{text:?}: {file}");
        }
    }

    #[test]
    fn a_message_that_is_all_subject_leaves_room_for_others() {
        let commits = [commit(&"word ".repeat(400), ""), commit("y", "")];
        let body = render_commits(&commits, 100);
        assert!(body.contains("word …") && body.ends_with("` y"), "{body}");
    }
}
