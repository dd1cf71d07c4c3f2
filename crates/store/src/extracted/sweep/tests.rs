//! Nothing goes that is needed, and what nothing needs goes.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::time::Duration;

use chrono::TimeDelta;

use super::super::tests::{Scene, extract, pack, restore, scene, time};
use super::*;
use crate::extracted::{Extracted, Object, Record, all};

fn some(count: u64, bytes: u64) -> Amount {
    Amount { count, bytes }
}

fn there(scene: &Scene, ids: &[Object]) -> Vec<bool> {
    ids.iter().map(|id| scene.extracted.get(id).is_ok()).collect()
}

/// Sessions as a test says: the same of every file, and entries that others name.
struct Told {
    held: Held,
    named: Vec<&'static str>,
    unread: Option<PathBuf>,
    asked: Vec<PathBuf>,
}

impl Sessions for Told {
    fn held(&mut self, file: &Path, _: &Ledger) -> Held {
        self.asked.push(file.to_owned());
        self.held.clone()
    }

    fn named(&mut self, entry: &str, _: &Path) -> Named {
        match &self.unread {
            _ if self.named.contains(&entry) => Named::Yes("/s/fork.jsonl".into()),
            Some(path) => Named::Unknown(vec![path.clone()]),
            None => Named::No,
        }
    }

    fn others(&mut self, known: &HashSet<&str>) -> Named {
        let mut others = self.named.iter().filter(|entry| !known.contains(**entry));
        others.next().map_or(Named::No, |_| Named::Yes("/s/fork.jsonl".into()))
    }
}

fn told(held: Held) -> Told {
    Told { held, named: Vec::new(), unread: None, asked: Vec::new() }
}

fn needs(ids: &[&Object]) -> Told {
    told(Held::Needs(ids.iter().map(ToString::to_string).collect()))
}

/// A sweep a second later than `at`, for which what was last used before `at` is old.
fn swept(scene: &Scene, at: i64, sessions: &mut Told) -> Swept {
    sweep(&scene.root, time(at + 1), time(at), sessions, GiveUp::Missing, false).unwrap()
}

/// Looks twice, as what was needed once goes by the second look only.
fn twice(scene: &Scene, at: i64, sessions: &mut Told) -> Swept {
    assert_eq!(swept(scene, at, sessions).gone.count, 0, "nothing goes by a single look");
    swept(scene, at + 10, sessions)
}

/// Objects: needed and old; old; restored not long ago; extracted not long ago.
#[test]
fn a_sweep_takes_what_is_old_and_not_needed() {
    let scene = scene();
    let contents: Vec<Vec<u8>> = (1..5_u8).map(|n| vec![n; 10_000]).collect();
    let ids: Vec<Object> = contents.iter().map(|c| scene.extracted.put(c).unwrap()).collect();
    let mut records: Vec<Record> = ids.iter().map(|id| extract(id, "k", id, b"p")).collect();
    if let Record::Extract(extract) = &mut records[3] {
        extract.own().at = time(300);
    }
    records.push(restore(&ids[2], "k", time(200)));
    scene.extracted.add(&records).unwrap();
    let mut live = needs(&[&ids[0]]);
    let first = swept(&scene, 50, &mut live);
    assert_eq!(
        (first.kept, first.waiting, first.gone),
        (some(4, 40_000), some(3, 30_000), some(0, 0))
    );
    let dry = sweep(&scene.root, time(101), time(100), &mut live, GiveUp::Missing, true).unwrap();
    let expected = Swept {
        kept: some(3, 30_000),
        waiting: some(2, 20_000),
        gone: some(1, 10_000),
        sessions: vec![scene.extracted.name()],
        ..Swept::default()
    };
    assert_eq!(dry, expected);
    assert_eq!(there(&scene, &ids), [true; 4]);
    assert_eq!(swept(&scene, 100, &mut live), dry);
    assert_eq!(there(&scene, &ids), [true, false, true, true]);
    let gone = scene.extracted.get(&ids[1]).unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    assert_eq!(live.asked, vec![PathBuf::from("/s/one.jsonl"); 3]);
    // What is gone is not counted again, and what is gone is not taken for damage.
    let again = swept(&scene, 100, &mut live);
    assert_eq!((again.kept, again.gone), (some(3, 30_000), some(0, 0)));
    let unread =
        sweep(&scene.root, time(101), time(100), &mut told(Held::Unknown), GiveUp::Missing, true)
            .unwrap();
    assert_eq!((unread.kept, unread.gone), (some(3, 30_000), some(0, 0)));
    // However much later: a live placeholder needs it.
    let late = swept(&scene, 1_000_000_000, &mut live);
    assert_eq!((late.kept, late.gone), (some(1, 10_000), some(2, 20_000)));
    assert_eq!(scene.extracted.get(&ids[0]).unwrap(), contents[0]);
    let path = pack(&scene, &ids[0]);
    let disk = |path: &Path| fs::metadata(path).unwrap().blocks() * 512;
    assert!(disk(&path) < 20_000, "the disk has its room back: {}", disk(&path));
    twice(&scene, 1_000_000_100, &mut needs(&[]));
    assert!(!path.exists());
    assert_eq!(scene.extracted.get(&ids[0]).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn retention_counts_from_when_a_value_was_last_seen_to_be_needed() {
    let scene = scene();
    let id = scene.extracted.put(b"content").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap();
    let late = 1_000_000_000;
    assert_eq!(swept(&scene, late, &mut needs(&[])).waiting.count, 1);
    // Seen again, and then no more: it counts anew.
    assert_eq!(swept(&scene, late + 10, &mut needs(&[&id])).waiting.count, 0);
    assert_eq!(swept(&scene, late + 20, &mut needs(&[])).waiting.count, 1);
    // Another session has its placeholder.
    let mut named = Told { named: vec!["e"], ..needs(&[]) };
    let kept = swept(&scene, late + 30, &mut named);
    assert_eq!((kept.kept.count, kept.waiting.count), (1, 0));
    assert_eq!(swept(&scene, late + 40, &mut needs(&[])).waiting.count, 1);
    // Something that may have it can't be read.
    let disk = PathBuf::from("/disk");
    let mut unread = Told { unread: Some(disk.clone()), ..needs(&[]) };
    let kept = swept(&scene, late + 50, &mut unread);
    assert_eq!((kept.gone.count, kept.unread), (0, vec![disk]));
    // What can't be read says nothing.
    fs::write(scene.extracted.root.join(UNNEEDED), "{").unwrap();
    assert_eq!(swept(&scene, late + 60, &mut needs(&[])).waiting.count, 1);
    assert_eq!(scene.extracted.get(&id).unwrap(), b"content");
    assert_eq!(swept(&scene, late + 70, &mut needs(&[])).gone.count, 1);
    assert_eq!(fs::read(scene.extracted.root.join(UNNEEDED)).unwrap(), b"{}");
}

#[test]
fn a_ledger_may_name_what_another_session_put() {
    let scene = scene();
    let other = Extracted::of(&scene.root, "main", "s-2");
    let id = scene.extracted.put(b"shared").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap();
    other.add(&[extract("f", "k", &id, b"p")]).unwrap();
    let mut of_other = Told { named: vec!["f"], ..needs(&[]) };
    assert_eq!(twice(&scene, 1_000_000_000, &mut of_other).kept, some(1, 6));
    assert_eq!(other.get(&id).unwrap(), b"shared");
}

#[test]
fn what_a_session_that_cannot_be_read_may_need_stays() {
    let scene = scene();
    let one = scene.extracted.put(b"one").unwrap();
    scene.extracted.add(&[extract("e", "k", &one, b"p")]).unwrap();
    let kept = twice(&scene, 1_000_000_000, &mut told(Held::Unknown));
    assert_eq!(kept.unread, [PathBuf::from("/s/one.jsonl")]);
    assert_eq!(scene.extracted.get(&one).unwrap(), b"one");
    // Nobody knows what a ledger names that can't be read.
    let other = Extracted::of(&scene.root, "main", "s-2");
    let three = other.put(b"three").unwrap();
    other.add(&[extract("e", "k", &three, b"p")]).unwrap();
    let ledger = other.folder.join("ledger.jsonl");
    fs::write(&ledger, "no record\n").unwrap();
    let kept = twice(&scene, 1_000_000_100, &mut told(Held::Gone));
    assert_eq!((kept.unread, kept.gone, kept.forgotten), (vec![ledger], some(0, 0), Vec::new()));
    assert_eq!(there(&scene, &[one, three]), [true; 2]);
}

/// A ledger, its folder or the agent's that can't be looked at: whatever the reason, that is not
/// the same as none.
#[test]
fn a_ledger_that_cannot_be_looked_at_keeps_everything() {
    let scene = scene();
    let id = scene.extracted.put(b"one").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap();
    let (folder, ledger) =
        (scene.extracted.folder.clone(), scene.extracted.folder.join("ledger.jsonl"));
    let agent = folder.parent().unwrap().to_owned();
    let keeps = |what: &str, at: i64| {
        let mut gone = told(Held::Gone);
        for at in [at, at + 10] {
            let kept = swept(&scene, 1_000_000_000 + at, &mut gone);
            assert_eq!((kept.gone, kept.unread.len()), (some(0, 0), 1), "{what}: {kept:?}");
        }
        assert_eq!(scene.extracted.get(&id).unwrap(), b"one", "{what}");
    };
    // Links that lead nowhere, as onto a disk that is not there.
    for (n, path) in (0..).zip([&ledger, &folder, &agent]) {
        let aside = path.with_extension("aside");
        fs::rename(path, &aside).unwrap();
        let elsewhere = scene.dir.path().join(format!("elsewhere-{n}"));
        fs::rename(&aside, &elsewhere).unwrap();
        symlink(scene.dir.path().join("nowhere"), path).unwrap();
        keeps(&path.display().to_string(), n * 100);
        fs::remove_file(path).unwrap();
        fs::rename(&elsewhere, path).unwrap();
    }
    // Rights; the superuser has them all.
    for (n, path) in (3..).zip([&ledger, &folder, &agent]) {
        let mode = |mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        mode(0);
        if fs::File::open(path).is_err() {
            keeps(&path.display().to_string(), n * 100);
        }
        mode(0o700);
    }
    assert_eq!(twice(&scene, 1_000_001_000, &mut told(Held::Gone)).gone.count, 1);
}

#[test]
fn what_is_known_of_a_session_that_is_gone_goes_with_its_content() {
    let scene = scene();
    let id = scene.extracted.put(b"content").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p"), restore("e", "k", time(5))]).unwrap();
    let late = 1_000_000_000;
    let mut gone = told(Held::Gone);
    assert!(swept(&scene, late, &mut gone).forgotten.is_empty());
    let dry =
        sweep(&scene.root, time(late + 11), time(late + 10), &mut gone, GiveUp::Missing, true)
            .unwrap();
    assert_eq!((dry.gone.count, &dry.forgotten[..]), (1, &["main/s-1".to_owned()][..]));
    assert!(scene.extracted.folder.exists());
    assert_eq!(swept(&scene, late + 10, &mut gone), dry);
    assert!(!scene.extracted.folder.exists());
    assert!(all(&scene.root).found.is_empty());
    // It may be there again.
    let anew = Extracted::of(&scene.root, "main", "s-1");
    let id = anew.put(b"content").unwrap();
    anew.add(&[extract("e", "k", &id, b"p")]).unwrap();
    // What is still named, or in a session that only lost its placeholders, is remembered.
    let mut named = Told { named: vec!["e"], ..told(Held::Gone) };
    assert!(twice(&scene, late + 100, &mut named).forgotten.is_empty());
    assert!(twice(&scene, late + 200, &mut needs(&[])).forgotten.is_empty());
    assert!(scene.extracted.folder.exists());
}

/// A session that was moved to a folder where nobody looks for sessions.
#[test]
fn content_of_a_session_whose_file_is_gone_stays_unless_it_is_given_up() {
    let scene = scene();
    let id = scene.extracted.put(b"content").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap();
    let mut moved = told(Held::Gone);
    let mut swept =
        |give_up, at| sweep(&scene.root, time(at), time(at), &mut moved, give_up, false).unwrap();
    for at in [1_000, 1_000_000, 1_000_000_000] {
        let swept = swept(GiveUp::None, at);
        assert_eq!((swept.gone, &swept.missing[..]), (some(0, 0), &["main/s-1".to_owned()][..]));
    }
    assert_eq!(scene.extracted.get(&id).unwrap(), b"content");
    assert_eq!(swept(GiveUp::Missing, 2_000_000_000).gone.count, 0, "it is noted as unneeded");
    let given_up = swept(GiveUp::Missing, 2_000_000_100);
    assert_eq!((given_up.gone.count, &given_up.sessions[..]), (1, &["main/s-1".to_owned()][..]));
}

#[test]
fn forget_removes_what_no_other_session_names_and_the_ledger() {
    let scene = scene();
    let contents = [&b"shared"[..], b"own"];
    let ids = contents.map(|content| scene.extracted.put(content).unwrap());
    let records = [extract("e", "k", &ids[0], b"p"), extract("f", "k", &ids[1], b"p")];
    scene.extracted.add(&records).unwrap();
    let fork = Extracted::of(&scene.root, "main", "s-2");
    fork.add(&records[..1]).unwrap();
    let names = |name: &str| BTreeSet::from([name.to_owned()]);
    assert!(forget(&scene.root, time(9), &names("main/none")).is_err());
    forget(&scene.root, time(9), &names("main/s-1")).unwrap();
    assert_eq!(there(&scene, &ids), [true, false]);
    assert!(!scene.extracted.folder.exists() && fork.ledger().unwrap().records.len() == 1);
    // A ledger that can't be read may name the same content.
    fs::write(scene.extracted.root.join("sessions/main/s-2/ledger.jsonl"), "no record\n").unwrap();
    let why = forget(&scene.root, time(9), &names("main/s-2")).unwrap_err().to_string();
    assert!(why.contains("s-2/ledger.jsonl"), "{why}");
    assert_eq!(there(&scene, &ids), [true, false]);
}

#[test]
fn nothing_is_swept_between_store_and_session() {
    let scene = scene();
    let held = scene.extracted.hold().unwrap();
    let again = scene.extracted.hold().unwrap();
    let mut gone = told(Held::Gone);
    let dry = sweep(&scene.root, time(0), time(0), &mut gone, GiveUp::Missing, true).unwrap();
    assert_eq!(dry, Swept::default());
    drop(again);
    let lock = lock(&scene.extracted.root);
    assert!(locks::acquire(&lock, Duration::from_millis(5)).is_err());
    drop(held);
    sweep(&scene.root, time(0), time(0), &mut gone, GiveUp::Missing, false).unwrap();
    let nowhere = Root::new(scene.dir.path().join("nowhere"));
    assert_eq!(
        sweep(&nowhere, time(0), time(0), &mut gone, GiveUp::Missing, false).unwrap(),
        Swept::default()
    );
    assert!(!nowhere.path().exists(), "looking makes nothing");
}

#[test]
fn what_no_ledger_names_goes_once_it_is_old() {
    let scene = scene();
    let id = scene.extracted.put(b"killed").unwrap();
    assert_eq!(scene.extracted.get(&id).unwrap(), b"killed");
    let foreign = pack(&scene, &id).with_file_name("notes.txt");
    fs::write(&foreign, "kept").unwrap();
    let mut gone = told(Held::Gone);
    let now = base::clock::now();
    let hour_ago = now - TimeDelta::hours(1);
    let swept = sweep(&scene.root, now, hour_ago, &mut gone, GiveUp::Missing, false).unwrap();
    assert_eq!((swept.kept, swept.unnamed, swept.gone), (some(0, 6), 6, some(0, 0)));
    let later = hour_ago + TimeDelta::hours(2);
    let swept = sweep(&scene.root, later, later, &mut gone, GiveUp::Missing, false).unwrap();
    assert_eq!((swept.kept, swept.unnamed, swept.gone), (some(0, 0), 0, some(0, 6)));
    assert!(!pack(&scene, &id).exists() && foreign.exists());
    // Its writer goes on, unaware: no ledger names what is gone.
    let why = scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap_err();
    assert_eq!(why.kind(), io::ErrorKind::NotFound);
    assert!(scene.extracted.ledger().unwrap().records.is_empty());
}

/// A kill between two records: what lies behind the last one that is named goes, and what is
/// named stays where it is.
#[test]
fn what_lies_behind_the_last_that_is_named_goes_once_it_is_old() {
    let scene = scene();
    let ids: Vec<Object> =
        [&b"named"[..], b"killed"].iter().map(|c| scene.extracted.put(c).unwrap()).collect();
    scene.extracted.add(&[extract("e", "k", ids[0].clone(), b"p")]).unwrap();
    let now = base::clock::now();
    let mut live = needs(&[&ids[0]]);
    let early =
        sweep(&scene.root, now, now - TimeDelta::hours(1), &mut live, GiveUp::Missing, false)
            .unwrap();
    assert_eq!((early.kept, early.gone), (some(1, 5), some(0, 0)));
    assert_eq!(there(&scene, &ids), [true, true]);
    let later = now + TimeDelta::hours(1);
    for dry in [true, false] {
        let late = sweep(&scene.root, later, later, &mut live, GiveUp::Missing, dry).unwrap();
        assert_eq!((late.kept, late.gone), (some(1, 5), some(0, 6)));
    }
    assert_eq!(there(&scene, &ids), [true, false]);
    let again = sweep(&scene.root, later, later, &mut live, GiveUp::Missing, false).unwrap();
    assert_eq!((again.kept, again.gone), (some(1, 5), some(0, 0)));
    // A ledger that can't be read may name it.
    let other = Extracted::of(&scene.root, "main", "s-2");
    let id = other.put(b"unknown").unwrap();
    other.add(&[extract("e", "k", id.clone(), b"p")]).unwrap();
    fs::write(other.folder.join("ledger.jsonl"), "no record\n").unwrap();
    assert_eq!(
        sweep(&scene.root, later, later, &mut live, GiveUp::Missing, false).unwrap().gone,
        some(0, 0)
    );
    assert_eq!(other.get(&id).unwrap(), b"unknown");
}

/// Sessions that name what no ledger knows tell that a ledger lost something.
#[test]
fn what_no_ledger_names_stays_while_a_session_names_what_none_knows() {
    let scene = scene();
    let contents = [&b"lost"[..], b"needed", b"not needed", b"lost, too"];
    let ids = contents.map(|content| scene.extracted.put(content).unwrap());
    let record = |n: usize| extract("e", "k", ids[n].clone(), b"p");
    scene.extracted.add(&[record(1), record(2)]).unwrap();
    let later = base::clock::now() + TimeDelta::hours(1);
    let sweep = |sessions: &mut Told, hours: i64| {
        let at = later + TimeDelta::hours(hours);
        sweep(&scene.root, at, at, sessions, GiveUp::Missing, false).unwrap()
    };
    let mut lost = Told { named: vec!["other"], ..needs(&[&ids[1]]) };
    assert_eq!(sweep(&mut lost, 0).gone, some(0, 0));
    let swept = sweep(&mut lost, 1);
    assert_eq!((swept.gone, swept.elsewhere), (some(1, 10), vec!["/s/fork.jsonl".into()]));
    assert_eq!(there(&scene, &ids), [true, true, false, true]);
    // Nor with the last that is named.
    let mut lost = Told { named: vec!["other"], ..told(Held::Gone) };
    sweep(&mut lost, 2);
    assert_eq!(sweep(&mut lost, 3).gone.count, 1);
    assert_eq!(there(&scene, &ids), [true, false, false, true]);
    assert!(sweep(&mut told(Held::Gone), 4).gone.bytes > 0);
    assert!(!pack(&scene, &ids[0]).exists());
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
