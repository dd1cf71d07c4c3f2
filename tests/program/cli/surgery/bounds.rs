//! The bounds of a store into which sessions are imported as they end.

use std::fs::File;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::world::{ID, OTHER, World};
use crate::cli::doctor::check;

const LAST: &str = "91ab02cd-0000-4000-8000-000000000003";

#[test]
fn the_import_at_a_sessions_end_removes_what_nothing_points_to() {
    let world = World::new(4);
    for id in [OTHER, LAST] {
        world.write(id, &world.session(id, 2, 90).replace("apples", "pears"));
    }
    world.done(&["surgery", "compress-before", ID, "round:3"]);
    world.done(&["import", "--all"]);
    world.hook.settings(&json!({"surgery": {"import": "session-end", "keep_days": 180}}));
    let blocks = |id: &str| world.store().join("claude").join(id).join("blocks.db");
    let old = SystemTime::now() - Duration::from_secs(200 * 86_400);
    for id in [ID, OTHER] {
        File::open(blocks(id)).and_then(|file| file.set_modified(old)).expect("an old import");
    }
    let last = world.file(LAST);
    world.done(&["import", "--behind", last.to_str().expect("UTF-8")]);
    let is_there = [ID, OTHER, LAST].map(|id| blocks(id).is_file());
    assert_eq!(is_there, [true, false, true]);
    let found = world.json(&["search", "pears"]);
    assert!(!found.to_string().contains(OTHER), "{found}");
    assert_eq!(check(&world.hook, "store")["level"], "ok");
}
