//! Tells the user what changed in the settings, and lets it take effect when a person is there.

use super::facts::Facts;
use super::withdrawal;
use crate::settings::Settings;
use base::paths::short_digest;

/// Faults and changes that are told in one line.
const FAULTS: usize = 2;
const CHANGES: usize = 5;

/// What the user should hear about the settings, once for each version of the files: which file is
/// faulty, what took effect, and what waits for a prompt.
pub fn news(facts: &mut Facts) -> Option<String> {
    let files = &facts.files;
    let agreed = facts.session.settings.as_ref();
    if files.faults.is_empty() && agreed.is_none_or(|agreed| *agreed == files.texts) {
        return None;
    }
    let faults: Vec<String> = files.faults.iter().map(ToString::to_string).collect();
    let seen = serde_json::to_vec(&(&files.texts, &faults)).unwrap_or_default();
    let seen = short_digest(&seen);
    if facts.session.notified.settings.as_ref() == Some(&seen) {
        return None;
    }
    let mut lines = Vec::new();
    for fault in faults.iter().take(FAULTS) {
        lines.push(format!("brain-guard settings: {fault}. The file has no effect until you fix it; `brain-guard settings check` says how"));
    }
    let (before, now, wanted) = (files.agreed(), &facts.settings, files.wanted());
    if let Some(changes) = changes(facts, &before, now) {
        lines.push(format!("brain-guard: settings changed: {changes}"));
    }
    if let Some(changes) = changes(facts, now, &wanted) {
        lines.push(format!("brain-guard: settings that wait for your next prompt, or for `brain-guard settings apply`: {changes}"));
    }
    facts.update(|s| s.notified.settings = Some(seen.clone()));
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Takes what the files ask for into effect, because a person is there. Returns the line about what
/// changed.
pub fn agree(facts: &mut Facts) -> Option<String> {
    let texts = facts.files.texts.clone();
    if facts.session.settings.as_ref() == Some(&texts) {
        return None;
    }
    let mut wanted = facts.files.wanted();
    wanted.boundary.times = facts.settings.boundary.times.clone();
    wanted.extract.fixed = facts.settings.extract.fixed.clone();
    let changes = changes(facts, &facts.settings, &wanted);
    facts.update(|s| s.settings = Some(texts.clone()));
    facts.settings = wanted;
    let changed = changes.map(|changes| format!("brain-guard: settings changed: {changes}"));
    let cap = facts.mode_cap();
    let withdrawn = cap.and_then(|cap| withdrawal::withdraw(facts, &cap.why()));
    changed.into_iter().chain(withdrawn).reduce(|all, line| format!("{all}\n{line}"))
}

fn changes(facts: &Facts, old: &Settings, new: &Settings) -> Option<String> {
    let limit = facts.session.reading.map_or(u64::MAX, |reading| reading.limit);
    let mut all = old.changes(new, limit);
    if all.len() > CHANGES {
        let more = all.len() - CHANGES;
        all.truncate(CHANGES);
        all.push(format!("and {more} more"));
    }
    (!all.is_empty()).then(|| all.join(", "))
}
