//! Files: permissions, what a kill, another process or damage leaves in them, and their cost.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use super::*;

/// A process dies between `session.db` and `sessions.db`.
#[test]
fn what_was_left_between_two_databases_is_repeated() {
    let mut store = two();
    let folder = store.folder("one");
    // Only the mark can be written to sessions.db: the change is due, and stays due.
    store.reopen();
    let across = raw(&store.across("sessions.db"));
    across
        .execute_batch(
            "CREATE TRIGGER t BEFORE INSERT ON rounds BEGIN SELECT raise(ABORT, 'killed'); END",
        )
        .unwrap();
    assert!(store.index.tag(&folder, &[2], Some("console")).is_err());
    across.execute_batch("DROP TRIGGER t").unwrap();
    let tagged = "SELECT count(*) FROM rounds WHERE engagement_id = 'console'";
    let count = |path: &Path| -> i64 { raw(path).query_row(tagged, [], |row| row.get(0)).unwrap() };
    assert_eq!((count(&folder.database()), count(&store.across("sessions.db"))), (1, 0));
    assert_eq!(Index::new(store.root()).engagement("console").unwrap().len(), 1);
    assert_eq!(count(&store.across("sessions.db")), 1);
}

/// A process dies after the mark, before it changes anything.
#[test]
fn a_mark_without_a_change_does_no_harm() {
    let mut store = two();
    let folder = store.folder("one");
    raw(&store.across("sessions.db"))
        .execute_batch("UPDATE sessions SET due = revision + 1")
        .unwrap();
    assert_eq!(store.reopen().sessions().unwrap().len(), 2);
    store.index.tag(&folder, &[1], Some("console")).unwrap();
    assert_eq!(store.index.engagement("console").unwrap().len(), 1);
}

#[test]
fn two_write_at_once() {
    let store = Store::new();
    record(&store, "shared", &[round(1, "first", "")], None);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let root = store.root();
            scope.spawn(move || {
                let index = Index::new(root.clone());
                let id = format!("s{writer}");
                let own = root.folder("claude", &id);
                for seq in 1..=20 {
                    let (round, words) = round(seq, "some words", "of an answer");
                    let rounds = [(of(&id, round), words)];
                    index
                        .record(&own, &session(&id), &rounds, &[], &Progress::default(), None)
                        .unwrap();
                    let tag = format!("t{writer}");
                    index.tag(&root.folder("claude", "shared"), &[1], Some(&tag)).unwrap();
                }
            });
        }
    });
    let hits = store.index.search("words", &Filter::default(), 1000).unwrap();
    assert_eq!(hits.len(), 80);
    let shared = store.index.session(&store.folder("shared")).unwrap();
    let tag = shared.rounds[0].engagement.clone().unwrap();
    assert_eq!(store.index.engagement(&tag).unwrap().len(), 1, "the last tag is in both");
    assert!(
        store
            .index
            .check(
                &store
                    .index
                    .sessions()
                    .unwrap()
                    .iter()
                    .map(|s| store.folder(&s.id))
                    .collect::<Vec<_>>()
            )
            .unwrap()
            .is_empty()
    );
}

#[test]
fn another_format_is_refused_and_its_file_named() {
    let mut store = two();
    let folder = store.folder("one");
    store.reopen();
    for path in [store.across("sessions.db"), store.across("search.db"), folder.database()] {
        raw(&path).pragma_update(None, "user_version", 99).unwrap();
    }
    let index = Index::new(store.root());
    for error in [
        index.search("x", &Filter::default(), 1).unwrap_err(),
        index.session(&folder).unwrap_err(),
        index.tag(&folder, &[1], None).unwrap_err(),
    ] {
        let said = error.to_string();
        assert!(said.contains("has format 99, and this brain-guard reads only format 7"), "{said}");
    }
}

#[test]
fn damage_is_named_and_repaired_and_tags_are_kept() {
    let mut store = two();
    let (one, two) = (store.folder("one"), store.folder("two"));
    store.index.tag(&one, &[2], Some("console")).unwrap();
    let folders = [one.clone(), two.clone()];
    assert_eq!(store.index.check(&folders).unwrap(), []);
    let again = |store: &Store, folder: &Folder| {
        store.index.reset(folder).unwrap();
        let rounds: Vec<_> = (1..=3).map(|seq| round(seq, "the console", "again")).collect();
        record(store, &folder.session, &rounds, None);
    };
    let paths = [one.database(), store.across("search.db"), store.across("sessions.db")];
    for (path, count) in paths.iter().zip([1, 2, 0]) {
        store.reopen();
        std::fs::write(path, "no database, but long enough to be looked at ".repeat(99)).unwrap();
        let error = match count {
            1 => store.index.session(&one).unwrap_err(),
            2 => store.index.search("x", &Filter::default(), 1).unwrap_err(),
            _ => store.index.sessions().unwrap_err(),
        };
        let said = error.to_string();
        assert!(said.contains("doctor --fix") && said.contains(path.to_str().unwrap()));
        let faults = store.index.check(&folders).unwrap();
        assert!(faults[0].damaged && faults[0].path == *path, "{faults:?}");
        let anew = store.index.repair(&folders, &faults).unwrap();
        assert_eq!(anew.len(), count, "{path:?}: {anew:?}");
        for folder in &anew {
            again(&store, folder);
        }
        assert_eq!(store.index.check(&folders).unwrap(), [], "{path:?}");
        let tagged = store.index.engagement("console").unwrap();
        assert_eq!(
            tagged.iter().map(|(s, r)| (s.id.as_str(), r.seq)).collect::<Vec<_>>(),
            [("one", 2)]
        );
        assert!(!found(&store, "console").is_empty());
    }
}

#[test]
fn files_are_private() {
    let store = two();
    for path in
        [store.folder("one").database(), store.across("sessions.db"), store.across("search.db")]
    {
        for end in ["", "-wal", "-shm"] {
            let file = PathBuf::from(format!("{}{end}", path.display()));
            // Only an open database has a log.
            let Ok(meta) = std::fs::metadata(&file) else { continue };
            assert_eq!(meta.permissions().mode() & 0o777, 0o600, "{file:?}");
        }
    }
    let mode = std::fs::metadata(store.folder("one").path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// A reader leaves nothing behind.
#[test]
fn reading_leaves_a_session_as_it_is() {
    let mut store = two();
    let folder = store.folder("one");
    store.reopen();
    let look = || {
        let mut names: Vec<_> = std::fs::read_dir(&folder.path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        (names, std::fs::read(folder.database()).unwrap())
    };
    let before = look();
    assert_eq!(before.0, ["session.db"]);
    store.index.session(&folder).unwrap();
    store.index.progress(&folder).unwrap();
    store.index.search("console", &Filter::default(), 3).unwrap();
    assert_eq!(look(), before);
}

/// Ten thousand rounds at once, in a build without optimization.
#[test]
fn many_rounds_are_one_transaction() {
    let store = Store::new();
    let words = "the parser reads what the agent said about the console and its colours ".repeat(8);
    let rounds: Vec<_> =
        (1..=10_000).map(|seq| round(seq, "a question of the user", &words)).collect();
    let begun = Instant::now();
    record(&store, "long", &rounds, None);
    let took = begun.elapsed();
    assert!(took.as_secs() < 10, "{took:?}");
    eprintln!("10,000 rounds recorded in {took:?}");
    let begun = Instant::now();
    record(&store, "long", &rounds[9_999..], None);
    let again = begun.elapsed();
    let bound = (took / 10).max(Duration::from_millis(500));
    assert!(again < bound, "only what changed is written: {again:?}");
}
