//! Taking out content that nothing needs any more: by what sessions hold and by its age, never
//! by its age alone.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::packs::{self, Id};
use super::{Extracted, Ledger, PATIENCE, Record, all, busy, named, place};
use crate::clock::Time;
use crate::store::atomic;
use crate::store::blocks::Root;
use crate::store::lock as locks;

/// What `gc` found and removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Objects that stay, and their bytes.
    pub kept: (u64, u64),
    /// Objects that went, or would.
    pub gone: (u64, u64),
    /// Copies of OpenClaw's databases that went, or would, and their bytes: who sweeps sees to
    /// them.
    pub copies: (u64, u64),
    /// Session files that could not be read: what they may need stays. A ledger among them keeps
    /// everything.
    pub unread: Vec<PathBuf>,
}

/// The lock that a sweep takes alone and extractions share.
pub fn lock(root: &Path) -> PathBuf {
    root.join(".lock")
}

/// Removes objects that no live placeholder needs and that were not used since `older`:
/// extracted or restored. `live` says which objects a session file that a ledger names
/// needs: `None` where it can't be read, an empty list where it is gone.
///
/// # Errors
/// `WouldBlock` while another process extracts or restores; what the system says.
pub fn sweep(
    root: &Root,
    older: Time,
    live: &mut dyn FnMut(&Path, &Ledger) -> Option<Vec<String>>,
    dry_run: bool,
) -> io::Result<Swept> {
    let (store, root) = (root, place(root));
    if !root.is_dir() {
        return Ok(Swept::default());
    }
    let _alone = if dry_run {
        None
    } else {
        let held = locks::acquire(&lock(&root), PATIENCE);
        Some(held.map_err(|e| busy(&e, &root, "content is being extracted or restored"))?)
    };
    let mut needs = Needs::default();
    for extracted in all(store)? {
        needs.of(&extracted, live);
    }
    let Needs { objects, used, everything, unread } = needs;
    let mut swept = Swept { unread, ..Swept::default() };
    let mut by_pack: HashMap<u64, Vec<(Id, bool)>> = HashMap::new();
    for object in used.keys().chain(&objects).collect::<BTreeSet<_>>() {
        // What is named wrong is nowhere.
        let Ok(id) = object.parse::<Id>() else { continue };
        let young = used.get(object).is_some_and(|at| *at >= older);
        let stays = everything || young || objects.contains(object);
        by_pack.entry(id.pack).or_default().push((id, stays));
    }
    for (number, path) in packs::all(&root)? {
        let ids = by_pack.remove(&number).unwrap_or_default();
        pack(&path, &ids, everything, older, dry_run, &mut swept).map_err(|e| named(&path, &e))?;
    }
    Ok(swept)
}

/// Removes of a pack what does not stay.
fn pack(
    path: &Path,
    ids: &[(Id, bool)],
    everything: bool,
    older: Time,
    dry_run: bool,
    swept: &mut Swept,
) -> io::Result<()> {
    let file = packs::open(path)?;
    let meta = file.metadata()?;
    if ids.is_empty() {
        // Nothing was said of it: its run was killed, or is still at it.
        let old = Time::from(meta.modified()?) < older && !everything;
        let bytes = if old { &mut swept.gone.1 } else { &mut swept.kept.1 };
        *bytes += meta.len();
        return if old && !dry_run { atomic::remove(path) } else { Ok(()) };
    }
    let (mut kept, mut gone) = (Vec::new(), 0);
    for (id, stays) in ids {
        let there = id.length == 0 || packs::is_there(&file, id);
        if *stays {
            kept.push((id.offset, id.length));
        }
        let count = match (*stays, there) {
            // A sweep took it before.
            (_, false) => continue,
            (true, true) => &mut swept.kept,
            (false, true) => {
                gone += 1;
                &mut swept.gone
            }
        };
        *count = (count.0 + 1, count.1 + id.length);
    }
    if dry_run {
        return Ok(());
    }
    match (kept.is_empty(), gone) {
        (true, _) => atomic::remove(path),
        (false, 0) => Ok(()),
        (false, _) => packs::punch(path, &mut kept),
    }
}

/// What sessions need.
#[derive(Default)]
struct Needs {
    objects: BTreeSet<String>,
    /// When an object was used last, by the ledgers.
    used: BTreeMap<String, Time>,
    /// Nothing may go.
    everything: bool,
    unread: Vec<PathBuf>,
}

impl Needs {
    fn of(
        &mut self,
        extracted: &Extracted,
        live: &mut dyn FnMut(&Path, &Ledger) -> Option<Vec<String>>,
    ) {
        let Ok(ledger) = extracted.ledger() else {
            self.everything = true;
            self.unread.push(extracted.folder.join(super::ledger::NAME));
            return;
        };
        // Where an object came from, so that a restore counts for what it brought back.
        let mut last: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        let mut files: BTreeMap<&Path, BTreeSet<&str>> = BTreeMap::new();
        for record in &ledger.records {
            match record {
                Record::Extract { entry, key, object, at, file, .. } => {
                    last.insert((entry, key), object);
                    files.entry(file).or_default().insert(object);
                    used(&mut self.used, object, *at);
                }
                Record::Restore { entry, keys, at, .. } => {
                    for key in keys {
                        if let Some(object) = last.get(&(entry.as_str(), key.as_str())) {
                            used(&mut self.used, object, *at);
                        }
                    }
                }
                Record::Set { .. } => {}
            }
        }
        for (file, objects) in files {
            if let Some(needed) = live(file, &ledger) {
                self.objects.extend(needed);
            } else {
                self.unread.push(file.to_owned());
                self.objects.extend(objects.into_iter().map(str::to_owned));
            }
        }
    }
}

fn used(all: &mut BTreeMap<String, Time>, object: &str, at: Time) {
    match all.get_mut(object) {
        Some(last) => *last = at.max(*last),
        None => drop(all.insert(object.to_owned(), at)),
    }
}
