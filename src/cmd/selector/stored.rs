//! Files of sessions that are outside the clients' folders.

use std::path::PathBuf;

use crate::cmd::{Failure, import};
use base::env::Env;
use store::index::Index;

/// The file of a session that the clients' folders don't have: the one that an imported session was
/// read from, or that surgery wrote.
pub fn stored_file(env: &Env, id: &str) -> anyhow::Result<Option<PathBuf>> {
    let index = Index::new(import::root(env)?);
    let imported = index.sessions()?.into_iter();
    let imported = imported.filter_map(|session| Some((session.id, session.source?)));
    let made = index.exports()?.into_iter().filter(|export| export.removed.is_none());
    let made = made.map(|export| (export.id, export.path));
    let mut files: Vec<PathBuf> = imported
        .chain(made)
        .filter(|(own, _)| own.starts_with(id))
        .map(|(_, file)| PathBuf::from(file))
        .filter(|file| file.is_file())
        .collect();
    files.sort();
    files.dedup();
    if files.len() > 1 {
        let list = import::join_paths(&files);
        let what = format!("several sessions begin with {id}");
        return Err(Failure::not_found(what).hint(format_args!("name the file:\n  {list}")).into());
    }
    Ok(files.pop())
}
