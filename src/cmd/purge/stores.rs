//! The data in the store: imported sessions and extracted content.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::project::Project;
use super::size;
use super::stored::{KeepReason, Owner, Stored};
use crate::cli::PurgeKind as Kind;
use crate::cmd::import;
use base::env::Env;
use store::blocks::{self, Root};
use store::extracted::{self, Extracted, Record};
use store::index::{Imported, Index};

/// The projects whose sessions to list.
pub struct Owners<'a> {
    pub projects: &'a [Project],
    /// The folders in which the clients keep sessions of these projects.
    folders: Vec<PathBuf>,
    /// Also list sessions without a project.
    all: bool,
}

impl<'a> Owners<'a> {
    pub fn new(env: &Env, projects: &'a [Project], all: bool) -> Self {
        let roots = projects.iter().map(|project| &project.places.project);
        let folders = roots.flat_map(|root| import::of_project(env, root)).collect();
        Self { projects, folders, all }
    }

    fn is_ours(&self, session: &str, file: Option<&Path>, cwd: Option<&Path>) -> bool {
        self.all
            || self.projects.iter().any(|project| {
                project.sessions.contains_key(session) || cwd == Some(&project.places.project)
            })
            || file.is_some_and(|file| self.folders.iter().any(|folder| file.starts_with(folder)))
    }

    fn job(&self, session: &str) -> Option<String> {
        let job = self.projects.iter().find_map(|project| project.sessions.get(session));
        job.filter(|job| !job.is_empty()).cloned()
    }

    fn keep_reason(&self, session: &str) -> Option<KeepReason> {
        self.projects.iter().find_map(|project| project.keep_reason(Some(session), None))
    }

    fn kept(&self, kind: Kind, session: String, path: PathBuf, owner: Owner) -> Stored {
        let paths = vec![path.clone()];
        let (count, bytes, written) = size::measure(&paths);
        let (job, keep_reason) = (self.job(&session), self.keep_reason(&session));
        let (session, needed) = (Some(session), false);
        Stored {
            kind,
            path,
            paths,
            owner,
            session,
            job,
            count,
            bytes,
            written,
            needed,
            keep_reason,
        }
    }
}

/// Imported sessions and their editions. Subagents' sessions belong to the session that started them.
///
/// # Errors
/// An error of the store or of its databases.
pub fn imported(root: &Root, owners: &Owners) -> anyhow::Result<Vec<Stored>> {
    let index = Index::new(root.clone());
    let (mut sources, mut named) = (BTreeSet::new(), BTreeSet::new());
    for export in index.exports()?.into_iter().filter(|export| export.removed.is_none()) {
        sources.extend(export.detail.sources);
        named.extend(export.detail.tables.into_iter().map(|table| (table.agent, table.session)));
    }
    let key = |origin: Imported| ((origin.agent.clone(), origin.session.clone()), origin);
    let origins: BTreeMap<(String, String), Imported> =
        index.imported()?.into_iter().map(key).collect();
    let mut found = Vec::new();
    for folder in root.all()? {
        let of = (folder.agent.clone(), folder.session.clone());
        let origin = origins.get(&of);
        let source = origin.and_then(|origin| origin.source.as_deref());
        let cwd = origin.and_then(|origin| origin.cwd.as_deref());
        let session = source.and_then(main_session).unwrap_or_else(|| of.1.clone());
        if owners.is_ours(&session, source, cwd) {
            let owner = Owner::Imported(folder.clone());
            let editions = blocks::editions(&folder)?.into_iter();
            let editions: Vec<Stored> = editions
                .map(|edition| Stored {
                    needed: sources.contains(&of),
                    ..owners.kept(Kind::Editions, session.clone(), edition.path, owner.clone())
                })
                .collect();
            let mut kept = owners.kept(Kind::Store, session, folder.path, owner.clone());
            // They are listed apart.
            kept.count = kept.count.saturating_sub(editions.len() as u64);
            let apart: u64 = editions.iter().map(|edition| edition.bytes).sum();
            kept.bytes = kept.bytes.saturating_sub(apart);
            found.push(Stored { needed: named.contains(&of), ..kept });
            found.extend(editions);
        }
    }
    Ok(found)
}

/// The session that a subagent's file belongs to: `SESSION/subagents/agent-….jsonl`.
fn main_session(file: &Path) -> Option<String> {
    let folder = file.parent().filter(|folder| folder.ends_with("subagents"))?;
    Some(folder.parent()?.file_name()?.to_str()?.to_owned())
}

/// Sessions with extracted content. A placeholder may refer to any of it.
pub fn extracted(root: &Root, owners: &Owners) -> Vec<Stored> {
    let all = extracted::find_ledgers(root).found.into_iter();
    all.filter_map(|extracted| extracted_entry(&extracted, owners)).collect()
}

fn extracted_entry(extracted: &Extracted, owners: &Owners) -> Option<Stored> {
    let session = extracted.folder.file_name()?.to_str()?.to_owned();
    let ledger = extracted.ledger().unwrap_or_default();
    let extracts: Vec<_> = ledger.records.iter().filter_map(Record::extract).collect();
    let file = extracts.last().map(|extract| &*extract.file);
    if !owners.is_ours(&session, file, None) {
        return None;
    }
    let objects: BTreeMap<String, u64> =
        extracts.iter().map(|extract| (extract.object.to_string(), extract.bytes)).collect();
    let owner = Owner::Extracted(extracted.name());
    let kept = owners.kept(Kind::Extracted, session, extracted.folder.clone(), owner);
    let (count, bytes) = (kept.count + objects.len() as u64, objects.values().sum::<u64>());
    Some(Stored { count, bytes: kept.bytes + bytes, needed: true, ..kept })
}
