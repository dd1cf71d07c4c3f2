//! Databases made up in OpenClaw's format: what is read, written and refused.

mod lab;
mod others;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use self::lab::{Lab, RESULT, SAID, USER, put, rows};
use super::*;

#[test]
fn rows_come_in_their_order_whatever_form_they_have() {
    let lab = Lab::new();
    let found = lab.find(false);
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
    let why = lab.find(false).rows(&mut |_, _| Ok(())).unwrap_err().to_string();
    assert!(why.contains("3f2c-one: event 2 can't be read"), "{why}");
}

#[test]
fn a_session_is_found_by_its_id_or_how_that_begins() {
    let lab = Lab::new();
    let find = |name| Database::find(&lab.path(), name, false).map(|found| found.session);
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
    let find = || Database::find(&path, None, false).unwrap_err();
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
    assert_eq!(rows(&lab.find(false)).1.len(), 3);
    gateway.execute_batch("COMMIT").unwrap();
    assert_eq!(rows(&lab.find(false)).1.len(), 2);
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
    let (stamp, all) = rows(&lab.find(true));
    assert_eq!(all, ["{\"id\":\"x\"}"]);
    assert_eq!(stamp.modified / 1_000_000, 7);
    let why = put(&lab.find(true), stamp, 0, "{}").unwrap_err();
    assert!(matches!(&why, Refused::Unsupported(why) if why.contains("schema 4")), "{why}");
}

#[test]
fn it_is_written_offline_only() {
    let lab = Lab::new();
    let found = lab.find(false);
    let (stamp, all) = rows(&found);
    let why = put(&found, stamp, 0, "{}").unwrap_err();
    assert!(matches!(&why, Refused::Unsupported(why) if why.contains("--offline")), "{why}");
    assert_eq!(rows(&found), (stamp, all));
    assert!(lab.copies().is_empty());
}

#[test]
fn offline_a_row_changes_and_openclaw_is_told() {
    let lab = Lab::new();
    let found = lab.find(true);
    let (stamp, _) = rows(&found);
    let new = RESULT.replace("long, long", "[[extracted-a2]]");
    found
        .edit(stamp, &mut |_, row| Ok((row == RESULT.as_bytes()).then(|| new.clone().into_bytes())))
        .unwrap();
    let (after, all) = rows(&found);
    assert_eq!(all, [USER, &new, SAID]);
    assert_ne!(after, stamp);
    let bytes =
        "SELECT event_utf8_bytes FROM transcript_events WHERE seq = 2 AND event_zstd IS NULL";
    assert_eq!(lab.one::<i64>(bytes), new.len() as i64);
    let drawn: String = lab.one("SELECT generation FROM transcript_rewrite_watermarks");
    assert_eq!(drawn.len(), 32);
    // Later than what OpenClaw has seen, whatever the clock says.
    let at = "SELECT transcript_updated_at FROM session_windows";
    assert_eq!(lab.one::<i64>(at), 10_000_000_000_000);
    // OpenClaw does not search results.
    let index = "SELECT needs_rebuild FROM session_transcript_index_state";
    assert_eq!(lab.one::<i64>(index), 0);

    let copies = lab.copies();
    assert_eq!(copies.len(), 1);
    assert_eq!(fs::metadata(&copies[0]).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(rows(&Database::find(&copies[0], None, false).unwrap()).1, [USER, RESULT, SAID]);
    assert!(matches!(put(&found, stamp, 0, "{}"), Err(Refused::Changed(_))));

    // OpenClaw does not search thinking, but it does search text.
    put(&found, after, 2, &SAID.replace("hm", "[[extracted-a3]]")).unwrap();
    assert_eq!(lab.one::<i64>(index), 0);
    put(&found, rows(&found).0, 2, &SAID.replace("done", "[[extracted-a3]]")).unwrap();
    assert_eq!(lab.one::<i64>(index), 1);
    // The last two copies stay, and `copied` names the last one.
    let left = lab.copies();
    assert!(left.len() == 2 && !left.contains(&copies[0]), "{left:?}");
    assert!(found.copied().is_some_and(|copy| left.contains(&copy)), "{found:?}");
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
    let found = killed.find(true);
    let (stamp, all) = rows(&found);
    assert_eq!(all, [USER, RESULT, &new]);
    let short = RESULT.replace("long, long", "short");
    put(&found, stamp, 1, &short).unwrap();
    assert_eq!(rows(&found).1, [USER, &short, &new]);
    let copy = Database::find(&killed.copies()[0], None, false).unwrap();
    assert_eq!(rows(&copy).1, [USER, RESULT, &new]);
    drop(gateway);
}

#[test]
fn what_fails_changes_nothing_and_leaves_no_copy() {
    let lab = Lab::new();
    let found = lab.find(true);
    let (stamp, all) = rows(&found);
    let before: String = lab.one("SELECT generation FROM transcript_rewrite_watermarks");
    let full = || io::Error::from(io::ErrorKind::StorageFull);
    let failures = [
        found.edit(stamp, &mut |_, _| Err(full())),
        found.edit(stamp, &mut |at, _| {
            if at == 2 { Err(full()) } else { Ok(Some([USER, RESULT][at as usize].into())) }
        }),
        put(&found, stamp, 1, "{\"torn\":"),
        put(&found, stamp, 1, &RESULT.replace("a2", "a9")),
        put(&found, stamp, 1, &RESULT.replace("[{", "{").replace("}]", "}")),
    ];
    for failure in &failures {
        assert!(matches!(failure, Err(Refused::Io(_))), "{failure:?}");
    }
    for (failure, lost) in failures[3..].iter().zip(["its id", "its message's content"]) {
        let why = failure.as_ref().unwrap_err().to_string();
        assert!(why.contains(lost) && why.contains("3f2c-one: event 2"), "{why}");
    }
    found.edit(stamp, &mut |_, _| Ok(None)).unwrap();
    assert_eq!(rows(&found), (stamp, all));
    assert_eq!(lab.one::<String>("SELECT generation FROM transcript_rewrite_watermarks"), before);
    assert!(lab.copies().is_empty());
}

#[test]
fn what_was_written_meanwhile_is_not_overwritten() {
    let lab = Lab::new();
    let found = lab.find(true);
    let (stamp, _) = rows(&found);
    lab.raw()
        .execute("INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES ('3f2c-one', 5, '{}', 1)", [])
        .unwrap();
    assert!(matches!(put(&found, stamp, 0, "{}"), Err(Refused::Changed(_))));
    let (stamp, _) = rows(&found);
    lab.raw().execute("UPDATE transcript_rewrite_watermarks SET generation = 'bb'", []).unwrap();
    assert!(matches!(put(&found, stamp, 0, "{}"), Err(Refused::Changed(_))));
}

#[test]
fn what_is_not_known_is_not_written() {
    let lab = Lab::new();
    let found = lab.find(true);
    let refused = |sql: &str, word: &str| {
        lab.raw().execute_batch(sql).unwrap();
        let (stamp, _) = rows(&found);
        let why = put(&found, stamp, 0, "{}").unwrap_err();
        assert!(matches!(&why, Refused::Unsupported(said) if said.contains(word)), "{why}");
    };
    refused("PRAGMA user_version = 24", "schema 24");
    refused(
        "PRAGMA user_version = 23; INSERT INTO session_transcript_cold_archives VALUES ('3f2c-one')",
        "cold storage",
    );
    // In another folder, nobody knows which gateway uses it.
    let elsewhere = lab.dir.path().join("copy.sqlite");
    fs::copy(lab.path(), &elsewhere).unwrap();
    let found = Database::find(&elsewhere, None, true).unwrap();
    let why = put(&found, rows(&found).0, 0, "{}").unwrap_err();
    assert!(matches!(why, Refused::Unsupported(_)), "{why}");
    assert!(lab.copies().is_empty());
}

#[test]
fn rows_that_were_put_away_are_told_of() {
    let lab = Lab::new();
    let found = lab.find(false);
    lab.raw()
        .execute_batch(
            "DELETE FROM transcript_events;
             INSERT INTO session_transcript_cold_archives VALUES ('3f2c-one')",
        )
        .unwrap();
    let why = found.rows(&mut |_, _| Ok(())).unwrap_err();
    assert!(why.to_string().contains("cold storage"), "{why}");
    let why = Database::find(&lab.path(), Some("3f2c-one"), false).unwrap_err();
    assert!(why.kind() != io::ErrorKind::NotFound, "{why}");
}
