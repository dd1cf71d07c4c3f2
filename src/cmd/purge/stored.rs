//! What is stored, and which of it was chosen. Pure functions on a list.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::cli::PurgeKind;
use crate::cmd::Failure;
use base::clock::Time;
use base::paths::Places;
use store::blocks::Folder;

/// Stored data: files of one kind that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stored {
    pub kind: PurgeKind,
    /// The path to show: the file, the folder, or the common beginning of the files' names.
    pub path: PathBuf,
    /// The paths to remove.
    #[serde(skip)]
    pub paths: Vec<PathBuf>,
    #[serde(skip)]
    pub owner: Owner,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Number of files.
    pub count: u64,
    pub bytes: u64,
    /// When one of the files was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Time>,
    /// It is notes, or a placeholder or an index table may refer to it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_reason: Option<KeepReason>,
}

/// What stored data is part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The state of a project.
    Project(Places),
    /// An imported session.
    Imported(Folder),
    /// The extracted content of a session, by its name in the store.
    Extracted(String),
}

/// Why data stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeepReason {
    Open,
    UnderWay,
    /// It is removed only with `--forget`; notes also if they are named.
    Needed,
}

/// The user's choice.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    pub session: Option<String>,
    pub job: Option<String>,
    /// Only data last written before this.
    pub before: Option<Time>,
    /// Only these kinds; empty means all.
    pub only: Vec<PurgeKind>,
    /// Also data that a placeholder may refer to.
    pub forget: bool,
}

/// The chosen data, sorted by kind.
///
/// # Errors
/// No session matches the choice, or several do.
pub fn choose(kept: Vec<Stored>, choice: &Choice) -> Result<Vec<Stored>, Failure> {
    let session = choice.session.as_deref().map(|given| find_session(&kept, given)).transpose()?;
    let takes = |kept: &Stored| {
        let session = session.is_none() || kept.session == session;
        let job = choice.job.is_none() || kept.job == choice.job;
        let old = |before: Time| kept.written.is_none_or(|at| at < before);
        let kind = choice.only.is_empty() || choice.only.contains(&kept.kind);
        session && job && kind && choice.before.is_none_or(old)
    };
    let mut chosen: Vec<Stored> = kept.into_iter().filter(takes).collect();
    for kept in &mut chosen {
        let is_named = matches!(kept.kind, PurgeKind::Notes | PurgeKind::Sealed)
            && (choice.job.is_some() || choice.only.contains(&kept.kind));
        if kept.keep_reason.is_none() && kept.needed && !choice.forget && !is_named {
            kept.keep_reason = Some(KeepReason::Needed);
        }
    }
    chosen.sort_by(|a, b| (a.kind, &a.path).cmp(&(b.kind, &b.path)));
    Ok(chosen)
}

/// The session with this id, or the only one that begins with it.
fn find_session(kept: &[Stored], given: &str) -> Result<String, Failure> {
    let all: BTreeSet<&str> = kept.iter().filter_map(|kept| kept.session.as_deref()).collect();
    if all.contains(given) {
        return Ok(given.to_owned());
    }
    let begin: Vec<&str> =
        all.into_iter().filter(|id| !given.is_empty() && id.starts_with(given)).collect();
    match begin[..] {
        [one] => Ok(one.to_owned()),
        [] => Err(Failure::not_found(format_args!("nothing is kept of a session {given} here")).hint(
            "`brain-guard purge --dry-run` lists what is, and --all-projects looks in other projects",
        )),
        _ => Err(Failure::not_found(format_args!("several sessions begin with {given}"))
            .hint(format_args!("write more of it:\n  {}", begin.join("\n  ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PurgeKind::{Extracted, Log, Notes, Outputs, Prompts, Sealed, Sessions};

    fn kept(kind: PurgeKind, path: &str, session: Option<&str>, job: Option<&str>) -> Stored {
        Stored {
            kind,
            path: path.into(),
            paths: Vec::new(),
            owner: Owner::Extracted(path.into()),
            session: session.map(str::to_owned),
            job: job.map(str::to_owned),
            count: 1,
            bytes: 10,
            written: Some("2026-03-01T00:00:00Z".parse().unwrap()),
            needed: false,
            keep_reason: None,
        }
    }

    fn all() -> Vec<Stored> {
        vec![
            kept(Sessions, "a", Some("3f0a-1"), Some("parser")),
            kept(Outputs, "b", Some("3f0a-1"), Some("parser")),
            kept(Prompts, "c", Some("3f0b-2"), Some("docs")),
            kept(Sealed, "d", None, Some("parser")),
            Stored { written: None, ..kept(Log, "e", None, None) },
            Stored { needed: true, ..kept(Extracted, "f", Some("3f0b-2"), None) },
            Stored { needed: true, ..kept(Notes, "g", None, Some("parser")) },
        ]
    }

    fn paths(choice: &Choice) -> Vec<String> {
        let chosen = choose(all(), choice).unwrap();
        chosen.iter().map(|kept| kept.path.display().to_string()).collect()
    }

    #[test]
    fn a_choice_narrows_by_session_job_age_and_kind() {
        let none = Choice::default();
        assert_eq!(paths(&none), ["c", "b", "d", "g", "e", "a", "f"]);
        let session = Choice { session: Some("3f0a".into()), ..none.clone() };
        assert_eq!(paths(&session), ["b", "a"]);
        let job = Choice { job: Some("parser".into()), ..none.clone() };
        assert_eq!(paths(&job), ["b", "d", "g", "a"]);
        let only = Choice { only: vec![Outputs, Log], ..none.clone() };
        assert_eq!(paths(&only), ["b", "e"]);
        let before = |at: &str| Choice { before: Some(at.parse().unwrap()), ..none.clone() };
        assert_eq!(paths(&before("2026-02-01T00:00:00Z")), ["e"]);
        assert_eq!(paths(&before("2026-03-02T00:00:00Z")).len(), 7);
    }

    #[test]
    fn a_session_is_named_by_the_beginning_of_its_id_where_that_is_one() {
        let choose = |given: &str| {
            choose(all(), &Choice { session: Some(given.into()), ..Choice::default() })
        };
        assert!(choose("3f0b").is_ok() && choose("3f0b-2").is_ok());
        assert!(choose("3f0").unwrap_err().to_string().contains("3f0a-1\n  3f0b-2"));
        assert!(choose("9").unwrap_err().to_string().contains("--dry-run"));
        assert!(choose("").is_err());
    }

    #[test]
    fn notes_stay_unless_they_are_named() {
        let keep_reason = |choice: &Choice| {
            let chosen = choose(all(), choice).unwrap();
            chosen.iter().find(|kept| kept.kind == Notes).unwrap().keep_reason
        };
        assert_eq!(keep_reason(&Choice::default()), Some(KeepReason::Needed));
        assert_eq!(keep_reason(&Choice { job: Some("parser".into()), ..Choice::default() }), None);
        assert_eq!(keep_reason(&Choice { only: vec![Notes], ..Choice::default() }), None);
        assert_eq!(keep_reason(&Choice { forget: true, ..Choice::default() }), None);
    }

    #[test]
    fn what_a_placeholder_may_name_stays_without_forget() {
        let keep_reason = |forget: bool, keep_reason: Option<KeepReason>| {
            let kept =
                Stored { needed: true, keep_reason, ..kept(Extracted, "f", Some("s"), None) };
            choose(vec![kept], &Choice { forget, ..Choice::default() }).unwrap()[0].keep_reason
        };
        assert_eq!(keep_reason(false, None), Some(KeepReason::Needed));
        assert_eq!(keep_reason(true, None), None);
        assert_eq!(keep_reason(true, Some(KeepReason::Open)), Some(KeepReason::Open));
    }
}
