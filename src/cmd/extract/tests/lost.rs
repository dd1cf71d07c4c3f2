//! What was lost, of a ledger or of where a session's copies are, loses no content.

use std::fs;

use super::World;
use super::kept::flat;
use extract::generate;
use sessions::settings::Placeholder;

/// A ledger whose end was lost looks like one that a killed run wrote no more to. The sessions
/// still name what it no longer knows.
#[test]
fn what_a_ledger_lost_stays_while_sessions_name_it() {
    let made = generate::session(7, 6);
    for kept in [2, 0] {
        let world = World::new(&made.id, &made.bytes);
        let own = format!("agents/main/sessions/{}.jsonl", made.id);
        assert!(world.extract(&own, Placeholder::Full) > 2);
        let ledger = world.source().extracted.folder.join("ledger.jsonl");
        let whole = fs::read_to_string(&ledger).unwrap();
        if kept == 0 {
            fs::remove_file(&ledger).unwrap();
        } else {
            let lines: String = whole.split_inclusive('\n').take(kept).collect();
            fs::write(&ledger, &whole[..lines.len() + 20]).unwrap();
        }
        let swept: Vec<u64> = [2, 30, 60].map(|hours| world.swept(hours, &["agents"])).into();
        assert_eq!(swept, [0, 0, 0], "{kept} records left");
        fs::write(&ledger, whole).unwrap();
        assert_eq!(world.restore(&own, None).unwrap(), made.bytes);
    }
    // Nothing names what a kill left.
    let world = World::new(&made.id, &made.bytes);
    let own = format!("agents/main/sessions/{}.jsonl", made.id);
    assert!(world.extract(&own, Placeholder::Full) > 2);
    fs::remove_file(world.source().extracted.folder.join("ledger.jsonl")).unwrap();
    world.quiet(&own, b"");
    let swept: u64 = [2, 30].map(|hours| world.swept(hours, &["agents"])).iter().sum();
    assert!(swept > 0);
}

/// What a copy held when it was restored is looked for beside the copy from then on.
#[test]
fn a_copy_that_was_restored_in_place_is_known() {
    let world = World::new("s", b"");
    world.quiet("h/x.jsonl", &flat("a"));
    world.extract("h/x.jsonl", Placeholder::Full);
    let lean = fs::read(world.at("h/x.jsonl")).unwrap();
    world.quiet("copies/renamed.jsonl", &lean);
    assert_eq!(world.restore("copies/renamed.jsonl", None).unwrap(), flat("a"));
    fs::rename(world.at("h/x.jsonl"), world.at("copies/moved.jsonl")).unwrap();
    let swept = [2, 30, 60].map(|hours| world.swept(hours, &["h"]));
    assert_eq!(swept, [0, 0, 0]);
    assert_eq!(world.restore("copies/moved.jsonl", None).unwrap(), flat("a"));
}
