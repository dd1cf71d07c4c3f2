//! Every row of a database, whatever session it is of.

use super::lab::{Lab, RESULT, SAID, USER};
use super::*;

#[test]
fn all_rows_of_all_sessions_are_handed_on_and_a_copy_is_left_as_it_is() {
    let lab = Lab::new();
    Lab::session(&lab.raw(), "4a-two");
    let all = |path: &Path| {
        let mut rows = Vec::new();
        let cold = every(path, &mut |row| {
            rows.push(String::from_utf8(row.to_vec()).unwrap());
            Ok(())
        });
        cold.map(|cold| (rows, cold)).map_err(|e| e.to_string())
    };
    let (rows, cold) = all(&lab.path()).unwrap();
    assert_eq!((rows.len(), cold), (6, false));
    assert!([USER, RESULT, SAID].iter().all(|row| rows.iter().filter(|r| r == row).count() == 2));
    let db = lab.raw();
    db.execute("INSERT INTO session_transcript_cold_archives VALUES ('5-cold')", []).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let folder = lab.dir.path().join("copies");
    fs::create_dir(&folder).unwrap();
    let copy = folder.join("openclaw-agent.sqlite.brain-guard-20260220");
    fs::copy(lab.path(), &copy).unwrap();
    assert!(all(&copy).unwrap().1);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    db.execute("UPDATE transcript_events SET event_zstd = x'28b5' WHERE seq = 2", []).unwrap();
    assert!(all(&lab.path()).unwrap_err().contains("event 2 can't be read"));
}
