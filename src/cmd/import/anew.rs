//! Reindexes or reimports sessions that are already in the store.

use std::io;
use std::path::Path;

use super::engagement::Engagements;
use super::feed::Feed;
use super::session::{Done, PATIENCE, hold, session};
use super::source::Source;
use sessions::dialect;
use store::blocks::{self, Folder, Reader, Root, Writer};
use store::index::Index;

/// Rebuilds a session's index from its blocks, without its file; keeps tags.
///
/// # Errors
/// A damaged block.
pub fn reindex(index: &Index, folder: &Folder) -> anyhow::Result<u32> {
    let _held = hold(folder, PATIENCE)?;
    let before = index.session(folder).ok();
    let progress = index.progress(folder)?;
    let reader = match Reader::open(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        other => Some(other?),
    };
    let mut first = Vec::new();
    let stop = |_: u32, row: &[u8]| {
        first.extend_from_slice(row);
        Err(io::ErrorKind::Interrupted.into())
    };
    match reader.as_ref().map_or(Ok(()), |reader| reader.rows(0, stop)) {
        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
        other => other?,
    }
    let source = Source {
        path: progress.map(|progress| progress.source).unwrap_or_default(),
        agent: folder.agent.clone(),
        session: folder.session.clone(),
        parent: before.and_then(|session| session.parent),
        subagent: false,
    };
    let mut feed = Feed::new(folder, &source, dialect::detect(&first));
    index.reset(folder)?;
    if let Some(reader) = reader {
        reader.rows(0, |_, row| {
            feed.adopt(row);
            Ok(())
        })?;
    }
    let mut writer = Writer::open(&folder.blocks())?;
    feed.record(index, &mut writer, &Engagements::none(), true)?;
    Ok(feed.rounds())
}

/// Sets a session's blocks aside and imports its file from the start; keeps tags.
///
/// # Errors
/// As for an import, and a missing file.
pub fn renew(root: &Root, index: &Index, folder: &Folder, path: &Path) -> anyhow::Result<Done> {
    let parent = index.session(folder).ok().and_then(|session| session.parent);
    {
        let _held = hold(folder, PATIENCE)?;
        blocks::set_aside(folder)?;
        index.reset(folder)?;
    }
    let mut source = Source::of(path, Some(&folder.agent))?;
    (source.agent, source.session) = (folder.agent.clone(), folder.session.clone());
    source.parent = source.parent.or(parent);
    session(root, index, source, &Engagements::none(), &mut |_| {})
}
