//! Taking out content that nothing needs any more: by what sessions hold and by its age, never
//! by its age alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Extracted, Ledger, PATIENCE, Record, all, busy, entries, named, objects, place};
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
    /// Session files that could not be read: what they may need stays. A ledger among them keeps
    /// everything.
    pub unread: Vec<PathBuf>,
}

/// The lock that a sweep takes alone and extractions share.
pub fn lock(root: &Path) -> PathBuf {
    root.join(".lock")
}

/// Removes objects that no live placeholder needs and that were not used since `older`: put,
/// extracted again or restored. `live` says which objects a session file that a ledger names
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
        Some(held.map_err(|e| busy(e, &root, "content is being extracted or restored"))?)
    };
    let mut needs = Needs::default();
    for extracted in all(store)? {
        needs.of(&extracted, live);
    }
    let mut swept = Swept { unread: needs.unread, ..Swept::default() };
    for folder in entries(&root.join(objects::NAME))? {
        // Anything else in the folder of objects is nobody's we know.
        if !folder.is_dir() {
            continue;
        }
        for path in entries(&folder)? {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let object = objects::path(&root, name).is_some_and(|own| own == path);
            let left = name.starts_with('.') && name.ends_with(".tmp");
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            if !(object || left) || !meta.is_file() {
                continue;
            }
            let old = meta.modified().is_ok_and(|at| Time::from(at) < older)
                && needs.used.get(name).is_none_or(|at| *at < older);
            let stays = needs.everything || needs.objects.contains(name) || !old;
            let count = if stays { &mut swept.kept } else { &mut swept.gone };
            if !stays && !dry_run {
                atomic::remove(&path).map_err(|e| named(&path, &e))?;
            }
            // What was left half written is no object.
            *count = (count.0 + u64::from(object), count.1 + meta.len());
        }
    }
    Ok(swept)
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::{Duration, SystemTime};

    use chrono::TimeDelta;

    use super::super::tests::{age, extract, object, restore, scene, time};
    use super::*;

    /// Objects: needed and old, old, restored not long ago, young, of no ledger and old.
    #[test]
    fn a_sweep_takes_what_is_old_and_not_needed() {
        let scene = scene();
        let ids: Vec<String> = (0..5_u8).map(|n| scene.extracted.put(&[n; 10]).unwrap()).collect();
        for id in &ids {
            age(&scene, id, time(0));
        }
        let records: Vec<Record> = ids[..4].iter().map(|id| extract(id, "k", id, b"p")).collect();
        scene.extracted.add(&records).unwrap();
        scene.extracted.add(&[restore(&ids[2], "k", time(200))]).unwrap();
        age(&scene, &ids[3], time(300));
        let asked = RefCell::new(Vec::new());
        let mut live = |file: &Path, ledger: &Ledger| {
            asked.borrow_mut().push((file.to_owned(), ledger.records.len()));
            Some(vec![ids[0].clone()])
        };
        let dry = sweep(&scene.root, time(100), &mut live, true).unwrap();
        assert_eq!(dry, Swept { kept: (3, 30), gone: (2, 20), unread: Vec::new() });
        assert!(ids.iter().all(|id| object(&scene, id).exists()));
        assert_eq!(sweep(&scene.root, time(100), &mut live, false).unwrap(), dry);
        let there: Vec<bool> = ids.iter().map(|id| object(&scene, id).exists()).collect();
        assert_eq!(there, [true, false, true, true, false]);
        assert_eq!(*asked.borrow(), vec![(PathBuf::from("/s/one.jsonl"), 5); 2]);
        // However much later: a live placeholder needs it.
        let late = time(1_000_000_000);
        let swept = sweep(&scene.root, late, &mut live, false).unwrap();
        assert_eq!((swept.kept, swept.gone), ((1, 10), (2, 20)));
        assert_eq!(scene.extracted.get(&ids[0]).unwrap(), [0; 10]);
    }

    #[test]
    fn what_a_session_that_cannot_be_read_may_need_stays() {
        let scene = scene();
        let (one, two) =
            (scene.extracted.put(b"one").unwrap(), scene.extracted.put(b"two").unwrap());
        scene.extracted.add(&[extract("e", "k", &one, b"p")]).unwrap();
        let late = time(1_000_000_000);
        let swept = sweep(&scene.root, late, &mut |_, _| None, false).unwrap();
        assert_eq!(swept.unread, [PathBuf::from("/s/one.jsonl")]);
        assert!(object(&scene, &one).exists() && !object(&scene, &two).exists());
        // Nobody knows what a ledger names that can't be read.
        let other = Extracted::of(&scene.root, "main", "s-2");
        let two = other.put(b"two").unwrap();
        other.add(&[extract("e", "k", &two, b"p")]).unwrap();
        let ledger = other.folder.join("ledger.jsonl");
        fs::write(&ledger, "no record\n").unwrap();
        let swept = sweep(&scene.root, late, &mut |_, _| Some(Vec::new()), false).unwrap();
        assert_eq!((swept.unread, swept.gone), (vec![ledger], (0, 0)));
        assert!(object(&scene, &one).exists() && object(&scene, &two).exists());
    }

    #[test]
    fn nothing_is_swept_between_store_and_session() {
        let scene = scene();
        let held = scene.extracted.hold().unwrap();
        let again = scene.extracted.hold().unwrap();
        let gone = |_: &Path, _: &Ledger| Some(Vec::new());
        let dry = sweep(&scene.root, time(0), &mut { gone }, true).unwrap();
        assert_eq!(dry, Swept::default());
        drop(again);
        let lock = lock(&scene.extracted.root);
        assert!(locks::acquire(&lock, Duration::from_millis(5)).is_err());
        drop(held);
        sweep(&scene.root, time(0), &mut { gone }, false).unwrap();
        let nowhere = Root::new(scene.dir.path().join("nowhere"));
        assert_eq!(sweep(&nowhere, time(0), &mut { gone }, false).unwrap(), Swept::default());
        assert!(!nowhere.path().exists(), "looking makes nothing");
    }

    #[test]
    fn what_is_put_again_is_young_again_and_what_was_left_half_done_goes() {
        let scene = scene();
        let id = scene.extracted.put(b"content").unwrap();
        age(&scene, &id, time(0));
        let left = object(&scene, &id).with_file_name(".1.2.tmp");
        fs::write(&left, "half").unwrap();
        fs::File::options()
            .write(true)
            .open(&left)
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        let foreign = object(&scene, &id).with_file_name("notes.txt");
        fs::write(&foreign, "kept").unwrap();
        scene.extracted.put(b"content").unwrap();
        let now = crate::clock::now() - TimeDelta::hours(1);
        let swept = sweep(&scene.root, now, &mut |_, _| Some(Vec::new()), false).unwrap();
        assert_eq!((swept.kept, swept.gone), ((1, 7), (0, 4)));
        assert!(!left.exists() && foreign.exists());
    }
}
