//! Content comes back unchanged or with an error, and nothing that is needed is removed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use chrono::DateTime;
use proptest::prelude::*;

use super::*;
use base::clock::Time;

pub(super) struct Scene {
    pub dir: tempfile::TempDir,
    pub root: Root,
    pub extracted: Extracted,
}

pub(super) fn scene() -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::new(dir.path().join("store"));
    let extracted = Extracted::for_session(&root, "main", "s-1");
    Scene { dir, root, extracted }
}

pub(super) fn time(seconds: i64) -> Time {
    DateTime::from_timestamp(1_771_600_000 + seconds, 0).unwrap()
}

pub(super) fn extract(
    entry: &(impl ToString + ?Sized),
    key: &(impl ToString + ?Sized),
    object: impl Into<Object>,
    placeholder: &[u8],
) -> Record {
    Record::from(Extract {
        entry: entry.to_string().into(),
        key: key.to_string().into(),
        object: object.into(),
        bytes: 1,
        placeholder: Some(Record::digest(placeholder)),
        tool: Some("exec".into()),
        trigger: "tool_result".into(),
        at: time(0),
        file: Path::new("/s/one.jsonl").into(),
        row: None,
    })
}

pub(super) fn restore(entry: &(impl ToString + ?Sized), key: &str, at: Time) -> Record {
    Record::Restore { entry: entry.to_string().into(), keys: vec![key.into()], at, redacted: false }
}

pub(super) fn pack(scene: &Scene, object: &Object) -> PathBuf {
    packs::path(&scene.extracted.root, object.id().unwrap().pack)
}

#[test]
fn content_comes_back_and_only_its_user_can_read_it() {
    let scene = scene();
    for content in [&b""[..], b"\"\\ud83d\xff\n", &vec![7; 3 * 1024 * 1024 + 5], b"x"] {
        let id = scene.extracted.put(content).unwrap();
        assert_eq!(scene.extracted.put(content).unwrap(), id);
        assert_eq!(scene.extracted.get(&id).unwrap(), content);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&pack(&scene, &id)), 0o600);
        assert_eq!(mode(pack(&scene, &id).parent().unwrap()), 0o700);
        assert_eq!(mode(&scene.extracted.root), 0o700);
    }
    let other = Extracted::for_session(&scene.root, "main", "s-1");
    let (one, two) = (other.put(b"x").unwrap(), scene.extracted.put(b"x").unwrap());
    assert_ne!(pack(&scene, &one), pack(&scene, &two), "each writer has its own");
    let objects = scene.extracted.root.join("objects");
    assert_eq!(fs::read_dir(objects).unwrap().count(), 2);
}

#[test]
fn what_a_refused_run_put_goes_unless_a_record_names_it() {
    let scene = scene();
    let packs = || fs::read_dir(scene.extracted.root.join("objects")).unwrap().count();
    let id = scene.extracted.put(b"content").unwrap();
    scene.extracted.discard_unnamed();
    assert_eq!(packs(), 0);
    assert!(scene.extracted.get(&id).is_err());
    let id = scene.extracted.put(b"content").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap();
    scene.extracted.discard_unnamed();
    assert_eq!((packs(), scene.extracted.get(&id).unwrap()), (1, b"content".to_vec()));
    assert!(scene.extracted.has(&id, b"content"));
    assert!(!scene.extracted.has(&id, b"another"));
    // An unreadable ledger may name it.
    scene.extracted.put(b"more").unwrap();
    fs::write(scene.extracted.folder.join("ledger.jsonl"), "no record\n").unwrap();
    scene.extracted.discard_unnamed();
    assert_eq!(packs(), 2);
}

#[test]
fn damage_is_told_by_name() {
    let scene = scene();
    let id = scene.extracted.put(b"content").unwrap();
    scene.extracted.get(&id).unwrap();
    let path = pack(&scene, &id);
    for damaged in [&b"contend"[..], b"", b"conten"] {
        fs::write(&path, damaged).unwrap();
        let why = scene.extracted.get(&id).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::InvalidData);
        let why = why.to_string();
        assert!(why.contains(".pack") && why.contains("damaged"), "{why}");
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(scene.extracted.get(&id).unwrap_err().kind(), io::ErrorKind::NotFound);
    let digest = &id.content().to_string();
    for wrong in [
        "",
        "../../etc/passwd",
        digest,
        &format!("{digest}-1-2"),
        &format!("{digest}-1-2-3-4"),
        &format!("{digest}-1-2-x"),
        &format!("{digest}-1-18446744073709551615-1"),
    ] {
        let why = scene.extracted.get(&wrong.into()).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::InvalidData, "{wrong}");
    }
}

#[test]
fn records_name_what_is_there_or_are_refused() {
    let scene = scene();
    let id = scene.extracted.put(b"content").unwrap();
    scene.extracted.add(&[extract("e", "k", &id, b"p")]).unwrap();
    scene.extracted.add(&[]).unwrap();
    let many: Vec<Object> = (1..=40_u8).map(|n| scene.extracted.put(&[n; 9]).unwrap()).collect();
    let records: Vec<Record> = many.iter().map(|id| extract("m", id, id, b"p")).collect();
    scene.extracted.add(&records).unwrap();
    let path = pack(&scene, &id);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..6]).unwrap();
    for wrong in [&[extract("f", "k", &id, b"p")][..], &records] {
        assert_eq!(scene.extracted.add(wrong).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
    assert_eq!(scene.extracted.ledger().unwrap().records.len(), 41);
}

#[test]
fn what_is_a_placeholder_is_said_by_the_ledger_alone() {
    let put = br#""[[extracted-e]] 9 KB""#;
    let ledger = Ledger::of(vec![
        extract("e", "content", "first", put),
        extract("e", "details", "copy", put),
        restore("e", "content", time(5)),
        extract("e", "content", "second", br#""[[extracted-e]]""#),
        extract("f", "content", "other", put),
    ]);
    let object = |entry, key, json: &[u8]| {
        ledger.placeholder(entry, key, json).map(|extract| extract.object.to_string())
    };
    let some = |object: &str| Some(object.to_owned());
    assert_eq!(object("e", "content", put), some("first"));
    assert_eq!(object("e", "content", br#""[[extracted-e]]""#), some("second"));
    assert_eq!(object("e", "details", put), some("copy"));
    // The same text where nothing was put, in another entry, or quoted.
    assert_eq!(object("e", "text", put), None);
    assert_eq!(object("g", "content", put), None);
    assert_eq!(object("f", "content", br#""[[extracted-f]]""#), None);
    assert_eq!(object("e", "content", br#""see [[extracted-e]] 9 KB""#), None);
    assert_eq!((ledger.last_restored("e"), ledger.last_restored("f")), (Some(time(5)), None));
    let keys: Vec<String> =
        ledger.last_extracts("e").iter().map(|of| of.object.to_string()).collect();
    assert_eq!(keys, ["second", "copy"]);
    assert!(ledger.last_extracts("x").is_empty());
}

#[test]
fn a_placeholder_of_several_contents_is_known_as_such() {
    let of = |content: char| format!("{}-1-0-9", String::from(content).repeat(64));
    let records =
        ["a", "b", "a"].map(|content| extract("e", "k", &*of(content.parse().unwrap()), b"p"));
    let ledger = Ledger::of(records.to_vec());
    let fitting = ledger.find_placeholders("e", "k", b"p");
    let contents: Vec<String> = fitting.iter().map(|of| of.content().to_string()).collect();
    assert_eq!(contents, ["a".repeat(64), "b".repeat(64), "a".repeat(64)]);
    assert!(
        ledger.find_placeholders("e", "k", b"q").is_empty()
            && ledger.find_placeholders("f", "k", b"p").is_empty()
    );
}

#[test]
fn rows_are_found_in_the_ledgers_of_other_sessions() {
    let scene = scene();
    let other = Extracted::for_session(&scene.root, "pi", "s-9");
    let id = scene.extracted.put(b"content").unwrap();
    let mut moved = extract("e", "k", &id, b"p");
    if let Record::Extract(extract) = &mut moved {
        extract.make_mut().row = Some("r".into());
    }
    let records = [extract("e", "k", &id, b"p"), moved.clone(), restore("e", "k", time(1))];
    scene.extracted.add(&[extract("r", "own", &id, b"p")]).unwrap();
    other.add(&records).unwrap();
    let rows = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    let kin = |ids: &[&str]| {
        let kin = scene.extracted.related_records(&rows(ids));
        assert!(kin.unread.is_empty(), "{:?}", kin.unread);
        kin.records
    };
    assert_eq!(kin(&["r", "x"]), [moved]);
    assert_eq!(kin(&["e"]), records[..1]);
    assert!(kin(&["x"]).is_empty());
    // A broken line is reported, and the other records are found.
    let ledger = other.folder.join("ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    for torn in ["", "{\"did\":\"extr"] {
        fs::write(&ledger, format!("no record\n{text}{torn}")).unwrap();
        let kin = scene.extracted.related_records(&rows(&["e"]));
        assert_eq!(kin.records, records[..1]);
        let [why] = &kin.unread[..] else { panic!("{:?}", kin.unread) };
        let why = why.to_string();
        assert!(why.contains("s-9") && why.contains("line 1"), "{why}");
    }
    fs::remove_file(&ledger).unwrap();
    std::os::unix::fs::symlink("nowhere", &ledger).unwrap();
    let kin = scene.extracted.related_records(&rows(&["e"]));
    assert!(kin.records.is_empty() && kin.unread[0].to_string().contains("s-9"), "{kin:?}");
}

#[test]
fn a_torn_last_line_is_passed_over_and_a_wrong_one_named() {
    let scene = scene();
    let id = scene.extracted.put(b"content").unwrap();
    let path = scene.extracted.folder.join("ledger.jsonl");
    assert!(scene.extracted.ledger().unwrap().records.is_empty());
    let one = [extract("e", "k", &id, b"p")];
    scene.extracted.add(&one).unwrap();
    let whole = fs::read(&path).unwrap();
    for cut in 0..=whole.len() {
        fs::write(&path, [&whole[..], &whole[..cut]].concat()).unwrap();
        // Only the newline may be missing from a complete record.
        let there = 1 + usize::from(cut + 1 >= whole.len());
        assert_eq!(scene.extracted.ledger().unwrap().records.len(), there, "{cut}");
        scene.extracted.add(&one).unwrap();
        assert_eq!(scene.extracted.ledger().unwrap().records.len(), there + 1, "{cut}");
    }
    fs::write(&path, [&whole[..], b"{\"did\":\"sing\"}\n", &whole].concat()).unwrap();
    let why = scene.extracted.ledger().unwrap_err();
    assert_eq!(why.kind(), io::ErrorKind::InvalidData);
    assert!(why.to_string().contains("line 2"), "{why}");
}

#[test]
fn a_record_reads_as_it_is_documented() {
    let mut record = extract("e", "message.content.0.text", "o", b"p");
    if let Record::Extract(extract) = &mut record {
        extract.make_mut().tool = None;
    }
    let json = serde_json::to_string(&record).unwrap();
    assert_eq!(
        json,
        format!(
            r#"{{"did":"extract","entry":"e","key":"message.content.0.text","object":"o","bytes":1,"placeholder":"{}","trigger":"tool_result","at":"2026-02-20T15:06:40Z","file":"/s/one.jsonl"}}"#,
            Record::digest(b"p")
        )
    );
    assert_eq!(Words::default().record(json.as_bytes()).unwrap(), record);
    let json = serde_json::to_string(&restore("e", "k", time(0))).unwrap();
    assert_eq!(
        json,
        r#"{"did":"restore","entry":"e","keys":["k"],"at":"2026-02-20T15:06:40Z","redacted":false}"#
    );
}

#[test]
fn sessions_are_listed_by_their_ledgers() {
    let scene = scene();
    assert!(find_ledgers(&scene.root).found.is_empty());
    let id = scene.extracted.put(b"content").unwrap();
    scene.extracted.get(&id).unwrap();
    for (agent, session) in [("main", "s-2"), ("a/b", "s-1"), ("main", "s-1")] {
        let of = Extracted::for_session(&scene.root, agent, session);
        of.add(&[extract("e", "k", &id, b"p")]).unwrap();
    }
    fs::create_dir_all(scene.extracted.root.join("sessions/main/empty")).unwrap();
    let names: Vec<String> = find_ledgers(&scene.root).found.iter().map(Extracted::name).collect();
    assert_eq!(names.len(), 3);
    assert!(names[0].starts_with("a-b-") && names[0].ends_with("/s-1"), "{names:?}");
    assert_eq!(names[1..], ["main/s-1", "main/s-2"]);
}

#[test]
fn what_ran_when_is_kept() {
    let scene = scene();
    assert_eq!(State::read(&scene.root), State::default());
    let state = State { last_run_at: Some(time(1)), last_retention_run_at: Some(time(2)) };
    state.write(&scene.root).unwrap();
    assert_eq!(State::read(&scene.root), state);
    let path = scene.root.path().join("extracted/state.json");
    let json = fs::read_to_string(&path).unwrap();
    assert_eq!(
        json,
        r#"{"last_run_at":"2026-02-20T15:06:41Z","last_retention_run_at":"2026-02-20T15:06:42Z"}"#
    );
    fs::write(&path, "{").unwrap();
    assert_eq!(State::read(&scene.root), State::default());
    let one = State { last_run_at: Some(time(3)), ..State::default() };
    one.write(&scene.root).unwrap();
    assert_eq!(State::read(&scene.root), one);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_bytes_come_back(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4000), 1..6)) {
        let scene = scene();
        let ids: Vec<Object> = contents.iter().map(|c| scene.extracted.put(c).unwrap()).collect();
        for (id, content) in ids.iter().zip(&contents) {
            prop_assert_eq!(&scene.extracted.get(id).unwrap(), content);
        }
    }
}
