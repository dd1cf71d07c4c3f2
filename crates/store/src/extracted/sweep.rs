//! Taking out content that nothing needs any more: by what sessions hold and by its age, never
//! by its age alone. What can't be looked at may need anything. A session whose file is gone
//! may have moved, so its content goes only where the caller gives it up ([`GiveUp`]).
//!
//! An object that no session was seen to need is noted with the time, in
//! `<root>/extracted/unneeded.json`; its retention counts from then on, so that nothing goes by
//! a single look.

mod needs;
mod swept;
#[cfg(test)]
mod tests;
mod unasked;

use crate::extracted::file;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::needs::{Needs, Origin};
pub use self::swept::{Amount, Swept};
pub use self::unasked::{forget, held};
use super::object::Id;
use super::packs;
use super::{Ledger, PATIENCE, busy, named, place};
use crate::blocks::Root;
use base::atomic;
use base::clock::Time;
use base::lock as locks;

/// Where it is noted since when objects are unneeded.
const UNNEEDED: &str = "unneeded.json";

/// What a session needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// These objects.
    Needs(Vec<String>),
    /// Nothing: it is gone.
    Gone,
    /// That can't be told.
    Unknown,
}

/// Whether some session holds a placeholder of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// One does, or may: the one in this file.
    Yes(PathBuf),
    /// None does, of all that are known.
    No,
    /// That can't be told, as this can't be read.
    Unknown(Vec<PathBuf>),
}

/// The sessions, as a sweep asks of them.
pub trait Sessions {
    /// What the session in `file` needs, by a ledger that names it.
    fn held(&mut self, file: &Path, ledger: &Ledger) -> Held;

    /// Whether any session that can be found names `entry` in a placeholder; `file` is where it
    /// was extracted. Asked once every ledger's files were asked for.
    fn named(&mut self, entry: &str, file: &Path) -> Named;

    /// Whether any session that can be found names an entry in a placeholder that is none of
    /// `known`. Asked when [`named`](Self::named) may be.
    fn others(&mut self, known: &HashSet<&str>) -> Named;
}

/// Whose content goes although the session may still hold placeholders of it.
#[derive(Debug, Clone, Copy)]
pub enum GiveUp<'a> {
    /// Nobody's.
    None,
    /// That of sessions whose files are gone: they may have moved to where nobody looks.
    Missing,
    /// That of these sessions, as `agent/id`, wherever their files are.
    These(&'a BTreeSet<String>),
}

/// The lock that a sweep takes alone and extractions share.
pub fn lock(root: &Path) -> PathBuf {
    root.join(".lock")
}

/// Removes objects that no live placeholder needs and that were last used, or last needed,
/// before `older`: extracted, restored, or seen in a session. `give_up` says whose content goes
/// although placeholders of it may be left.
///
/// # Errors
/// `WouldBlock` while another process extracts or restores; what the system says.
pub fn sweep(
    root: &Root,
    now: Time,
    older: Time,
    sessions: &mut dyn Sessions,
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
    let needs = Needs::of(store, sessions, give_up);
    let before = read_unneeded(&root);
    let unread = needs.unread.iter().cloned().collect();
    let mut judge = Judge {
        needs,
        sessions,
        now,
        older,
        before,
        since: BTreeMap::new(),
        unread,
        elsewhere: BTreeSet::new(),
        unnamed: None,
        going: BTreeSet::new(),
    };
    let mut swept = Swept::default();
    let mut by_pack: HashMap<u64, Vec<(Id, String)>> = HashMap::new();
    for object in judge.needs.origins.keys() {
        // What is named wrong is nowhere.
        let Ok(id) = object.parse::<Id>() else { continue };
        by_pack.entry(id.pack).or_default().push((id, object.clone()));
    }
    let mut staying = BTreeSet::new();
    for (number, path) in packs::all(&root)? {
        let ids = by_pack.remove(&number).unwrap_or_default();
        pack(&path, ids, &mut judge, dry_run, &mut swept, &mut staying)
            .map_err(|e| named(&path, &e))?;
    }
    let going = |of: &&needs::Of| !of.objects.is_disjoint(&judge.going);
    let left = |of: &&needs::Of| of.gone && !of.objects.is_disjoint(&staying);
    let names = |of: &needs::Of| of.extracted.name();
    swept.sessions = judge.needs.ledgers.iter().filter(going).map(names).collect();
    swept.missing = judge.needs.ledgers.iter().filter(left).map(names).collect();
    let Judge { needs, since, before, unread, elsewhere, .. } = judge;
    swept.unread = unread.into_iter().collect();
    swept.elsewhere = elsewhere.into_iter().collect();
    let left = needs.ledgers.iter().filter(|of| {
        let over = of.last.is_none_or(|at| at < older) && of.objects.is_disjoint(&staying);
        of.named || of.gone && over
    });
    for ledger in left.filter(|_| !needs.everything) {
        swept.forgotten.push(ledger.extracted.name());
        if !dry_run {
            needs::forget(&ledger.extracted.folder)?;
        }
    }
    if !dry_run && since != before {
        let json = serde_json::to_vec(&since)?;
        atomic::write(&root.join(UNNEEDED), &json)?;
    }
    Ok(swept)
}

/// Since when objects are unneeded; what can't be read says nothing, and retention counts anew.
fn read_unneeded(root: &Path) -> BTreeMap<String, Time> {
    let bytes = atomic::read(&root.join(UNNEEDED)).ok().flatten().unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// What becomes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Waits,
    Goes,
}

/// Says what becomes of objects.
struct Judge<'s> {
    needs: Needs,
    sessions: &'s mut dyn Sessions,
    now: Time,
    older: Time,
    before: BTreeMap<String, Time>,
    /// What is unneeded, since when.
    since: BTreeMap<String, Time>,
    unread: BTreeSet<PathBuf>,
    /// Files that name what no session of the ledgers' needs.
    elsewhere: BTreeSet<PathBuf>,
    /// Whether what no ledger names may go, where that was asked.
    unnamed: Option<bool>,
    /// Objects that go, or would.
    going: BTreeSet<String>,
}

impl Judge<'_> {
    /// Whether what no ledger names may go. It is of a run that was killed, or of a ledger that was
    /// lost, or whose end was: then sessions name entries that no ledger knows.
    fn unnamed(&mut self) -> bool {
        if let Some(goes) = self.unnamed {
            return goes;
        }
        let origins = self.needs.origins.values().flat_map(|origin| &origin.from);
        let known = origins.map(|(entry, _)| entry.as_str()).collect();
        let goes = match self.sessions.others(&known) {
            Named::Yes(file) => {
                self.elsewhere.insert(file);
                false
            }
            Named::Unknown(what) => {
                self.unread.extend(what);
                false
            }
            Named::No => true,
        };
        *self.unnamed.insert(goes)
    }

    fn fate(&mut self, object: &str) -> Fate {
        let origin = self.needs.origins.get(object);
        let Some(Origin { used, from }) = origin.filter(|_| !self.needs.everything) else {
            return Fate::Stays;
        };
        if self.needs.objects.contains(object) {
            return Fate::Stays;
        }
        let since = self.before.get(object).copied().filter(|at| *at <= self.now);
        let since = since.unwrap_or(self.now);
        if since.max(*used) >= self.older {
            self.since.insert(object.to_owned(), since);
            return Fate::Waits;
        }
        let mut unknown = false;
        for (entry, file) in from {
            match self.sessions.named(entry, file) {
                // Seen now: retention counts from here on.
                Named::Yes(file) => {
                    self.elsewhere.insert(file);
                    return Fate::Stays;
                }
                Named::Unknown(what) => {
                    unknown = true;
                    self.unread.extend(what);
                }
                Named::No => {}
            }
        }
        if unknown {
            self.since.insert(object.to_owned(), since);
            return Fate::Stays;
        }
        Fate::Goes
    }
}

/// Removes of a pack what does not stay.
fn pack(
    path: &Path,
    ids: Vec<(Id, String)>,
    judge: &mut Judge,
    dry_run: bool,
    swept: &mut Swept,
    staying: &mut BTreeSet<String>,
) -> io::Result<()> {
    let file = packs::open(path)?;
    let meta = file.metadata()?;
    let old = Time::from(meta.modified()?) < judge.older && !judge.needs.everything;
    if ids.is_empty() {
        let old = old && judge.unnamed();
        let of = if old { &mut swept.gone } else { &mut swept.kept };
        of.add(0, meta.len());
        swept.unnamed += if old { 0 } else { meta.len() };
        return if old && !dry_run { atomic::remove(path) } else { Ok(()) };
    }
    let (mut kept, mut gone) = (Vec::new(), 0);
    let named = ids.iter().map(|(id, _)| id.offset + id.length).max().unwrap_or_default();
    let unnamed = unnamed(&ids, meta.len());
    let behind = meta.len().saturating_sub(named);
    let behind = if old && behind > 0 && judge.unnamed() { behind } else { 0 };
    swept.gone.add(0, behind);
    for (id, object) in ids {
        // A sweep may have taken it before.
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
        staying.insert(object);
    }
    if dry_run {
        return Ok(());
    }
    if (gone > 0 || kept.is_empty()) && !unnamed.is_empty() && !judge.unnamed() {
        kept.extend(unnamed);
    }
    match (kept.is_empty(), gone) {
        (true, _) => return atomic::remove(path),
        (false, 0) => {}
        (false, _) => packs::punch(path, &mut kept)?,
    }
    if behind > 0 { packs::cut(path, named) } else { Ok(()) }
}

/// What no ledger names of a pack of so many bytes, as offsets and lengths.
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
