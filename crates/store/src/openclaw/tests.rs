//! Databases made up in OpenClaw's format: what is read.

mod lab;

use std::fs;

use self::lab::{Lab, RESULT, SAID, USER, rows};
use rusqlite::Connection;

use super::*;

#[test]
fn rows_come_in_their_order_whatever_form_they_have() {
    let lab = Lab::new();
    let found = lab.find();
    assert_eq!((found.agent(), found.session()), ("main", "3f2c-one"));
    let (stamp, all) = rows(&found);
    assert_eq!(all, [USER, RESULT, SAID]);
    assert_eq!((stamp.size, stamp.modified / 1_000_000), (3, 4000));
    assert_eq!(rows(&found).0, stamp);
}

#[test]
fn a_row_that_can_t_be_unpacked_is_named() {
    let lab = Lab::new();
    lab.raw()
        .execute("UPDATE transcript_events SET event_zstd = x'28b5' WHERE seq = 2", [])
        .unwrap();
    let why = lab.find().rows(&mut |_, _| Ok(())).unwrap_err().to_string();
    assert!(why.contains("3f2c-one: event 2 can't be read"), "{why}");
}

#[test]
fn a_session_is_found_by_its_id_or_how_that_begins() {
    let lab = Lab::new();
    let find = |name| Database::find(&lab.path(), name).map(|found| found.session);
    assert_eq!(find(None).unwrap(), "3f2c-one");
    assert_eq!(find(Some("3f")).unwrap(), "3f2c-one");
    let missing = find(Some("4")).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    Lab::session(&lab.raw(), "3f2c-one-and-two");
    assert_eq!(find(Some("3f2c-one")).unwrap(), "3f2c-one");
    let several = find(Some("3f")).unwrap_err();
    assert_eq!(several.kind(), io::ErrorKind::InvalidInput);
    assert!(several.to_string().contains("3f2c-one-and-two"), "{several}");
    assert_eq!(find(None).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    let all = Database::sessions(&lab.path()).unwrap();
    assert_eq!(all.iter().map(|one| one.rows).collect::<Vec<_>>(), [3, 3]);
}

#[test]
fn what_is_no_database_of_openclaw_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.sqlite");
    let find = || Database::find(&path, None).unwrap_err();
    assert_eq!(find().kind(), io::ErrorKind::NotFound);
    fs::write(&path, "{\"type\":\"session\"}\n".repeat(100)).unwrap();
    assert!(find().to_string().contains("no SQLite database"), "{}", find());
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE t(x)").unwrap();
    assert!(find().to_string().contains("no sessions of OpenClaw"), "{}", find());
}

#[test]
fn it_is_read_while_another_writes() {
    let lab = Lab::new();
    let gateway = lab.raw();
    gateway.execute_batch("BEGIN IMMEDIATE; DELETE FROM transcript_events WHERE seq = 4").unwrap();
    assert_eq!(rows(&lab.find()).1.len(), 3);
    gateway.execute_batch("COMMIT").unwrap();
    assert_eq!(rows(&lab.find()).1.len(), 2);
}

#[test]
fn an_earlier_schema_is_read() {
    let lab = Lab::new();
    lab.raw()
        .execute_batch(
            "DROP TABLE transcript_events; DROP TABLE transcript_rewrite_watermarks;
             DROP TABLE session_windows; DROP TABLE schema_meta;
             DROP TABLE session_transcript_cold_archives;
             CREATE TABLE transcript_events(session_id, seq, event_json TEXT, created_at);
             INSERT INTO transcript_events VALUES ('3f2c-one', 1, '{\"id\":\"x\"}', 7);
             PRAGMA user_version = 4;",
        )
        .unwrap();
    let (stamp, all) = rows(&lab.find());
    assert_eq!(all, ["{\"id\":\"x\"}"]);
    assert_eq!(stamp.modified / 1_000_000, 7);
}

#[test]
fn what_a_gateway_left_in_its_log_is_there() {
    let lab = Lab::new();
    let gateway = lab.raw();
    let new = SAID.replace("done", "said last");
    gateway.execute("UPDATE transcript_events SET event_json = ?1 WHERE seq = 4", [&new]).unwrap();
    // As after a kill: only the log has the last write.
    let killed = Lab::empty();
    for end in ["", "-wal"] {
        let name = |of: &Lab| format!("{}{end}", of.path().display());
        fs::copy(name(&lab), name(&killed)).unwrap();
    }
    let found = killed.find();
    assert_eq!(rows(&found).1, [USER, RESULT, &new]);
    drop(gateway);
}

#[test]
fn rows_that_were_put_away_are_told_of() {
    let lab = Lab::new();
    let found = lab.find();
    lab.raw()
        .execute_batch(
            "DELETE FROM transcript_events;
             INSERT INTO session_transcript_cold_archives VALUES ('3f2c-one')",
        )
        .unwrap();
    let why = found.rows(&mut |_, _| Ok(())).unwrap_err();
    assert!(why.to_string().contains("cold storage"), "{why}");
    let why = Database::find(&lab.path(), Some("3f2c-one")).unwrap_err();
    assert!(why.kind() != io::ErrorKind::NotFound, "{why}");
}
