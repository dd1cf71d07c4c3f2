//! Sweeps keep what is needed, and remove what nothing needs.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::time::Duration;

use super::super::tests::{Scene, extract, pack, restore, scene, time};
use super::*;
use crate::extracted::{Extracted, Object, Record, find_ledgers};

fn some(count: u64, bytes: u64) -> Amount {
    Amount { count, bytes }
}

fn there(scene: &Scene, ids: &[Object]) -> Vec<bool> {
    ids.iter().map(|id| scene.extracted.get(id).is_ok()).collect()
}

/// A sweep that treats content last used before `at` as old, and gives every session the same
/// answer.
fn sweep_all(scene: &Scene, at: i64, held: &SessionNeeds, give_up: GiveUp, dry_run: bool) -> Swept {
    sweep(&scene.root, time(at), &mut |_, _| held.clone(), give_up, dry_run).unwrap()
}

fn swept(scene: &Scene, at: i64, held: &SessionNeeds) -> Swept {
    sweep_all(scene, at, held, GiveUp::Missing, false)
}

fn needs(ids: &[&Object]) -> SessionNeeds {
    SessionNeeds::Needs(ids.iter().map(ToString::to_string).collect())
}

const LATE: i64 = 1_000_000_000;

/// Objects: needed and old; old; restored recently; extracted recently.
#[test]
fn a_sweep_takes_what_is_old_and_not_needed() {
    let scene = scene();
    let contents: Vec<Vec<u8>> = (1..5_u8).map(|n| vec![n; 10_000]).collect();
    let ids: Vec<Object> = contents.iter().map(|c| scene.extracted.put(c).unwrap()).collect();
    let mut records: Vec<Record> = ids.iter().map(|id| extract(id, "k", id, b"p")).collect();
    if let Record::Extract(extract) = &mut records[3] {
        extract.make_mut().at = time(300);
    }
    records.push(restore(&ids[2], "k", time(200)));
    scene.extracted.add(&records).unwrap();
    let live = needs(&[&ids[0]]);
    let expected = Swept {
        kept: some(3, 30_000),
        waiting: some(2, 20_000),
        gone: some(1, 10_000),
        sessions: vec![scene.extracted.name()],
        ..Swept::default()
    };
    assert_eq!(sweep_all(&scene, 100, &live, GiveUp::Missing, true), expected);
    assert_eq!(there(&scene, &ids), [true; 4]);
    assert_eq!(swept(&scene, 100, &live), expected);
    assert_eq!(there(&scene, &ids), [true, false, true, true]);
    let gone = scene.extracted.get(&ids[1]).unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    // Removed content is neither counted again nor taken for damage.
    let again = swept(&scene, 100, &live);
    assert_eq!((again.kept, again.gone), (some(3, 30_000), some(0, 0)));
    let unread = sweep_all(&scene, LATE, &SessionNeeds::Unknown, GiveUp::Missing, true);
    assert_eq!((unread.kept, unread.gone), (some(3, 30_000), some(0, 0)));
    // Even much later, a live placeholder still needs it.
    let late = swept(&scene, LATE, &live);
    assert_eq!((late.kept, late.gone), (some(1, 10_000), some(2, 20_000)));
    assert_eq!(scene.extracted.get(&ids[0]).unwrap(), contents[0]);
    let path = pack(&scene, &ids[0]);
    let disk = |path: &Path| fs::metadata(path).unwrap().blocks() * 512;
    let holes = cfg!(target_os = "linux");
    assert!(!holes || disk(&path) < 20_000, "the disk has its room back: {}", disk(&path));
    swept(&scene, LATE, &needs(&[]));
    assert!(!path.exists());
    assert_eq!(scene.extracted.get(&ids[0]).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_ledger_may_name_what_another_session_put() {
    let scene = scene();
    let other = Extracted::for_session(&scene.root, "main", "s-2");
    let id = scene.extracted.put(b"shared").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap();
    other.add(&[extract("f", "k", &id, b"p")]).unwrap();
    let mut ask = |_: &Path, ledger: &Ledger| match ledger.records.first() {
        Some(Record::Extract(first)) if &*first.entry == "f" => needs(&[&id]),
        _ => SessionNeeds::Gone,
    };
    let swept = sweep(&scene.root, time(LATE), &mut ask, GiveUp::Missing, false).unwrap();
    assert_eq!(swept.kept, some(1, 6));
    assert_eq!(other.get(&id).unwrap(), b"shared");
}

#[test]
fn what_a_session_that_cannot_be_read_may_need_stays() {
    let scene = scene();
    let one = scene.extracted.put(b"one").unwrap();
    scene.extracted.add(&[extract("e", "k", &one, b"p")]).unwrap();
    let kept = swept(&scene, LATE, &SessionNeeds::Unknown);
    assert_eq!(kept.unread, [PathBuf::from("/s/one.jsonl")]);
    assert_eq!(scene.extracted.get(&one).unwrap(), b"one");
    // Nobody knows what an unreadable ledger names.
    let other = Extracted::for_session(&scene.root, "main", "s-2");
    let three = other.put(b"three").unwrap();
    other.add(&[extract("e", "k", &three, b"p")]).unwrap();
    let ledger = other.folder.join("ledger.jsonl");
    fs::write(&ledger, "no record\n").unwrap();
    let kept = swept(&scene, LATE, &SessionNeeds::Gone);
    assert_eq!((kept.unread, kept.gone, kept.forgotten), (vec![ledger], some(0, 0), Vec::new()));
    assert_eq!(there(&scene, &[one, three]), [true; 2]);
}

/// A ledger, its folder or its agent's folder that cannot be read is not the same as none, whatever
/// the reason.
#[test]
fn a_ledger_that_cannot_be_looked_at_keeps_everything() {
    let scene = scene();
    let id = scene.extracted.put(b"one").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap();
    let (folder, ledger) =
        (scene.extracted.folder.clone(), scene.extracted.folder.join("ledger.jsonl"));
    let agent = folder.parent().unwrap().to_owned();
    let keeps = |what: &Path| {
        let what = what.display();
        let kept = swept(&scene, LATE, &SessionNeeds::Gone);
        assert_eq!((kept.gone, kept.unread.len()), (some(0, 0), 1), "{what}: {kept:?}");
        assert_eq!(scene.extracted.get(&id).unwrap(), b"one", "{what}");
    };
    // Dangling symlinks, as onto a disk that is not there.
    for (n, path) in (0..).zip([&ledger, &folder, &agent]) {
        let aside = path.with_extension("aside");
        fs::rename(path, &aside).unwrap();
        let elsewhere = scene.dir.path().join(format!("elsewhere-{n}"));
        fs::rename(&aside, &elsewhere).unwrap();
        symlink(scene.dir.path().join("nowhere"), path).unwrap();
        keeps(path);
        fs::remove_file(path).unwrap();
        fs::rename(&elsewhere, path).unwrap();
    }
    // Missing permissions; the superuser has them all.
    for path in [&ledger, &folder, &agent] {
        let mode = |mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        mode(0);
        if fs::File::open(path).is_err() {
            keeps(path);
        }
        mode(0o700);
    }
    assert_eq!(swept(&scene, LATE, &SessionNeeds::Gone).gone.count, 1);
}

#[test]
fn what_is_known_of_a_session_that_is_gone_goes_with_its_content() {
    let scene = scene();
    let id = scene.extracted.put(b"content").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p"), restore("e", "k", time(5))]).unwrap();
    let dry = sweep_all(&scene, LATE, &SessionNeeds::Gone, GiveUp::Missing, true);
    assert_eq!((dry.gone.count, &dry.forgotten[..]), (1, &["main/s-1".to_owned()][..]));
    assert!(scene.extracted.folder.exists());
    assert_eq!(swept(&scene, LATE, &SessionNeeds::Gone), dry);
    assert!(!scene.extracted.folder.exists());
    assert!(find_ledgers(&scene.root).found.is_empty());
    // The session may come back.
    let anew = Extracted::for_session(&scene.root, "main", "s-1");
    let id = anew.put(b"content").unwrap();
    anew.add(&[extract("e", "k", &id, b"p")]).unwrap();
    // A session that only lost its placeholders keeps its ledger, and so does one used just now.
    assert!(swept(&scene, 0, &SessionNeeds::Gone).forgotten.is_empty());
    assert!(swept(&scene, LATE, &needs(&[])).forgotten.is_empty());
    assert!(scene.extracted.folder.exists());
}

#[test]
fn forget_removes_what_no_other_session_names_and_the_ledger() {
    let scene = scene();
    let contents = [&b"shared"[..], b"own"];
    let ids = contents.map(|content| scene.extracted.put(content).unwrap());
    let records = [extract("e", "k", &ids[0], b"p"), extract("f", "k", &ids[1], b"p")];
    scene.extracted.add(&records).unwrap();
    let fork = Extracted::for_session(&scene.root, "main", "s-2");
    fork.add(&records[..1]).unwrap();
    let names = |name: &str| BTreeSet::from([name.to_owned()]);
    assert!(forget(&scene.root, &names("main/none")).is_err());
    forget(&scene.root, &names("main/s-1")).unwrap();
    assert_eq!(there(&scene, &ids), [true, false]);
    assert!(!scene.extracted.folder.exists() && fork.ledger().unwrap().records.len() == 1);
    // An unreadable ledger may name the same content.
    fs::write(scene.extracted.root.join("sessions/main/s-2/ledger.jsonl"), "no record\n").unwrap();
    let why = forget(&scene.root, &names("main/s-2")).unwrap_err().to_string();
    assert!(why.contains("s-2/ledger.jsonl"), "{why}");
    assert_eq!(there(&scene, &ids), [true, false]);
}

#[test]
fn nothing_is_swept_between_store_and_session() {
    let scene = scene();
    let held = scene.extracted.hold().unwrap();
    let again = scene.extracted.hold().unwrap();
    assert_eq!(sweep_all(&scene, 0, &SessionNeeds::Gone, GiveUp::Missing, true), Swept::default());
    drop(again);
    let lock = lock(&scene.extracted.root);
    assert!(locks::acquire(&lock, Duration::from_millis(5)).is_err());
    drop(held);
    swept(&scene, 0, &SessionNeeds::Gone);
    let nowhere = Root::new(scene.dir.path().join("nowhere"));
    let ask: Ask = &mut |_, _| SessionNeeds::Gone;
    assert_eq!(sweep(&nowhere, time(0), ask, GiveUp::Missing, false).unwrap(), Swept::default());
    assert!(!nowhere.path().exists(), "looking makes nothing");
}

/// A run was killed before the ledger was complete, or a ledger lost its end.
#[test]
fn what_no_ledger_names_stays() {
    let scene = scene();
    let contents = [&b"first"[..], b"named", b"named, too", b"last"];
    let ids = contents.map(|content| scene.extracted.put(content).unwrap());
    let path = pack(&scene, &ids[0]);
    assert!(scene.extracted.get(&ids[0]).is_ok());
    let swept_all = || swept(&scene, LATE, &SessionNeeds::Gone);
    assert_eq!((swept_all().kept, swept_all().unnamed), (some(0, 24), 24));
    let record = |n: usize| extract("e", "k", ids[n].clone(), b"p");
    scene.extracted.add(&[record(1), record(2)]).unwrap();
    assert_eq!(swept(&scene, LATE, &needs(&[&ids[1]])).gone, some(1, 10));
    assert_eq!(there(&scene, &ids), [true, true, false, true]);
    assert_eq!(swept_all().gone, some(1, 5));
    assert_eq!(there(&scene, &ids), [true, false, false, true]);
    assert!(path.exists());
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
