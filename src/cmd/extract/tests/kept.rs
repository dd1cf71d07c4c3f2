//! A restore returns the right content or refuses, and needed content stays, wherever the session
//! was moved or copied.

use chrono::TimeDelta;

use super::super::{context, gc};
use super::*;
use store::extracted::Record;

/// Two files with the same name and ids, in different folders.
const FLAT: [&str; 2] = ["a/x.jsonl", "b/x.jsonl"];

impl World {
    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(super) fn quiet(&self, path: &str, bytes: &[u8]) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let file = File::options().append(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).unwrap();
    }

    fn open(&self, path: &str) -> Source {
        source::open(&self.root(), &self.at(path)).unwrap()
    }

    pub(super) fn extract(&self, path: &str) -> u64 {
        let (now, settings) = (clock::now(), without_copies(eager()));
        let source = self.open(path);
        let planned = plan_session(&source, &settings, now).unwrap();
        execute(&source, &settings, now, &planned).unwrap().values
    }

    /// Restores everything; `meant` chooses among doubtful contents.
    pub(super) fn restore(&self, path: &str, meant: Option<usize>) -> anyhow::Result<Vec<u8>> {
        let source = Source { meant, ..self.open(path) };
        let (_, left) = restore::in_place(&source, &eager(), clock::now(), "all", &[], true)?;
        left.into_iter()
            .next()
            .map_or_else(|| Ok(fs::read(self.at(path)).unwrap()), |left| Err(left.why))
    }

    /// Bytes that a sweep removes if nothing is too recent.
    pub(super) fn swept(&self, homes: &[&str]) -> u64 {
        let homes = homes.iter().map(|home| self.at(home)).collect();
        let now = clock::now() + TimeDelta::hours(1);
        gc::sweep(&self.root(), &eager(), homes, now, false).unwrap().gone.bytes
    }
}

/// Rows as in the specification: many sessions share their ids.
pub(super) fn flat(letter: &str) -> Vec<u8> {
    let row = |n: u32, kind: &str, text: &str| {
        format!("{{\"type\":\"{kind}\",\"__id\":\"msg-{n}\",\"output\":\"{text}\"}}\n")
    };
    // They begin alike, so only the rest tells the contents from each other.
    let long = format!("{}{}", "so it goes ".repeat(90), letter.repeat(1_010));
    [row(1, "user", "go"), row(2, "tool_result", &long), row(3, "tool_result", &long)]
        .concat()
        .into_bytes()
}

#[test]
fn files_that_share_a_ledger_get_their_own_content_back_wherever_they_are() {
    let world = World::new("s", b"");
    let [a, b] = FLAT;
    let (of_a, of_b) = (flat("a"), flat("b"));
    world.quiet(a, &of_a);
    world.quiet(b, &of_b);
    for path in FLAT {
        assert!(world.extract(path) > 0, "{path}");
    }
    let name = |path| world.open(path).name();
    assert_eq!(name(a), name(b));
    let (lean_a, lean_b) = (fs::read(world.at(a)).unwrap(), fs::read(world.at(b)).unwrap());
    assert_ne!(lean_a, lean_b, "what stands in one tells it from the other");
    assert_eq!(world.restore(a, None).unwrap(), of_a);
    assert_eq!(world.restore(b, None).unwrap(), of_b);
    // Swap the files.
    world.quiet(a, &lean_b);
    world.quiet(b, &lean_a);
    assert_eq!(world.restore(a, None).unwrap(), of_b);
    assert_eq!(world.restore(b, None).unwrap(), of_a);
}

#[test]
fn an_older_copy_gets_its_own_content_back() {
    let world = World::new("s", b"");
    let path = FLAT[0];
    let (old, new) = (flat("a"), flat("b"));
    world.quiet(path, &old);
    world.extract(path);
    let copy = fs::read(world.at(path)).unwrap();
    world.quiet(path, &new);
    world.extract(path);
    assert_eq!(world.restore(path, None).unwrap(), new);
    world.quiet(path, &copy);
    assert_eq!(world.restore(path, None).unwrap(), old);
}

/// Two runs that do not know of each other may write the same placeholder for different content.
#[test]
fn content_that_may_be_of_several_is_refused_until_one_is_named() {
    let world = World::new("s", b"");
    let [a, b] = FLAT;
    let whole = flat("a");
    world.quiet(a, &whole);
    world.extract(a);
    let lean = fs::read(world.at(a)).unwrap();
    let source = world.open(a);
    let other = source.extracted.put(b"\"other\"").unwrap();
    let mut records = source.extracted.ledger().unwrap().records;
    records.retain(|record| **record.entry() == *"msg-2");
    for record in &mut records {
        if let Record::Extract(extract) = record {
            let extract = extract.make_mut();
            extract.object = other.clone();
            extract.file = world.open(a).path.parent().unwrap().join("../b/x.jsonl").into();
        }
    }
    source.extracted.add(&records).unwrap();
    let place = |entry| restore::in_place(&world.open(a), &eager(), clock::now(), entry, &[], true);
    let names = |why: &str| {
        for word in ["msg-2", "several contents", "--from 1", "--from 2", "b/x.jsonl"] {
            assert!(why.contains(word), "{word}: {why}");
        }
    };
    names(&place("msg-2").unwrap_err().to_string());
    assert_eq!(fs::read(world.at(a)).unwrap(), lean, "nothing was changed");
    let (placed, left) = place("all").unwrap();
    let back: Vec<&str> = placed.iter().map(|placed| &*placed.answer.entry_id).collect();
    assert_eq!((back, left.len()), (vec!["msg-3"], 1), "it keeps no other from coming back");
    names(&left[0].why.to_string());
    world.quiet(a, &lean);
    // Both contents may be needed.
    let SessionNeeds::Needs(needed) =
        source::held(&world.root(), &source.path, &source.extracted.ledger().unwrap())
    else {
        panic!("it can be read");
    };
    assert!(needed.contains(&other.to_string()) && needed.len() > 1, "{needed:?}");
    // The other file exists where it was, so this placeholder is this file's.
    world.quiet(b, b"{\"type\":\"user\",\"__id\":\"msg-2\"}\n");
    assert_eq!(world.restore(a, None).unwrap(), whole);
    world.quiet(a, &lean);
    fs::remove_file(world.at(b)).unwrap();
    let one = String::from_utf8(world.restore(a, Some(1)).unwrap()).unwrap();
    assert!(one.contains("\"output\":\"other\""), "{one}");
    world.quiet(a, &lean);
    assert_eq!(world.restore(a, Some(2)).unwrap(), whole);
    world.quiet(a, &lean);
    assert!(world.restore(a, Some(3)).is_err());
}

/// As pi, `OpenClaw` and Claude Code fork: a new header, then the session's rows unchanged.
fn fork(bytes: &[u8], parent: &Path) -> Vec<u8> {
    let rows = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let header = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"fork\",\"timestamp\":\"2026-02-20T12:00:00.000Z\",\"cwd\":\"/w\",\"parentSession\":\"{}\"}}\n",
        parent.display()
    );
    [header.as_bytes(), &bytes[rows..]].concat()
}

#[test]
fn a_fork_knows_the_placeholders_of_the_session_it_is_of() {
    let made = pi::session(7, 6);
    let world = World::new(&made.id, &made.bytes);
    let own = format!("agents/main/sessions/{}.jsonl", made.id);
    let path = "pi/2026-02-20T12-00-00_fork.jsonl";
    let values = world.extract(&own);
    assert!(values > 0);
    world.quiet(path, &fork(&world.bytes(), &world.path()));
    // The original session and its placeholders may be gone.
    fs::remove_file(world.path()).unwrap();
    let found = read::session(&world.open(path)).unwrap();
    assert_eq!(found.live.len() as u64, values);
    assert!(!context::load_from(&world.open(path), &eager()).unwrap().extracted.is_empty());
    assert_eq!(world.extract(path), 0, "they are placeholders here, too");
    // Content stays while the fork's file has placeholders.
    assert_eq!(world.swept(&[]), 0);
    let whole = world.restore(path, None).unwrap();
    assert_eq!(whole, fork(&made.bytes, &world.path()));
    assert!(world.swept(&[]) > 0, "nothing needs it any more");
}

#[test]
fn content_follows_a_session_that_was_moved() {
    let made = pi::session(7, 6);
    let world = World::new(&made.id, &made.bytes);
    let own = format!("agents/main/sessions/{}.jsonl", made.id);
    world.extract(&own);
    let lean = world.bytes();
    // The old folder still has a file of that name, without placeholders.
    world.write(&made.bytes);
    let moved = format!("agents/other/sessions/{}.jsonl", made.id);
    world.quiet(&moved, &lean);
    assert_eq!(world.swept(&["agents"]), 0, "it lies in a folder of the client's");
    fs::remove_file(world.path()).unwrap();
    assert_eq!(world.swept(&["agents"]), 0);
    fs::rename(world.at("agents/other"), world.at("elsewhere")).unwrap();
    // After one read there, the place is known, whatever its name.
    let elsewhere = "elsewhere/sessions/renamed.jsonl";
    fs::rename(world.at(&moved.replace("agents/other", "elsewhere")), world.at(elsewhere)).unwrap();
    world.extract(elsewhere);
    assert_eq!(world.swept(&["agents"]), 0);
    fs::remove_dir_all(world.at("elsewhere/sessions")).unwrap();
    assert_eq!(world.swept(&["agents"]), 0, "an empty folder may be a disk's");
    fs::write(world.at("elsewhere/else"), "").unwrap();
    assert!(world.swept(&["agents"]) > 0);
}
