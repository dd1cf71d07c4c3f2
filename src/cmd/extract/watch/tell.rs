//! Prints the results of checks; for each session only what changed.

use base::shown::{breaks_even, size};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::look::{Came, Seen};
use crate::cmd::import::count;
use crate::cmd::{err, out};
use base::clock::Time;
use base::shown::local_minute;
use extract::when::Verdict;

/// One check.
#[derive(Debug, Serialize)]
pub struct Report {
    pub at: Time,
    /// Whether it may extract: `extract.enabled`.
    pub enabled: bool,
    pub files: usize,
    /// Files that were read, or are in use.
    pub seen: Vec<Seen>,
    /// Errors for paths that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// The next check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Time>,
}

/// What was printed.
#[derive(Debug, Default)]
pub struct Teller {
    /// The last result of each file.
    told: BTreeMap<PathBuf, String>,
    /// Why a session's edit is unfinished, without ages.
    waits: BTreeMap<PathBuf, String>,
    /// Other messages.
    once: BTreeSet<String>,
}

impl Teller {
    /// Prints what is new, as text.
    pub fn tell(&mut self, report: &Report) {
        for why in &report.left {
            self.once(why);
        }
        for Seen { path, came } in &report.seen {
            let shown = path.display();
            let about = match came {
                Came::Extracted { .. } => "extracted".to_owned(),
                Came::Would { values, .. } => format!("would {values}"),
                Came::Waits { until, .. } => format!("waits {until}"),
                Came::Little { bytes, .. } => format!("little {bytes}"),
                Came::Nothing { .. } => "nothing".to_owned(),
                // The reason contains an age, which differs each time.
                Came::Refused { .. } => "refused".to_owned(),
                Came::Never { why } => {
                    // A folder may hold a thousand of them.
                    if !self.once.contains(why) {
                        err(format_args!("{shown}: {why}"));
                        self.once.insert(why.clone());
                    }
                    continue;
                }
                Came::Unsupported { why } | Came::Failed { why } => why.clone(),
            };
            if self.told.insert(path.clone(), about.clone()).is_some_and(|before| before == about)
                && !matches!(came, Came::Extracted { .. })
            {
                continue;
            }
            match came {
                Came::Nothing { .. } | Came::Never { .. } => {}
                Came::Extracted { .. }
                | Came::Would { .. }
                | Came::Waits { .. }
                | Came::Little { .. } => {
                    out(format_args!("{shown}: {}", words(came)));
                }
                Came::Refused { why } => err(format_args!("{}; later", named(path, why))),
                Came::Unsupported { why } | Came::Failed { why } => err(named(path, why)),
            }
        }
    }

    /// Keeps only these sessions with unfinished edits; any other is reported anew.
    pub fn waiting(&mut self, sessions: &[PathBuf]) {
        self.waits.retain(|session, _| sessions.contains(session));
    }

    /// Prints why a session's edit is unfinished, if that changed.
    pub fn waits(&mut self, session: &Path, why: &str) {
        let about = without_ages(why);
        if self.waits.get(session) != Some(&about) {
            err(why);
            self.waits.insert(session.to_owned(), about);
        }
    }

    /// Prints a message once.
    pub fn once(&mut self, what: &str) {
        if self.once.insert(what.to_owned()) {
            err(what);
        }
    }
}

/// Removes ages ("3 s ago") from a text, because they differ each time.
fn without_ages(words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let is_time = |n: usize| words.get(n + 2).is_some_and(|word| word.starts_with("ago"));
    let kept = words.iter().enumerate().filter(|(n, _)| !is_time(*n));
    kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}

/// The reason, with the file if it is not in it.
fn named(path: &Path, why: &str) -> String {
    let path = path.display().to_string();
    if why.contains(&path) { why.to_owned() } else { format!("{path}: {why}") }
}

/// Describes a result with values to extract.
fn words(came: &Came) -> String {
    match came {
        Came::Extracted { done, verdict, .. } => {
            let why = match verdict {
                Verdict::Cold => "the prompt cache had expired".to_owned(),
                Verdict::Pays(requests) => breaks_even((*requests).into()),
                Verdict::Nothing => "only the file gets smaller".to_owned(),
                _ => "at every look".to_owned(),
            };
            format!(
                "{} of {} extracted, {} ({why})",
                count(done.values as usize, "value"),
                if done.entries == 1 {
                    "1 entry".into()
                } else {
                    format!("{} entries", done.entries)
                },
                size(done.bytes),
            )
        }
        Came::Would { values, bytes } => format!(
            "{}, {}, would be extracted; `extract.enabled` is false",
            count(*values as usize, "value"),
            size(*bytes)
        ),
        Came::Little { values, bytes, .. } => format!(
            "waits: {}, by which the file gets {bytes} bytes shorter, which is too little to write it anew",
            count(*values as usize, "value")
        ),
        Came::Waits { turns, until } => {
            let saved =
                turns.map_or_else(|| "saves no tokens".to_owned(), |n| breaks_even(n.into()));
            format!(
                "waits: extracting {saved}; its prompt cache expires at {}",
                local_minute(Some(*until))
            )
        }
        _ => String::new(),
    }
}

/// A check on one line.
pub fn summary(report: &Report) -> String {
    let of = |which: fn(&Came) -> bool| report.seen.iter().filter(|seen| which(&seen.came)).count();
    format!(
        "{} looked at: {} extracted from, {} with nothing to extract, {} waiting, {} refused, {} failed",
        count(report.files, "file"),
        of(|came| matches!(came, Came::Extracted { .. })),
        of(|came| matches!(came, Came::Nothing { .. })),
        of(|came| matches!(came, Came::Waits { .. } | Came::Would { .. } | Came::Little { .. })),
        of(|came| matches!(
            came,
            Came::Refused { .. } | Came::Never { .. } | Came::Unsupported { .. }
        )),
        of(|came| matches!(came, Came::Failed { .. })),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_told_once_and_where_it_changed() {
        let mut teller = Teller::default();
        let session = PathBuf::from("/s/one.jsonl");
        let mut told = Vec::new();
        for why in [
            "/s/one.jsonl was written 3 s ago, so a run may be in progress",
            "/s/one.jsonl was written 12 s ago, so a run may be in progress",
            "process 7 has had it open",
            "process 8 has had it open",
        ] {
            let before = teller.waits.clone();
            teller.waits(&session, why);
            told.push(teller.waits != before);
        }
        assert_eq!(told, [true, false, true, true]);
        teller.waiting(std::slice::from_ref(&session));
        assert!(!teller.waits.is_empty());
        // It was finished, so a new one is reported.
        teller.waiting(&[]);
        assert!(teller.waits.is_empty());
    }
}
