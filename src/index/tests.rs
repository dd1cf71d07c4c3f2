use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use proptest::prelude::*;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::clock::Time;
use crate::surgery::engagement::Phase;
use crate::transcript::round::{Round, Session};

struct Store {
    dir: TempDir,
    index: Index,
}

impl Store {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::new(Root::new(dir.path().join("store")));
        Self { dir, index }
    }

    fn root(&self) -> Root {
        Root::new(self.dir.path().join("store"))
    }

    fn folder(&self, session: &str) -> Folder {
        self.root().folder("claude", session)
    }

    /// Closes all databases and opens them again when they are needed.
    fn reopen(&mut self) -> &Index {
        self.index = Index::new(self.root());
        &self.index
    }

    fn across(&self, name: &str) -> PathBuf {
        self.root().sessions().join(name)
    }
}

fn raw(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

fn at(text: &str) -> Time {
    text.parse().unwrap()
}

fn round(seq: u32, user: &str, agent: &str) -> (Round, Words) {
    let minute = at("2026-03-19T10:00:00.125Z") + chrono::TimeDelta::minutes(i64::from(seq));
    let round = Round {
        seq,
        started: Some(minute),
        ended: Some(minute + chrono::TimeDelta::seconds(30)),
        user: true,
        assistant: !agent.is_empty(),
        user_preview: user.into(),
        agent_preview: agent.into(),
        key_tool: Some("Agent·Read console".into()),
        tools: BTreeMap::from([("Agent".into(), 2)]),
        files: ["a/b.rs".into()].into(),
        tokens: 1234,
        measured: seq.is_multiple_of(2),
        rows: 3,
        bytes: u64::from(seq) * 1000,
        follows: seq.checked_sub(1).filter(|seq| *seq > 0),
        boundary: seq == 7,
        said: Some("00000000000000d1".into()),
        first_id: Some(format!("id-{seq}")),
        engagement: None,
        position: (3 << 40) | u64::from(seq),
    };
    (round, Words { user: user.into(), agent: agent.into() })
}

fn session(id: &str) -> Session {
    Session {
        id: id.into(),
        agent: "claude".into(),
        dialect: "claude".into(),
        cwd: Some("/home/u/project".into()),
        source: Some(format!("/home/u/{id}.jsonl")),
        started: Some(at("2026-03-19T10:00:00Z")),
        ended: Some(at("2026-03-19T18:00:00Z")),
        parent: None,
        rounds: Vec::new(),
    }
}

fn record(store: &Store, id: &str, rounds: &[(Round, Words)], engagement: Option<&str>) {
    let progress = Progress { source: "/s.jsonl".into(), bytes: 9, rows: 3, state: "{}".into() };
    store.index.record(&store.folder(id), &session(id), rounds, &progress, engagement).unwrap();
}

/// Two sessions about different things.
fn two() -> Store {
    let store = Store::new();
    let console = [
        round(1, "Design the console", "The architecture is a well-known one"),
        round(2, "tag the café résumé", "done, in snake_case"),
        round(3, "東京タワーに行きたい", "好的,我们去东京"),
    ];
    record(&store, "one", &console, None);
    record(&store, "two", &[round(1, "something else", "the console is mentioned")], None);
    store
}

fn found(store: &Store, query: &str) -> Vec<String> {
    let hits = store.index.search(query, &Filter::default(), 10).unwrap();
    hits.iter().map(|hit| format!("{}:{}", hit.session, hit.seq)).collect()
}

#[test]
fn what_was_recorded_is_read() {
    let mut store = two();
    let folder = store.folder("one");
    let read = store.reopen().session(&folder).unwrap();
    let expected = [
        round(1, "Design the console", "The architecture is a well-known one").0,
        round(2, "tag the café résumé", "done, in snake_case").0,
        round(3, "東京タワーに行きたい", "好的,我们去东京").0,
    ];
    assert_eq!(read, Session { rounds: expected.into(), ..session("one") });
    let progress = store.index.progress(&folder).unwrap().unwrap();
    assert_eq!((progress.bytes, progress.rows, progress.state.as_str()), (9, 3, "{}"));
    let missing = store.folder("three");
    assert_eq!(store.index.progress(&missing).unwrap(), None);
    assert!(store.index.session(&missing).unwrap_err().to_string().contains("not inscribed"));
    assert!(!missing.path.exists(), "reading makes nothing");
    let ids: Vec<String> = store.index.sessions().unwrap().into_iter().map(|s| s.id).collect();
    assert_eq!(ids, ["one", "two"]);
}

#[test]
fn a_store_that_is_not_there_is_empty_and_stays_away() {
    let store = Store::new();
    assert_eq!(store.index.search("x", &Filter::default(), 5).unwrap(), []);
    assert_eq!(store.index.sessions().unwrap(), []);
    assert!(store.index.engagement("x").unwrap_err().to_string().contains("are: none"));
    assert!(!store.root().sessions().exists());
}

/// Seed 000: "The canonical query for engagement archaeology … works within a session's
/// session.db or across all sessions".
#[test]
fn the_seeds_query_works_in_both_databases() {
    let mut store = two();
    let folder = store.folder("one");
    assert_eq!(store.index.tag(&folder, &[3, 1], Some("console-work")).unwrap(), 2);
    assert_eq!(store.index.tag(&store.folder("two"), &[1], Some("console-work")).unwrap(), 1);
    assert_eq!(store.index.tag(&folder, &[1], Some("console-work")).unwrap(), 0, "as it was");
    store.reopen();
    let query = "SELECT * FROM rounds WHERE engagement_id = 'console-work' ORDER BY started";
    for (path, count) in [(folder.database(), 2), (store.across("sessions.db"), 3)] {
        let database = raw(&path);
        let mut rows = database.prepare(query).unwrap();
        let started = |row: &rusqlite::Row| row.get::<_, String>("started");
        let times: Vec<String> =
            rows.query_map([], started).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(times.len(), count, "{path:?}");
        assert_eq!(times[0], "2026-03-19T10:01:00.125Z");
        assert_eq!(times[count - 1], "2026-03-19T10:03:00.125Z");
    }
    let of = store.index.engagement("console-work").unwrap();
    let places: Vec<_> = of.iter().map(|(s, r)| (s.id.as_str(), r.seq)).collect();
    assert_eq!(places, [("one", 1), ("two", 1), ("one", 3)], "by time");
    assert_eq!(store.index.engagements().unwrap(), [("console-work".to_owned(), 3)]);
    assert_eq!(store.index.tag(&folder, &[1, 2, 3], None).unwrap(), 2);
    assert_eq!(store.index.engagement("console-work").unwrap().len(), 1);
    let none = store.index.engagement("console").unwrap_err().to_string();
    assert!(none.contains("no round is tagged console; engagements there are: console-work"));
}

#[test]
fn rounds_that_are_not_there_are_named_and_nothing_is_tagged() {
    let store = two();
    let folder = store.folder("one");
    let error = store.index.tag(&folder, &[2, 4, 9], Some("x")).unwrap_err().to_string();
    assert_eq!(error, "session one has rounds 1-3; there is no 4, 9");
    let many: Vec<u32> = (1..100).collect();
    let error = store.index.tag(&folder, &many, Some("x")).unwrap_err().to_string();
    assert!(error.ends_with("there is no 4, 5, 6, 7, 8, 9, 10, 11, …"), "{error}");
    assert!(store.index.session(&folder).unwrap().rounds.iter().all(|r| r.engagement.is_none()));
    let error = store.index.tag(&store.folder("no"), &[1], Some("x")).unwrap_err().to_string();
    assert!(error.contains("session no is not inscribed"), "{error}");
    assert!(!store.folder("no").path.exists());
}

#[test]
fn tags_outlive_what_is_recorded_again() {
    let store = two();
    let folder = store.folder("one");
    store.index.tag(&folder, &[1], Some("console")).unwrap();
    let grown = round(1, "Design the console", "The architecture is a lighthouse");
    record(&store, "one", &[grown, round(4, "new", "")], Some("auto"));
    let tags = |store: &Store| -> Vec<Option<String>> {
        let rounds = store.index.session(&folder).unwrap().rounds;
        rounds.into_iter().map(|r| r.engagement).collect()
    };
    let auto = Some("auto".to_owned());
    assert_eq!(tags(&store), [Some("console".to_owned()), None, None, auto.clone()]);
    assert_eq!(found(&store, "lighthouse"), ["one:1"]);
    assert!(found(&store, "well-known").is_empty(), "the old words are gone");

    // Indexed anew, with a round before: tags follow the rows, and those without keep none.
    store.index.reset(&folder).unwrap();
    assert_eq!(store.index.progress(&folder).unwrap(), None);
    assert_eq!(tags(&store), []);
    assert!(found(&store, "lighthouse").is_empty());
    let mut moved: Vec<_> = (1..=4).map(|seq| round(seq, "again", "")).collect();
    moved.insert(0, round(9, "first", ""));
    for (n, (round, _)) in moved.iter_mut().enumerate() {
        round.seq = n as u32 + 1;
    }
    record(&store, "one", &moved, Some("later"));
    let expected = [Some("later".to_owned()), Some("console".to_owned()), None, None, auto];
    assert_eq!(tags(&store), expected);
    assert_eq!(store.index.engagement("console").unwrap()[0].1.seq, 2);
}

#[test]
fn words_phrases_and_scripts_are_found() {
    let store = two();
    for (query, expected) in [
        ("console", &["one:1", "two:1"][..]),
        ("CONSOLE design", &["one:1"]),
        ("console elephant", &[]),
        ("\"the console\"", &["one:1", "two:1"]),
        ("\"console the\"", &[]),
        ("arch*", &["one:1"]),
        ("well-known", &["one:1"]),
        ("well-unknown", &[]),
        ("snake_case", &["one:2"]),
        ("cafe resume", &["one:2"]),
        ("CAFÉ", &["one:2"]),
        ("東京", &["one:3"]),
        ("タワー", &["one:3"]),
        ("京東", &[]),
        ("东京", &["one:3"]),
        ("console AND NOT (", &[]),
        ("-> console", &["one:1", "two:1"]),
    ] {
        assert_eq!(found(&store, query), expected, "{query}");
    }
    let hits = store.index.search("東京", &Filter::default(), 1).unwrap();
    assert_eq!(hits[0].snippet.marked("<", ">"), "<東京>タワーに行きたい");
    assert_eq!(serde_json::to_value(&hits[0]).unwrap()["snippet"], "[東京]タワーに行きたい");
    let error = store.index.search(" \"\" ", &Filter::default(), 1).unwrap_err().to_string();
    assert!(error.contains("holds no word"), "{error}");
}

#[test]
fn search_is_narrowed() {
    let store = two();
    store.index.tag(&store.folder("two"), &[1], Some("other")).unwrap();
    let found = |filter: Filter, limit| {
        let hits = store.index.search("console", &filter, limit).unwrap();
        hits.into_iter().map(|hit| hit.session).collect::<Vec<_>>()
    };
    let all = Filter::default;
    assert_eq!(found(all(), 1), ["one"]);
    assert_eq!(found(Filter { session: Some(store.folder("two")), ..all() }, 9), ["two"]);
    assert!(found(Filter { session: Some(store.folder("no")), ..all() }, 9).is_empty());
    for (tagged, expected) in [
        (Tagged::As("other".into()), &["two"][..]),
        (Tagged::As("none".into()), &[]),
        (Tagged::No, &["one"]),
        (Tagged::Not("other".into()), &["one"]),
        (Tagged::Not("none".into()), &["one", "two"]),
    ] {
        assert_eq!(found(Filter { tagged: tagged.clone(), ..all() }, 9), expected, "{tagged:?}");
    }
    assert!(found(Filter { agent: Some("Explore".into()), ..all() }, 9).is_empty());
    assert_eq!(found(Filter { agent: Some("claude".into()), ..all() }, 9).len(), 2);
    let since = |text| Filter { since: Some(at(text)), ..all() };
    assert_eq!(found(since("2026-03-19T10:00:00Z"), 9).len(), 2);
    assert!(found(since("2026-03-19T10:01:01Z"), 9).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// No query of a person is an error of SQLite's.
    #[test]
    fn no_query_is_a_syntax_error(query in "(\\PC|[\"*()^:+{}\\-\u{2}\0]| (AND|OR|NOT|NEAR) ){0,12}") {
        thread_local!(static STORE: Store = two());
        STORE.with(|store| match store.index.search(&query, &Filter::default(), 3) {
            Ok(_) | Err(Error::Unknown(_)) => {}
            Err(e) => panic!("{query:?}: {e}"),
        });
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Each word of a text, taken as it stands, finds that text.
    #[test]
    fn every_word_of_a_text_finds_it(text in "[a-zA-Zäöüßéñ0-9日本語한글ไทย_.'\"!-]{1,12}( [a-z日本]{1,6}){0,3}") {
        let store = Store::new();
        record(&store, "s", &[round(1, &text, "")], None);
        for word in text.split_whitespace().filter(|w| query::expression(w).is_some()) {
            prop_assert_eq!(found(&store, word), ["s:1"], "{}", word);
        }
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
            // Only what is open has a log.
            let Ok(meta) = std::fs::metadata(&file) else { continue };
            assert_eq!(meta.permissions().mode() & 0o777, 0o600, "{file:?}");
        }
    }
    let mode = std::fs::metadata(store.folder("one").path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// What a reader leaves behind: nothing.
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

/// A process that ends between `session.db` and `sessions.db`.
#[test]
fn what_was_left_between_two_databases_is_repeated() {
    let mut store = two();
    let folder = store.folder("one");
    // Nobody can write sessions.db but for the mark: the change is due and stays so.
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

/// A process that ends after the mark, before it changed anything.
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
                    let rounds = [round(seq, "some words", "of an answer")];
                    index.record(&own, &session(&id), &rounds, &Progress::default(), None).unwrap();
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
fn a_newer_schema_is_refused() {
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
        assert!(said.contains("of a newer brain-guard (schema 99, this one knows 1)"), "{said}");
    }
}

#[test]
fn damage_is_named_and_mended_and_tags_are_kept() {
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
        assert!(said.contains("store check --repair") && said.contains(path.to_str().unwrap()));
        let faults = store.index.check(&folders).unwrap();
        assert!(faults[0].damaged && faults[0].path == *path, "{faults:?}");
        let anew = store.index.mend(&folders, &faults).unwrap();
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
fn phases_and_exports_are_kept() {
    let mut store = two();
    let phase = |name: &str, from, to: Option<&str>| Phase {
        name: name.into(),
        from: at(from),
        to: to.map(at),
    };
    let phases = [
        phase("design", "2026-03-19T10:00:00Z", Some("2026-03-19T12:00:00Z")),
        phase("build", "2026-03-19T12:00:00Z", None),
    ];
    store.index.set_phases("console", &phases[..1]).unwrap();
    store.index.set_phases("console", &phases).unwrap();
    assert_eq!(store.reopen().phases("console").unwrap(), phases);
    assert_eq!(store.index.phases("other").unwrap(), []);

    let mut export = Export {
        id: "new".into(),
        made: at("2026-03-20T08:00:00Z"),
        operation: "merge".into(),
        path: "/p/new.jsonl".into(),
        bytes: 7,
        sha256: "ab".into(),
        undone: None,
        detail: Detail {
            sources: vec![("claude".into(), "one".into()), ("claude".into(), "two".into())],
            companions: vec![],
            index: vec![(0, 1), (1, 1)],
        },
    };
    store.index.add_export(&export).unwrap();
    assert!(store.index.add_export(&export).is_err(), "twice");
    assert_eq!(store.index.exports().unwrap(), [export.clone()]);
    store.index.undo_export("new", at("2026-03-21T08:00:00Z")).unwrap();
    export.undone = Some(at("2026-03-21T08:00:00Z"));
    assert_eq!(store.reopen().exports().unwrap(), [export]);
}

/// Ten thousand rounds in one go, in a build without optimisation.
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
    assert!(begun.elapsed().as_millis() < 500, "only what changed is written");
}
