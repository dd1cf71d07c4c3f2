//! Nothing goes that is needed, and what nothing needs goes.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use chrono::TimeDelta;

use super::super::tests::{Scene, extract, pack, restore, scene, time};
use super::*;

fn there(scene: &Scene, ids: &[String]) -> Vec<bool> {
    ids.iter().map(|id| scene.extracted.get(id).is_ok()).collect()
}

/// Objects: needed and old; old; restored not long ago; extracted not long ago.
#[test]
fn a_sweep_takes_what_is_old_and_not_needed() {
    let scene = scene();
    let contents: Vec<Vec<u8>> = (1..5_u8).map(|n| vec![n; 10_000]).collect();
    let ids: Vec<String> = contents.iter().map(|c| scene.extracted.put(c).unwrap()).collect();
    let mut records: Vec<Record> = ids.iter().map(|id| extract(id, "k", id, b"p")).collect();
    if let Record::Extract { at, .. } = &mut records[3] {
        *at = time(300);
    }
    records.push(restore(&ids[2], "k", time(200)));
    scene.extracted.add(&records).unwrap();
    let asked = RefCell::new(Vec::new());
    let mut live = |file: &Path, ledger: &Ledger| {
        asked.borrow_mut().push((file.to_owned(), ledger.records.len()));
        Some(vec![ids[0].clone()])
    };
    let dry = sweep(&scene.root, time(100), &mut live, true).unwrap();
    assert_eq!(dry, Swept { kept: (3, 30_000), gone: (1, 10_000), ..Swept::default() });
    assert_eq!(there(&scene, &ids), [true; 4]);
    assert_eq!(sweep(&scene.root, time(100), &mut live, false).unwrap(), dry);
    assert_eq!(there(&scene, &ids), [true, false, true, true]);
    let gone = scene.extracted.get(&ids[1]).unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    assert_eq!(*asked.borrow(), vec![(PathBuf::from("/s/one.jsonl"), 5); 2]);
    // What is gone is not counted again, and what is gone is not taken for damage.
    let again = sweep(&scene.root, time(100), &mut live, false).unwrap();
    assert_eq!((again.kept, again.gone), ((3, 30_000), (0, 0)));
    let unread = sweep(&scene.root, time(100), &mut |_, _| None, true).unwrap();
    assert_eq!((unread.kept, unread.gone), ((3, 30_000), (0, 0)));
    // However much later: a live placeholder needs it.
    let late = time(1_000_000_000);
    let swept = sweep(&scene.root, late, &mut live, false).unwrap();
    assert_eq!((swept.kept, swept.gone), ((1, 10_000), (2, 20_000)));
    assert_eq!(scene.extracted.get(&ids[0]).unwrap(), contents[0]);
    let path = pack(&scene, &ids[0]);
    let disk = |path: &Path| fs::metadata(path).unwrap().blocks() * 512;
    assert!(disk(&path) < 20_000, "the disk has its room back: {}", disk(&path));
    sweep(&scene.root, late, &mut |_, _| Some(Vec::new()), false).unwrap();
    assert!(!path.exists());
    assert_eq!(scene.extracted.get(&ids[0]).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_ledger_may_name_what_another_session_put() {
    let scene = scene();
    let other = Extracted::of(&scene.root, "main", "s-2");
    let id = scene.extracted.put(b"shared").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap();
    other.add(&[extract("f", "k", &id, b"p")]).unwrap();
    let late = time(1_000_000_000);
    let mut of_other = |_: &Path, ledger: &Ledger| {
        let needed = ledger.records[0].entry() == "f";
        Some(if needed { vec![id.clone()] } else { Vec::new() })
    };
    assert_eq!(sweep(&scene.root, late, &mut of_other, false).unwrap().kept, (1, 6));
    assert_eq!(other.get(&id).unwrap(), b"shared");
}

#[test]
fn what_a_session_that_cannot_be_read_may_need_stays() {
    let scene = scene();
    let (one, two) = (scene.extracted.put(b"one").unwrap(), scene.extracted.put(b"two").unwrap());
    scene.extracted.add(&[extract("e", "k", &one, b"p")]).unwrap();
    let late = time(1_000_000_000);
    let swept = sweep(&scene.root, late, &mut |_, _| None, false).unwrap();
    assert_eq!(swept.unread, [PathBuf::from("/s/one.jsonl")]);
    assert_eq!(scene.extracted.get(&one).unwrap(), b"one");
    // Nobody knows what a ledger names that can't be read.
    let other = Extracted::of(&scene.root, "main", "s-2");
    let three = other.put(b"three").unwrap();
    other.add(&[extract("e", "k", &three, b"p")]).unwrap();
    let ledger = other.folder.join("ledger.jsonl");
    fs::write(&ledger, "no record\n").unwrap();
    let swept = sweep(&scene.root, late, &mut |_, _| Some(Vec::new()), false).unwrap();
    assert_eq!((swept.unread, swept.gone), (vec![ledger], (0, 0)));
    assert_eq!(there(&scene, &[one, two, three]), [true; 3]);
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
fn what_no_ledger_names_goes_once_it_is_old() {
    let scene = scene();
    let id = scene.extracted.put(b"killed").unwrap();
    assert_eq!(scene.extracted.get(&id).unwrap(), b"killed");
    let foreign = pack(&scene, &id).with_file_name("notes.txt");
    fs::write(&foreign, "kept").unwrap();
    let mut gone = |_: &Path, _: &Ledger| Some(Vec::new());
    let hour_ago = crate::clock::now() - TimeDelta::hours(1);
    let swept = sweep(&scene.root, hour_ago, &mut gone, false).unwrap();
    assert_eq!((swept.kept, swept.gone), ((0, 6), (0, 0)));
    let swept = sweep(&scene.root, hour_ago + TimeDelta::hours(2), &mut gone, false).unwrap();
    assert_eq!((swept.kept, swept.gone), ((0, 0), (0, 6)));
    assert!(!pack(&scene, &id).exists() && foreign.exists());
    // Its writer goes on, unaware: no ledger names what is gone.
    let why = scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap_err();
    assert_eq!(why.kind(), io::ErrorKind::NotFound);
    assert!(scene.extracted.ledger().unwrap().records.is_empty());
}

#[test]
fn holes_are_made_around_what_is_kept_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p");
    let whole: Vec<u8> = (0..40_000_u32).map(|n| (n % 250) as u8 + 1).collect();
    for kept in [
        &[(0, 40_000)][..],
        &[],
        &[(0, 1)],
        &[(39_999, 1)],
        &[(9000, 5), (100, 8000), (9005, 20_000)],
    ] {
        fs::write(&path, &whole).unwrap();
        packs::punch(&path, &mut kept.to_vec()).unwrap();
        let mut expected = vec![0; whole.len()];
        for (offset, length) in kept {
            let at = *offset as usize..(offset + length) as usize;
            expected[at.clone()].copy_from_slice(&whole[at]);
        }
        assert!(fs::read(&path).unwrap() == expected, "{kept:?}");
    }
}
