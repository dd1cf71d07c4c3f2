//! A truncated or missing ledger loses no content.

use std::fs;

use super::World;
use testing::pi;

/// A truncated ledger looks like one of a killed run: content that it does not name stays.
#[test]
fn content_outlives_what_a_ledger_lost() {
    let made = pi::session(7, 6);
    for kept in [2, 0] {
        let world = World::new(&made.id, &made.bytes);
        let own = format!("agents/main/sessions/{}.jsonl", made.id);
        assert!(world.extract(&own) > 2);
        let ledger = world.source().extracted.folder.join("ledger.jsonl");
        let whole = fs::read_to_string(&ledger).unwrap();
        if kept == 0 {
            fs::remove_file(&ledger).unwrap();
        } else {
            let lines: String = whole.split_inclusive('\n').take(kept).collect();
            fs::write(&ledger, &whole[..lines.len() + 20]).unwrap();
        }
        assert_eq!(world.swept(&["agents"]), 0, "{kept} records left");
        fs::write(&ledger, whole).unwrap();
        assert_eq!(world.restore(&own, None).unwrap(), made.bytes);
    }
}
