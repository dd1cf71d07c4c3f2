//! The index through its public functions: what is recorded, tagged and noted is read again.

mod repair;
mod search;

use std::collections::BTreeMap;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::engagement::Phase;
use base::clock::Time;
use sessions::origin::Origin;
use sessions::round::{Round, Session};
use sessions::sent::{Part, Standing, State};

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

    /// Closes all databases; they are opened again when needed.
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
        boundary: seq == 7,
        first_id: Some(format!("id-{seq}")),
        last_id: Some("last".into()),
        origin: None,
        copied: None,
        less: seq == 2,
        more: seq == 3,
        standing: Standing::default(),
        table: (seq == 6).then(Vec::new),
        engagement: None,
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
        base: Some(14_000),
        used: None,
        cut: Some(18),
        model: Some("claude-opus-5-5".into()),
        rounds: Vec::new(),
    }
}

/// A round with the ids of a session's rows.
fn of(id: &str, round: Round) -> Round {
    Round { first_id: round.first_id.map(|first| format!("{id}/{first}")), ..round }
}

fn record(store: &Store, id: &str, rounds: &[(Round, Words)], engagement: Option<&str>) {
    let progress = Progress { source: "/s.jsonl".into(), bytes: 9, rows: 3, state: "{}".into() };
    let rounds: Vec<_> =
        rounds.iter().map(|(r, words)| (of(id, r.clone()), words.clone())).collect();
    store
        .index
        .record(&store.folder(id), &session(id), &rounds, &[], &progress, engagement)
        .unwrap();
}

/// Two sessions about different subjects.
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
    assert_eq!(read, Session { rounds: expected.map(|r| of("one", r)).into(), ..session("one") });
    let progress = store.index.progress(&folder).unwrap().unwrap();
    assert_eq!((progress.bytes, progress.rows, progress.state.as_str()), (9, 3, "{}"));
    let missing = store.folder("three");
    assert_eq!(store.index.progress(&missing).unwrap(), None);
    assert!(store.index.session(&missing).unwrap_err().to_string().contains("not imported"));
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
    assert!(error.contains("session no is not imported"), "{error}");
    assert!(!store.folder("no").path.exists());
}

#[test]
fn tags_outlive_what_is_recorded_again() {
    let store = two();
    let folder = store.folder("one");
    store.index.tag(&folder, &[1], Some("console")).unwrap();
    let grown = round(1, "Design the console", "The architecture is a lighthouse");
    let own = |(round, words): (Round, Words)| {
        (Round { engagement: Some("auto".into()), ..round }, words)
    };
    record(&store, "one", &[grown, own(round(4, "new", ""))], None);
    let tags = |store: &Store| -> Vec<Option<String>> {
        let rounds = store.index.session(&folder).unwrap().rounds;
        rounds.into_iter().map(|r| r.engagement).collect()
    };
    let auto = Some("auto".to_owned());
    assert_eq!(tags(&store), [Some("console".to_owned()), None, None, auto.clone()]);
    assert_eq!(found(&store, "lighthouse"), ["one:1"]);
    assert!(found(&store, "well-known").is_empty(), "the old words are gone");

    // Indexed again with a round in front: tags follow the rows; untagged rounds stay untagged.
    store.index.reset(&folder).unwrap();
    assert_eq!(store.index.progress(&folder).unwrap(), None);
    assert_eq!(tags(&store), []);
    assert!(found(&store, "lighthouse").is_empty());
    let mut moved: Vec<_> = (1..=4).map(|seq| round(seq, "again", "")).collect();
    moved.insert(0, round(9, "first", ""));
    for (n, (round, _)) in moved.iter_mut().enumerate() {
        round.seq = n as u32 + 1;
    }
    moved[0].0.engagement = Some("later".into());
    record(&store, "one", &moved, None);
    let expected = [Some("later".to_owned()), Some("console".to_owned()), None, None, auto];
    assert_eq!(tags(&store), expected);
    assert_eq!(store.index.engagement("console").unwrap()[0].1.seq, 2);
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
        removed: None,
        detail: Detail {
            sources: vec![("claude".into(), "one".into()), ("claude".into(), "two".into())],
            companions: vec![],
            tables: vec![],
            mark: (5, 0, 7, 3),
        },
    };
    store.index.add_export(&export).unwrap();
    assert!(store.index.add_export(&export).is_err(), "twice");
    assert_eq!(store.index.exports().unwrap(), [export.clone()]);
    export.detail.tables =
        vec![Numbers::from_seqs("claude", "one", Some(9), [1, 2, 3, 5].into_iter())];
    assert_eq!(export.detail.tables[0].rounds, [(1, 3), (5, 5)]);
    export.detail.mark = (5, 6, 7, 3);
    store.index.detail_export("new", &export.detail).unwrap();
    assert_eq!(store.index.exports().unwrap(), [export.clone()]);
    store.index.mark_removed("new", at("2026-03-21T08:00:00Z")).unwrap();
    export.removed = Some(at("2026-03-21T08:00:00Z"));
    assert_eq!(store.reopen().exports().unwrap(), [export]);
}

#[test]
fn a_copy_has_the_tag_and_the_tokens_of_its_origin() {
    let store = two();
    store.index.tag(&store.folder("one"), &[1, 2], Some("console")).unwrap();
    let copy = |seq, origin: Option<(&str, u32)>, row: Option<(&str, &str)>| {
        let (round, words) = round(seq, "again", "said");
        let origin = origin.map(|(session, seq)| Origin { session: session.into(), seq });
        let copied = row.map(|(session, row)| (session.to_owned(), row.to_owned()));
        (Round { tokens: 9, measured: false, origin, copied, ..round }, words)
    };
    let rounds = [
        copy(1, Some(("one", 2)), None),
        // A client's fork names the row.
        copy(2, None, Some(("one", "one/id-1"))),
        copy(3, Some(("gone", 2)), None),
        copy(4, None, None),
    ];
    record(&store, "copy", &rounds, None);
    let of = |id: &str| store.index.session(&store.folder(id)).unwrap().rounds;
    let seen: Vec<_> = of("copy")
        .into_iter()
        .map(|r| (r.origin.map(|o| o.to_string()), r.engagement, r.tokens))
        .collect();
    let console = || Some("console".to_owned());
    assert_eq!(
        seen,
        [
            (Some("one:2".into()), console(), 1234),
            (Some("one:1".into()), console(), 9),
            (Some("gone:2".into()), None, 9),
            (None, None, 9),
        ]
    );
    // A copy of the copy, in what a split made for an engagement.
    record(
        &store,
        "child",
        &[copy(1, None, Some(("copy", "copy/id-2"))), copy(2, None, None)],
        Some("ui"),
    );
    let seen: Vec<_> =
        of("child").into_iter().map(|r| (r.origin.map(|o| o.to_string()), r.engagement)).collect();
    assert_eq!(seen, [(Some("one:1".into()), console()), (None, None)]);
    // Of a session that is not there.
    record(&store, "alone", &[copy(1, Some(("away", 1)), None), copy(2, None, None)], Some("ui"));
    let seen: Vec<_> = of("alone").into_iter().map(|r| r.engagement).collect();
    assert_eq!(seen, [Some("ui".to_owned()), None]);
}

#[test]
fn a_round_and_its_copies_have_one_tag() {
    let store = two();
    let copy = |seq, of: (&str, u32)| {
        let (round, words) = round(seq, "again", "said");
        let origin = Some(Origin { session: of.0.into(), seq: of.1 });
        (Round { origin, ..round }, words)
    };
    let table = |seq| {
        let (round, words) = round(seq, "a table", "said");
        (Round { table: Some(Vec::new()), ..round }, words)
    };
    let tags = |id: &str| -> Vec<Option<String>> {
        let rounds = store.index.session(&store.folder(id)).unwrap().rounds;
        rounds.into_iter().map(|r| r.engagement).collect()
    };
    let tag = |id: &str, rounds: &[u32], tag: Option<&str>| {
        store.index.tag(&store.folder(id), rounds, tag).unwrap()
    };
    let ui = || Some("ui".to_owned());
    record(&store, "first", &[table(1), copy(2, ("one", 2)), copy(3, ("later", 1))], None);
    record(&store, "second", &[copy(1, ("one", 2)), copy(2, ("one", 3))], None);
    assert_eq!(tag("first", &[1, 2, 3], Some("ui")), 2, "a table has no tag");
    assert_eq!(tags("first"), [None, ui(), ui()]);
    assert_eq!(tags("one"), [None, ui(), None]);
    assert_eq!(tags("second"), [ui(), None]);
    // Its original is imported after it was tagged.
    record(&store, "later", &[round(1, "ask", "say"), round(2, "ask", "say")], None);
    assert_eq!(tags("later"), [ui(), None]);
    // The next successor has the tag, too, and the last one set counts.
    record(&store, "third", &[copy(1, ("one", 2))], Some("another"));
    assert_eq!(tags("third"), [ui()]);
    tag("one", &[2], None);
    assert_eq!((tags("first"), tags("third")), (vec![None, None, ui()], vec![None]));
}

#[test]
fn a_fork_that_keeps_the_ids_of_rows_is_known() {
    let store = two();
    let same = |seq: u32, id: &str, last: &str| {
        let (round, words) = round(seq, "again", "");
        (Round { first_id: Some(id.into()), last_id: Some(last.into()), ..round }, words)
    };
    let rounds = [
        same(1, "one/id-1", "last"),
        same(2, "one/id-2", "one/id-2"),
        same(3, "one/id-3", "another"),
        same(4, "new", "new"),
    ];
    let progress = Progress { source: "/f.jsonl".into(), bytes: 9, rows: 3, state: "{}".into() };
    let folder = store.folder("fork");
    for _ in 0..2 {
        store.index.record(&folder, &session("fork"), &rounds, &[], &progress, None).unwrap();
        let rounds = store.index.session(&folder).unwrap().rounds;
        let seen: Vec<_> =
            rounds.into_iter().map(|r| (r.origin.map(|o| o.to_string()), r.more)).collect();
        let from = |seq: u32| Some(format!("one:{seq}"));
        assert_eq!(seen, [(from(1), false), (from(2), false), (from(3), true), (None, false)]);
        // The original stays the original.
        record(&store, "one", &[round(1, "Design the console", "more")], None);
        let original = store.index.session(&store.folder("one")).unwrap();
        assert!(original.rounds.iter().all(|round| round.origin.is_none()));
    }
}

#[test]
fn figures_are_those_of_the_rounds_in_the_context() {
    let store = two();
    // Round 1 was compacted, and round 2 was rewound.
    let mut rounds = [1, 2, 3, 4].map(|seq| round(seq, "ask", "say"));
    rounds[0].0.standing.state = State::Compacted;
    rounds[1].0.standing.state = State::Rewound;
    rounds[1].0.tokens = 9;
    for (round, _) in &mut rounds {
        round.engagement = Some("console-work".into());
    }
    record(&store, "three", &rounds, None);
    store.index.tag(&store.folder("three"), &[4], Some("import-work")).unwrap();
    let (one, three) = (session("one"), session("three"));
    let figures = store.index.figures(&[&three, &one, &session("none")]).unwrap();
    let expected = |rounds, tokens, engagements: &[&str]| Figures {
        rounds,
        tokens,
        engagements: engagements.iter().map(|id| (*id).to_owned()).collect(),
    };
    assert_eq!(
        figures,
        [
            expected(4, 2 * 1234, &["console-work", "import-work"]),
            expected(3, 3 * 1234, &[]),
            expected(0, 0, &[]),
        ]
    );
}

/// A rewind or a compaction changes how rounds stand that were recorded long ago.
#[test]
fn what_became_of_a_round_is_recorded_with_later_ones() {
    let store = two();
    let mut first = [1, 2, 3].map(|seq| round(seq, "ask", "say"));
    for (round, _) in &mut first {
        round.engagement = Some("console-work".into());
    }
    record(&store, "three", &first, None);
    let stands = |state, place| Standing { state, place, ..Standing::default() };
    let parts = vec![Part { seq: 3, rows: 0..2 }, Part { seq: 2, rows: 4..5 }];
    let standings = [
        stands(State::Compacted, None),
        stands(State::Rewound, None),
        Standing { parts, ..stands(State::InContext, Some(1)) },
        stands(State::InContext, Some(0)),
    ];
    let progress = Progress::default();
    let (folder, next) = (store.folder("three"), [round(4, "ask", "say")]);
    store.index.record(&folder, &session("three"), &next, &standings, &progress, None).unwrap();
    let read = store.index.session(&folder).unwrap();
    let seen: Vec<_> = read.rounds.iter().map(|round| round.standing.clone()).collect();
    assert_eq!(seen, standings);
    assert_eq!((read.in_context(), read.on_branch()), (vec![4, 3], vec![1, 3, 4]));
    assert_eq!(read.rounds[0].engagement.as_deref(), Some("console-work"));
    let figures = store.index.figures(&[&session("three")]).unwrap();
    assert_eq!(figures[0].tokens, 2 * 1234, "the copy of all sessions has it, too");
}
