//! A refused run leaves no unknown content in the store, however often it is tried. A fault in
//! another session does not block this one.

use std::io;

use super::*;
use sessions::files::{Change, Edited, Jsonl, SessionFile, Stamp};

/// A session on a disk that is full after this many rows.
struct Full {
    file: Jsonl,
    rows: u64,
}

impl SessionFile for Full {
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        self.file.rows(each)
    }

    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused> {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        self.file.edit(stamp, &mut |row, line| {
            let changed = change(row, line)?;
            if row >= self.rows { Err(full()) } else { Ok(changed) }
        })
    }
}

impl World {
    fn packs(&self) -> Vec<(PathBuf, u64)> {
        let entries = fs::read_dir(self.root().path().join("extracted/objects"));
        let entries = entries.into_iter().flatten().flatten();
        let mut found: Vec<_> = entries.map(|e| (e.path(), e.metadata().unwrap().len())).collect();
        found.sort();
        found
    }

    /// A run that fails after this many rows.
    fn fails(&self, rows: u64) -> u64 {
        let now = clock::now();
        let source = Source {
            file: Box::new(Full { file: Jsonl::new(self.path()), rows }),
            ..self.source()
        };
        let planned = plan_session(&source, &eager(), now).unwrap();
        assert!(!planned.plan.items.is_empty());
        let why = execute(&source, &eager(), now, &planned).unwrap_err();
        assert!(matches!(why.downcast_ref(), Some(Refused::Io(_))), "{why}");
        planned.plan.items.last().unwrap().row
    }
}

#[test]
fn a_run_on_a_full_disk_leaves_no_content_that_nothing_names() {
    let made = pi::session(7, 6);
    let world = World::new(&made.id, &made.bytes);
    let last = world.fails(0);
    for _ in 0..2 {
        world.fails(last - 1);
        assert!(world.packs().is_empty(), "{:?}", world.packs());
        assert!(world.source_ledger().records.is_empty());
    }
    // After the last value the ledger has it, and later runs need not store it again.
    world.fails(last);
    let packs = world.packs();
    assert_eq!(packs.len(), 1);
    for _ in 0..2 {
        world.fails(last);
        assert_eq!(world.packs(), packs);
    }
    assert_eq!(world.bytes(), made.bytes);
    let (now, source) = (clock::now(), world.source());
    let found = world.planned(&eager(), now);
    let done = execute(&source, &eager(), now, &found).unwrap();
    assert_eq!((done.values, world.packs()), (found.plan.items.len() as u64, packs.clone()));
    restore::in_place(&source, &eager(), now, "all", &[], true).unwrap();
    assert_eq!(world.bytes(), made.bytes);
    // Damaged content is stored again.
    fs::write(&packs[0].0, vec![b'x'; packs[0].1 as usize]).unwrap();
    let found = world.planned(&eager(), now);
    execute(&world.source(), &eager(), now, &found).unwrap();
    assert_eq!(world.packs().len(), 2);
    restore::in_place(&world.source(), &eager(), now, "all", &[], true).unwrap();
    assert_eq!(world.bytes(), made.bytes);
}

/// Rows that may be another session's placeholders stay; everything else is extracted and restored.
#[test]
fn a_ledger_of_another_session_that_is_broken_keeps_its_rows_alone() {
    let made = pi::session(7, 6);
    let world = World::new(&made.id, &made.bytes);
    let (now, settings) = (clock::now(), eager());
    let first = world.planned(&settings, now);
    execute(&world.source(), &settings, now, &first).unwrap();
    let taken = first.plan.items.len();
    // A fork with results of its own.
    let path = world.dir.path().join("pi/fork.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let row = |n: u32| {
        format!(
            "{{\"type\":\"message\",\"id\":\"own-{n}\",\"parentId\":null,\"message\":{{\"role\":\"toolResult\",\"toolCallId\":\"t{n}\",\"toolName\":\"exec\",\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}],\"isError\":false}}}}\n",
            format!("{n} of its own. ").repeat(200)
        )
    };
    let lean = [&world.bytes()[..], row(1).as_bytes(), row(2).as_bytes()].concat();
    fs::write(&path, &lean).unwrap();
    let file = File::options().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).unwrap();
    let text = String::from_utf8(lean.clone()).unwrap().replacen(&made.id, "another", 1);
    fs::write(&path, text).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).unwrap();
    let lean = fs::read(&path).unwrap();
    let open = || source::open(&world.root(), &path).unwrap();
    let ledger = world.source().extracted.folder.join("ledger.jsonl");
    let sound = fs::read(&ledger).unwrap();
    fs::write(&ledger, "no record\n").unwrap();
    let plan = plan_session(&open(), &settings, now).unwrap();
    let said = plan.read.doubt.said.clone().unwrap();
    for word in ["ledger.jsonl: line 1", "repair or remove that line", "fork.jsonl"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(!plan.read.doubt.rows.is_empty());
    let entries: Vec<&str> = plan.plan.items.iter().map(|item| item.entry.as_str()).collect();
    assert!(entries.contains(&"own-1") && entries.contains(&"own-2"), "{entries:?}");
    execute(&open(), &settings, now, &plan).unwrap();
    let rows = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let now_there = fs::read(&path).unwrap();
    for (n, (old, new)) in (0..).zip(rows(&lean).iter().zip(&rows(&now_there))) {
        assert!(old == new || !plan.read.doubt.rows.contains(&n), "row {n}");
    }
    // What its own ledger has is restored.
    restore::in_place(&open(), &settings, now, "all", &[], true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), lean);
    // Once the ledger is repaired, the rows are placeholders again.
    fs::write(&ledger, sound).unwrap();
    let read = read::session(&open()).unwrap();
    assert_eq!(
        (read.live.len(), read.doubt),
        (taken, super::super::placeholder_lookup::Doubt::default())
    );
}
