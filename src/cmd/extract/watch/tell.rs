//! What watching says of a look: of a session only what is new about it.

use base::shown::{breaks_even, size};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::look::{Came, Seen};
use crate::cmd::inscribe::count;
use crate::cmd::{err, out};
use base::clock::Time;
use base::shown::minute;
use extract::when::Verdict;

/// A look.
#[derive(Debug, Serialize)]
pub struct Report {
    /// When it was.
    pub at: Time,
    /// Whether it acts: `extract.enabled`.
    pub enabled: bool,
    /// Files there are.
    pub files: usize,
    /// Those that were read, or would have been.
    pub seen: Vec<Seen>,
    /// What could not be looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// When the next look is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Time>,
}

/// What was said.
#[derive(Debug, Default)]
pub struct Teller {
    /// Of a file: what came of it last, and why.
    told: BTreeMap<PathBuf, String>,
    /// Of sessions of which an edit is not ended: why, without the times in it.
    waits: BTreeMap<PathBuf, String>,
    /// Of anything else.
    once: BTreeSet<String>,
}

impl Teller {
    /// Says what is new, in words.
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
                // How long ago it was written is another number each time.
                Came::Refused { .. } => "refused".to_owned(),
                Came::Never { why } => {
                    // There may be a thousand of them in a folder.
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

    /// These are the sessions of which an edit is not ended: of any other it is told anew.
    pub fn waiting(&mut self, sessions: &[PathBuf]) {
        self.waits.retain(|session, _| sessions.contains(session));
    }

    /// Says why the edit of a session can't be ended yet, once and where that changed.
    pub fn waits(&mut self, session: &Path, why: &str) {
        let about = timeless(why);
        if self.waits.get(session) != Some(&about) {
            err(why);
            self.waits.insert(session.to_owned(), about);
        }
    }

    /// Says something that was not said yet.
    pub fn once(&mut self, what: &str) {
        if self.once.insert(what.to_owned()) {
            err(what);
        }
    }
}

/// Words without how long ago something was: that is another number each time.
fn timeless(words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let is_time = |n: usize| words.get(n + 2).is_some_and(|word| word.starts_with("ago"));
    let kept = words.iter().enumerate().filter(|(n, _)| !is_time(*n));
    kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}

/// Why, with the file where that doesn't say it.
fn named(path: &Path, why: &str) -> String {
    let path = path.display().to_string();
    if why.contains(&path) { why.to_owned() } else { format!("{path}: {why}") }
}

/// What came of a session that has something to extract.
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
            "waits: {}, by which the file gets {bytes} bytes shorter, which is less than `extract.min_saving`",
            count(*values as usize, "value")
        ),
        Came::Waits { turns, until } => {
            let saved =
                turns.map_or_else(|| "saves no tokens".to_owned(), |n| breaks_even(n.into()));
            format!(
                "waits: extracting {saved}; its prompt cache expires at {}",
                minute(Some(*until))
            )
        }
        _ => String::new(),
    }
}

/// A look, on a line.
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
            "/s/one.jsonl was written 3 s ago: a run may be under way",
            "/s/one.jsonl was written 12 s ago: a run may be under way",
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
        // It was ended: another one is told anew.
        teller.waiting(&[]);
        assert!(teller.waits.is_empty());
    }
}
