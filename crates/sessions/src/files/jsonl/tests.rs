//! Edits of a session file, and what prevents them.

mod late;
mod others;
mod places;

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Instant, SystemTime};

use super::*;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#;
const SAID: &str = r#"{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"done"}],"stopReason":"stop"}}"#;

fn result(text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"a1","parentId":null,"message":{{"role":"toolResult","toolCallId":"c","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

struct World {
    _dir: tempfile::TempDir,
    folder: PathBuf,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(dir.path()).unwrap();
        Self { _dir: dir, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("s.jsonl")
    }

    /// A session that nobody has written to for two minutes.
    fn session(&self, text: &str) -> Jsonl {
        Self::put(&self.path(), text);
        quick(self.path())
    }

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        let before = SystemTime::now() - Duration::from_secs(120);
        File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
    }

    fn usual(&self) -> Jsonl {
        self.session(&format!("{HEADER}\n{}\n{SAID}\n", result("long")))
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn quick(path: PathBuf) -> Jsonl {
    Jsonl::new(path).with_times(IDLE, Duration::from_millis(50))
}

fn stamp(session: &Jsonl) -> Stamp {
    session.rows(&mut |_, _| Ok(())).unwrap()
}

/// `long` becomes `short` in every row that holds it.
#[allow(clippy::unnecessary_wraps, reason = "a change may fail")]
fn shorter(_: u64, row: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let text = String::from_utf8_lossy(row);
    Ok(text.contains("long").then(|| text.replace("long", "short").into_bytes()))
}

fn edit(session: &Jsonl) -> Result<Edited, Refused> {
    session.edit(stamp(session), &mut shorter)
}

#[test]
fn changed_rows_are_replaced_and_everything_else_stays_byte_for_byte() {
    let world = World::new();
    let text = format!(
        "{HEADER}\r\n{}\r\n{}\nno json\n\n{{\"broken\":\n{SAID}\r\n{{\"id\":\"torn",
        result("long"),
        "x".repeat(3 * BUFFER),
    );
    let session = world.session(&text);
    let mut read = Vec::new();
    let found = session
        .rows(&mut |number, row| {
            assert_eq!(number as usize, read.len());
            read.push(row.to_vec());
            Ok(())
        })
        .unwrap();
    assert_eq!(read.concat(), text.as_bytes());
    assert_eq!(found, Stamp::of(&fs::metadata(world.path()).unwrap()));
    session.edit(found, &mut shorter).unwrap();
    assert_eq!(world.text(), text.replace("long", "short"));
    assert_eq!(world.names(), ["s.jsonl"]);
}

#[test]
fn rights_and_the_time_of_the_last_row_stay() {
    let world = World::new();
    let session = world.usual();
    fs::set_permissions(world.path(), fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(world.path()).unwrap();
    edit(&session).unwrap();
    let after = fs::metadata(world.path()).unwrap();
    assert_eq!(after.mode(), before.mode());
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    // pi continues the session that was written last.
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    assert_ne!(Stamp::of(&after), Stamp::of(&before));
    let other = nobody();
    if std::os::unix::fs::chown(world.path(), Some(other), Some(other)).is_ok() {
        session
            .edit(stamp(&session), &mut |_, row| {
                let text = String::from_utf8_lossy(row);
                Ok(text.contains("short").then(|| text.replace("short", "long").into_bytes()))
            })
            .unwrap();
        let after = fs::metadata(world.path()).unwrap();
        assert_eq!((after.uid(), after.gid()), (other, other));
    }
}

/// A user that is not ours.
fn nobody() -> u32 {
    65_534
}

#[test]
fn where_no_row_changes_the_file_is_not_touched() {
    let world = World::new();
    let session = world.session(&format!("{HEADER}\n{SAID}\n"));
    let before = stamp(&session);
    edit(&session).unwrap();
    assert_eq!(stamp(&session), before);
    assert_eq!(world.names(), ["s.jsonl"]);
}

#[test]
fn what_was_written_since_it_was_read_is_never_overwritten() {
    let world = World::new();
    let session = world.usual();
    let append = || atomic::append(&world.path(), b"{\"id\":\"late\"}\n").unwrap();
    let before = stamp(&session);
    append();
    let refused = session.edit(before, &mut |_, _| panic!("asked")).unwrap_err();
    assert!(matches!(refused, Refused::Changed(_)), "{refused}");

    // At the last moment, also by a writer that keeps time and size.
    let appended = world.text();
    for rewrites in [false, true] {
        let session = world.usual();
        let refused = session.edit(stamp(&session), &mut |number, row| {
            if number == 2 && rewrites {
                let meta = fs::metadata(world.path()).unwrap();
                World::put(&world.folder.join("new"), &world.text().replace("long", "LONG"));
                let new = File::options().write(true).open(world.folder.join("new")).unwrap();
                new.set_modified(meta.modified().unwrap()).unwrap();
                fs::rename(world.folder.join("new"), world.path()).unwrap();
            } else if number == 2 {
                append();
            }
            shorter(number, row)
        });
        assert!(matches!(refused, Err(Refused::Changed(_))), "{refused:?}");
        let expected = if rewrites {
            format!("{HEADER}\n{}\n{SAID}\n", result("LONG"))
        } else {
            appended.clone()
        };
        assert_eq!(world.text(), expected);
        assert_eq!(world.names(), ["s.jsonl"]);
    }
}

#[test]
fn rows_are_asked_for_under_the_lock_and_what_fails_leaves_nothing() {
    let world = World::new();
    let session = world.usual();
    let before = stamp(&session);
    let full = || io::Error::new(io::ErrorKind::StorageFull, "the store is full");
    for failing in [0, 2] {
        let mut locked = 0;
        let refused = session.edit(before, &mut |number, _| {
            locked += u64::from(world.names().contains(&"s.jsonl.lock".to_owned()));
            if number == failing { Err(full()) } else { Ok(None) }
        });
        assert_eq!(refused.unwrap_err().to_string(), "the store is full");
        assert_eq!(locked, failing + 1);
        assert_eq!((stamp(&session), world.names()), (before, vec!["s.jsonl".to_owned()]));
    }
}

#[test]
fn through_a_link_the_real_file_is_written_and_both_names_are_locked() {
    let world = World::new();
    world.usual();
    let links = world.folder.join("links");
    fs::create_dir(&links).unwrap();
    let link = links.join("other.jsonl");
    std::os::unix::fs::symlink(world.path(), &link).unwrap();
    let session = quick(link.clone());
    let mut locks = Vec::new();
    session
        .edit(stamp(&session), &mut |number, row| {
            locks = vec![
                links.join("other.jsonl.lock").exists(),
                world.path().with_extension("jsonl.lock").exists(),
            ];
            shorter(number, row)
        })
        .unwrap();
    assert_eq!(locks, [true, true]);
    assert!(world.text().contains("short"));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(world.names(), ["links", "s.jsonl"]);
    assert_eq!(fs::read_dir(links).unwrap().count(), 1);
}

#[test]
fn what_is_no_session_of_version_3_is_never_written() {
    let world = World::new();
    let v2 = HEADER.replace("\"version\":3", "\"version\":2");
    let v1 = HEADER.replace("\"version\":3,", "");
    let claude = r#"{"parentUuid":null,"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"long"}}"#;
    for (first, why) in [
        ("", "holds no session"),
        (v1.as_str(), "of version 1, not 3"),
        (v2.as_str(), "of version 2, not 3"),
        (claude, "its first row is not a header"),
        (r#"{"type":"session","version":3}"#, "its header has no id"),
    ] {
        let text = if first.is_empty() { "no json\n".into() } else { format!("{first}\n{SAID}\n") };
        let refused = edit(&world.session(&text)).unwrap_err();
        assert!(matches!(&refused, Refused::Unsupported(w) if w.contains(why)), "{refused}");
        assert_eq!(world.text(), text);
    }
    let flat = r#"{"__id":"e","type":"tool_result","output":"long"}"#;
    edit(&world.session(&format!("{flat}\n{SAID}\n"))).unwrap();
    assert!(world.text().contains("short"));
    fs::remove_file(world.path()).unwrap();
    fs::create_dir(world.path()).unwrap();
    assert!(quick(world.path()).rows(&mut |_, _| Ok(())).is_err());
}

#[test]
fn beside_a_database_no_file_of_sessions_is_written() {
    let world = World::new();
    let agent = world.folder.join("agents/main");
    let path = agent.join("sessions/s.jsonl");
    World::put(&path, &format!("{HEADER}\n{}\n{SAID}\n", result("long")));
    World::put(&agent.join("agent/openclaw-agent.sqlite"), "");
    let outside = world.folder.join("s.jsonl");
    std::os::unix::fs::symlink(&path, &outside).unwrap();
    for name in [path.clone(), outside] {
        let refused = edit(&quick(name)).unwrap_err();
        assert!(
            matches!(&refused, Refused::Unsupported(w) if w.contains("openclaw-agent.sqlite")),
            "{refused}"
        );
    }
    fs::rename(agent.join("agent"), agent.join("other")).unwrap();
    edit(&quick(path)).unwrap();
}

#[test]
fn a_row_that_would_break_the_session_is_refused() {
    let world = World::new();
    let session = world.usual();
    let before = stamp(&session);
    let refused = session.edit(before, &mut |number, _| {
        let broken = r#"{"type":"message","id":"a1","parentId":null,"message":"[[extracted-a1]]"}"#;
        Ok((number == 1).then(|| format!("{broken}\n").into_bytes()))
    });
    let why = refused.unwrap_err().to_string();
    assert!(why.ends_with("s.jsonl: row 1 would lose its message"), "{why}");
    assert_eq!((stamp(&session), world.names()), (before, vec!["s.jsonl".to_owned()]));
}
