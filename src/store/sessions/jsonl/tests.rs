//! Edits of a session's file, and what stands in their way.

mod late;
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

    /// A session that nobody has written for two minutes.
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
    // pi goes on with the session that was written last.
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

/// A user who is somebody else.
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

    // At the last moment, also by one that keeps time and size.
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
fn a_lock_that_is_held_is_waited_for_and_then_told() {
    let world = World::new();
    let session = world.usual();
    let held = GatewayLock::acquire(&world.path(), Duration::ZERO).unwrap();
    let refused = edit(&session).unwrap_err();
    assert!(matches!(refused, Refused::Locked(_)), "{refused}");
    assert!(world.text().contains("long"));
    drop(held);
    let refused = session.edit(stamp(&session), &mut |number, row| {
        // Held for half an hour it would be another's.
        fs::write(world.path().with_extension("jsonl.lock"), "{}").unwrap();
        shorter(number, row)
    });
    assert!(matches!(refused, Err(Refused::Locked(_))), "{refused:?}");
    assert!(world.text().contains("long"));
    assert_eq!(world.names(), ["s.jsonl", "s.jsonl.lock"], "another's lock stays");
}

#[test]
fn a_session_at_work_is_left_alone() {
    let world = World::new();
    let session = world.usual();
    let now = File::options().write(true).open(world.path()).unwrap();
    now.set_modified(SystemTime::now()).unwrap();
    let refused = edit(&session).unwrap_err();
    assert!(matches!(refused, Refused::Busy(_)), "{refused}");
    edit(&session.clone().with_times(Duration::ZERO, Duration::ZERO)).unwrap();

    let session = world.usual();
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 9>>\"$0\"; echo; read -r _"]).arg(world.path());
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let refused = edit(&session).unwrap_err();
    let who = format!("is held open by process {}", child.id());
    assert!(matches!(&refused, Refused::Busy(why) if why.contains(&who)), "{refused}");
    drop(child.stdin.take());
    child.wait().unwrap();
    edit(&session).unwrap();
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
        (claude, "its first row is no header"),
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

#[test]
fn what_the_killed_left_is_removed_and_what_the_living_write_stays() {
    let world = World::new();
    let session = world.usual();
    let gone = {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    };
    let mine = format!(".s.jsonl.{}.7.tmp", std::process::id());
    let lock = format!(".s.jsonl.lock.{gone}.0.tmp");
    for name in
        [&format!(".s.jsonl.{gone}.0.tmp"), &lock, &mine, ".s.jsonl.tmp", ".t.jsonl.1.0.tmp"]
    {
        fs::write(world.folder.join(name), "half").unwrap();
    }
    edit(&session).unwrap();
    let mut expected =
        vec![mine, ".s.jsonl.tmp".into(), ".t.jsonl.1.0.tmp".into(), "s.jsonl".into()];
    expected.sort();
    assert_eq!(world.names(), expected);
}

/// pi appends without any lock, each time by opening the file.
#[test]
fn nothing_is_lost_beside_a_process_that_goes_on_appending() {
    const ROWS: usize = 200;
    let world = World::new();
    let session = world.usual().with_times(Duration::ZERO, Duration::from_secs(5));
    let row = SAID.replace("done", "row $i.").replace('"', "\\\"");
    let script =
        format!("i=0; while [ $i -lt {ROWS} ]; do echo \"{row}\" >> \"$0\"; i=$((i+1)); done");
    let mut shell = Command::new("sh");
    let mut child = shell.args(["-c", &script]).arg(world.path()).spawn().unwrap();
    let (mut done, mut times) = (false, 0_u32);
    while !done {
        done = child.try_wait().unwrap().is_some();
        let (from, to) = if times % 2 == 0 { ("long", "short") } else { ("short", "long") };
        let edited = session.edit(stamp(&session), &mut |_, row| {
            let text = String::from_utf8_lossy(row);
            Ok(text.contains(from).then(|| text.replace(from, to).into_bytes()))
        });
        match edited {
            Ok(_) => times += 1,
            Err(Refused::Changed(_) | Refused::Busy(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
    child.wait().unwrap();
    let text = world.text();
    for i in 0..ROWS {
        assert_eq!(text.matches(&format!("row {i}.")).count(), 1, "row {i}, {times} edits");
    }
    assert_eq!(text.lines().count(), 3 + ROWS);
    assert!(times > 0);
    assert_eq!(world.names(), ["s.jsonl"]);
}
