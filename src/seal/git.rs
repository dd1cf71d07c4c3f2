//! The commits' section, which the guard writes: the newest whole, the older by hash and subject.

use serde::{Deserialize, Serialize};

use crate::compaction::{Document, Marker, Role, count_words};

use super::Input;
use super::draft::{Draft, Item};
use super::report::StepReport;

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its hash, as long as it shall stand in the file.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message.
    pub body: String,
}

/// What the section holds for these commits, newest first: as Markdown, without a final line
/// break, within `limit` words. Bodies go before subjects, the oldest first.
pub fn render_commits(commits: &[Commit], limit: usize) -> String {
    let items = items(commits, limit, 0);
    let written: Vec<_> = items
        .iter()
        .map(|item| crate::compaction::item::written(&item.marker, &item.text))
        .collect();
    written.join("\n")
}

/// What the section is to hold, as Markdown: these commits, and below them what stands there
/// and is no commit of `known`, until a seal takes that out. `None` where it holds that already.
pub fn section_of(
    document: &Document,
    section: usize,
    commits: &[Commit],
    known: &[Commit],
    limit: usize,
) -> Option<String> {
    let mut new = items(commits, limit, section);
    let by_hand = document.section(section).filter(|entry| !is_one_of(&entry.text, known));
    new.extend(by_hand.map(|entry| Item::new(&entry.marker, &entry.text, Some(section), section)));
    let texts = document.section(section).map(|entry| entry.text.as_str());
    if new.iter().map(|item| item.text.as_str()).eq(texts) {
        return None;
    }
    let written = new.iter().map(|i| crate::compaction::item::written(&i.marker, &i.text));
    Some(written.collect::<Vec<_>>().join("\n"))
}

/// Whether a text is what the guard writes of one of these commits, with its body or without.
fn is_one_of(text: &str, known: &[Commit]) -> bool {
    let Some((hash, _)) = text.strip_prefix('`').and_then(|t| t.split_once('`')) else {
        return false;
    };
    known.iter().filter(|commit| commit.hash == hash).any(|commit| {
        let bare = Commit { body: String::new(), ..commit.clone() };
        let forms = [&bare, commit].map(|form| items(std::slice::from_ref(form), usize::MAX, 0));
        forms.iter().flatten().any(|item| item.text == text)
    })
}

fn items(commits: &[Commit], limit: usize, section: usize) -> Vec<Item> {
    let subject = |commit: &Commit| {
        let line: Vec<_> = commit.subject.split_whitespace().collect();
        format!("`{}` {}", commit.hash.trim().replace('`', ""), line.join(" "))
    };
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
        let body = commit.body.replace("\r\n", "\n");
        let words = count_words(&body);
        if words > room {
            break;
        }
        room -= words;
        if !body.trim().is_empty() {
            line.push_str("\n\n");
            line.push_str(body.trim());
        }
    }
    lines.iter().map(|line| Item::new(&Marker::Bullet, line, Some(section), section)).collect()
}

/// Writes the commits the call brings in the place of what the section held.
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

/// Whether the file holds these commits already.
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
