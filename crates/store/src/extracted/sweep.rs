//! Removes content that the user gave up: what no placeholder of a known session needs, and content
//! of sessions whose files are gone. It only runs on request. What cannot be read may need
//! anything, so it keeps everything in doubt.

mod forget;
mod needs;
mod swept;
#[cfg(test)]
mod tests;

use crate::extracted::file;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use self::forget::{count_objects, forget};
use self::needs::Needs;
pub use self::swept::{Amount, Swept};
use super::object::Id;
use super::packs;
use super::{Ledger, PATIENCE, busy, named, place};
use crate::blocks::Root;
use base::atomic;
use base::clock::Time;
use base::lock as locks;

/// What a session needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionNeeds {
    /// These objects.
    Needs(Vec<String>),
    /// Nothing: its file is gone.
    Gone,
    /// This is unknown.
    Unknown,
}

/// Returns what the session in a file needs, according to a ledger that names it.
pub type Ask<'a> = &'a mut dyn FnMut(&Path, &Ledger) -> SessionNeeds;

/// Whose content is removed although placeholders of it may remain.
#[derive(Debug, Clone, Copy)]
pub enum GiveUp<'a> {
    /// Sessions whose files are gone; they may have moved to an unknown place.
    Missing,
    /// These sessions, as `agent/id`, wherever their files are.
    These(&'a BTreeSet<String>),
}

/// The lock that a sweep holds exclusively and extractions share.
pub fn lock(root: &Path) -> PathBuf {
    root.join(".lock")
}

/// Removes objects that no live placeholder needs and that were last extracted or restored before
/// `older`.
///
/// # Errors
/// `WouldBlock` while another process extracts or restores.
pub fn sweep(
    root: &Root,
    older: Time,
    ask: Ask,
    give_up: GiveUp,
    dry_run: bool,
) -> io::Result<Swept> {
    let (store, root) = (root, place(root));
    match fs::metadata(&root) {
        Err(e) if file::absent(&e) => return Ok(Swept::default()),
        other => other.map_err(|e| named(&root, &e))?,
    };
    let _alone = if dry_run {
        None
    } else {
        let held = locks::acquire(&lock(&root), PATIENCE);
        Some(held.map_err(|e| busy(&e, &root, "content is being extracted or restored"))?)
    };
    let needs = Needs::of(store, ask, give_up);
    let mut judge = Judge { needs, older, going: BTreeSet::new(), staying: BTreeSet::new() };
    let mut swept = Swept::default();
    let mut by_pack: HashMap<u64, Vec<(Id, String)>> = HashMap::new();
    for object in judge.needs.used.keys() {
        // An invalid id names no content.
        let Ok(id) = object.parse::<Id>() else { continue };
        by_pack.entry(id.pack).or_default().push((id, object.clone()));
    }
    for (number, path) in packs::all(&root)? {
        let ids = by_pack.remove(&number).unwrap_or_default();
        pack(&path, ids, &mut judge, dry_run, &mut swept).map_err(|e| named(&path, &e))?;
    }
    let Judge { needs, going, staying, .. } = judge;
    let goes = |of: &&needs::Of| !of.objects.is_disjoint(&going);
    let left = |of: &&needs::Of| of.gone && !of.objects.is_disjoint(&staying);
    let names = |of: &needs::Of| of.extracted.name();
    swept.sessions = needs.ledgers.iter().filter(goes).map(names).collect();
    swept.missing = needs.ledgers.iter().filter(left).map(names).collect();
    let over = needs.ledgers.iter().filter(|of| {
        let over = of.last.is_none_or(|at| at < older) && of.objects.is_disjoint(&staying);
        of.named || of.gone && over
    });
    for ledger in over.filter(|_| !needs.everything) {
        swept.forgotten.push(ledger.extracted.name());
        if !dry_run {
            needs::forget(&ledger.extracted.folder)?;
        }
    }
    swept.unread = needs.unread.into_iter().collect();
    Ok(swept)
}

/// What becomes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Waits,
    Goes,
}

/// Decides what becomes of objects.
struct Judge {
    needs: Needs,
    older: Time,
    /// Objects that are removed, or would be.
    going: BTreeSet<String>,
    /// Objects that stay.
    staying: BTreeSet<String>,
}

impl Judge {
    fn fate(&self, object: &str) -> Fate {
        match self.needs.used.get(object) {
            None => Fate::Stays,
            Some(_) if self.needs.everything || self.needs.objects.contains(object) => Fate::Stays,
            Some(used) if *used >= self.older => Fate::Waits,
            Some(_) => Fate::Goes,
        }
    }
}

/// Removes from a pack what does not stay. Content that no ledger names stays: after a killed run
/// or a lost ledger, nobody knows which session it belongs to.
fn pack(
    path: &Path,
    ids: Vec<(Id, String)>,
    judge: &mut Judge,
    dry_run: bool,
    swept: &mut Swept,
) -> io::Result<()> {
    let file = packs::open(path)?;
    let length = file.metadata()?.len();
    if ids.is_empty() {
        swept.kept.add(0, length);
        swept.unnamed += length;
        return Ok(());
    }
    let (mut kept, mut gone) = (unnamed(&ids, length), 0);
    for (id, object) in ids {
        // An earlier sweep may have removed it.
        if id.length > 0 && !packs::is_there(&file, &id) {
            continue;
        }
        match judge.fate(&object) {
            Fate::Goes => {
                gone += 1;
                swept.gone.add(1, id.length);
                judge.going.insert(object);
                continue;
            }
            Fate::Waits => swept.waiting.add(1, id.length),
            Fate::Stays => {}
        }
        swept.kept.add(1, id.length);
        kept.push((id.offset, id.length));
        judge.staying.insert(object);
    }
    match (dry_run, kept.is_empty(), gone) {
        (true, ..) | (_, false, 0) => Ok(()),
        (_, true, _) => atomic::remove(path),
        (_, false, _) => packs::punch(path, &mut kept),
    }
}

/// The ranges of a pack that no ledger names, as offsets and lengths.
fn unnamed(ids: &[(Id, String)], end: u64) -> Vec<(u64, u64)> {
    let mut named: Vec<(u64, u64)> = ids.iter().map(|(id, _)| (id.offset, id.length)).collect();
    named.sort_unstable();
    let (mut from, mut found) = (0, Vec::new());
    for (offset, length) in named.into_iter().chain([(end, 0)]) {
        if offset > from {
            found.push((from, offset - from));
        }
        from = from.max(offset + length);
    }
    found
}
