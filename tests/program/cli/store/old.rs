//! A store from an earlier build, in packs: it is read and continued, and packs go once copied.

use std::fs;
use std::path::{Path, PathBuf};

use super::{ok, on_a_full_disk, parsed, round, store};
use crate::support::hook::{Answer, Hook};

const ID: &str = "3f0a9d1e-0000-4000-8000-00000000000a";

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/store/packs");

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("there").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("copied");
        }
    }
}

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(FOLDER).join(name)).expect("a fixture")
}

/// A user with such a store, and the session's folder in it.
fn scene() -> (Hook, PathBuf) {
    let hook = Hook::new();
    copy(&Path::new(FOLDER).join("sessions"), &store(&hook));
    let folder = store(&hook).join("claude").join(ID);
    (hook, folder)
}

fn run(hook: &Hook, args: &[&str]) -> Answer {
    hook.raw(args, b"")
}

#[test]
fn an_old_store_is_read_and_its_packs_go_once_copied() {
    let (hook, folder) = scene();
    let read = || {
        assert_eq!(ok(&run(&hook, &["store", "export", ID])), text("session.jsonl"));
        let edition = run(&hook, &["store", "export", ID, "--edition", "1"]);
        assert_eq!(ok(&edition), text("edition-1.jsonl"));
        let found = run(&hook, &["search", "question", "--engagement", "console-work"]);
        assert_eq!(ok(&found).matches("#console-work").count(), 2, "{found:?}");
        assert!(ok(&run(&hook, &["store", "check"])).contains("no fault"));
    };
    read();
    let stats = run(&hook, &["store", "stats"]);
    assert!(ok(&stats).contains("drop-old"), "{stats:?}");
    let dry = run(&hook, &["store", "drop-old", "--dry-run"]);
    assert!(ok(&dry).contains("2 folders of packs, 9.4 KB, would be removed"), "{dry:?}");
    assert!(folder.join("blocks").is_dir());
    let dropped = run(&hook, &["store", "drop-old"]);
    assert!(ok(&dropped).contains("2 folders of packs, 9.4 KB, removed"), "{dropped:?}");
    assert!(!folder.join("blocks").exists() && !folder.join("blocks.1").exists());
    read();
    assert!(!ok(&run(&hook, &["store", "stats"])).contains("packs"));
}

#[test]
fn a_session_in_packs_can_be_continued() {
    let (hook, folder) = scene();
    let grown = format!("{}{}", text("session.jsonl"), round(7));
    let file = hook.transcript.with_file_name(format!("{ID}.jsonl"));
    fs::write(&file, &grown).expect("written");
    let report = parsed(&run(&hook, &["import", ID, "--json"]));
    assert_eq!(report["imported"][0]["new_rows"], 2, "{report}");
    assert_eq!(ok(&run(&hook, &["store", "export", ID])), grown);
    // A pack written to since then stays.
    let pack = folder.join("blocks/000000.pack");
    let more = fs::read(&pack).expect("a pack");
    fs::write(&pack, [&more[..], b"{\"id\":\"x"].concat()).expect("written");
    assert_eq!(ok(&run(&hook, &["store", "export", ID])), grown);
    let kept = run(&hook, &["store", "drop-old"]);
    assert_eq!(kept.code, Some(1), "{kept:?}");
    assert!(kept.stdout.contains("is incomplete, because a pack is damaged"), "{kept:?}");
    assert!(kept.stdout.contains("1 folder of packs"), "the edition's go: {kept:?}");
    assert!(pack.is_file() && !folder.join("blocks.1").exists());
}

#[test]
fn an_old_store_is_readable_on_a_full_disk() {
    let (hook, folder) = scene();
    let read = on_a_full_disk(&hook, &["store", "export", ID]);
    assert_eq!(String::from_utf8_lossy(&read.stdout), text("session.jsonl"), "{read:?}");
    let dropped = on_a_full_disk(&hook, &["store", "drop-old"]);
    let said = String::from_utf8_lossy(&dropped.stdout);
    assert!(dropped.status.code() == Some(1) && said.contains("disk is full"), "{said}");
    let file = hook.transcript.with_file_name(format!("{ID}.jsonl"));
    fs::write(&file, text("session.jsonl") + &round(7)).expect("written");
    let refused = on_a_full_disk(&hook, &["import", ID]);
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && why.contains("disk is full"), "{why}");
    for packs in ["blocks", "blocks.1"] {
        assert!(folder.join(packs).join("000000.pack").is_file(), "{packs}");
    }
    ok(&run(&hook, &["import", ID]));
    assert!(ok(&run(&hook, &["store", "check"])).contains("no fault"));
    assert!(ok(&run(&hook, &["store", "export", ID])).ends_with(&round(7)));
}
