//! Rows that come during and after an edit: none is lost, none is duplicated.

use std::io::Write as _;

use super::*;

const LATE: &str = "{\"type\":\"message\",\"id\":\"late\"}\n";
const NEXT: &str = "{\"type\":\"message\",\"id\":\"next\",\"parentId\":\"late\"}\n";

/// A process that has the file open for appending, and writes each line that it is given.
struct Writer {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Writer {
    fn of(path: &Path) -> Self {
        let mut shell = Command::new("sh");
        let script = "exec 9>>\"$0\"; echo; while IFS= read -r row; do printf '%s\\n' \"$row\" >&9; echo; done";
        shell.args(["-c", script]).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let stdin = child.stdin.take();
        Self { child, stdin }
    }

    fn writes(&mut self, row: &str) {
        self.stdin.as_mut().unwrap().write_all(row.as_bytes()).unwrap();
        self.child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    }

    fn ends(&mut self) {
        drop(self.stdin.take());
        self.child.wait().unwrap();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.ends();
    }
}

/// A replaced session with its old file as a kill leaves it, and a process that has it open.
fn replaced(world: &World) -> (Jsonl, OldFile, Writer) {
    let session = world.usual();
    let (source, stamp) = (open(&world.path()).unwrap(), stamp(&session));
    let temp = Temp::create_beside(&world.path(), &source).unwrap();
    assert!(temp.rewrite(&world.path(), &source, stamp.size, &mut shorter).unwrap());
    let writer = Writer::of(&world.path());
    let left = OldFile::create(&world.path(), stamp, &temp.metadata().unwrap()).unwrap();
    temp.put(&world.path()).unwrap();
    (session, left, writer)
}

fn new_text() -> String {
    format!("{HEADER}\n{}\n{SAID}\n", result("short"))
}

fn append(path: &Path, rows: &str) {
    File::options().append(true).open(path).unwrap().write_all(rows.as_bytes()).unwrap();
}

#[test]
fn a_process_that_holds_the_old_file_is_waited_for_and_all_it_writes_comes_over() {
    let world = World::new();
    let (session, _, mut writer) = replaced(&world);
    let session = session.with_times(IDLE, Duration::from_secs(30));
    std::thread::scope(|scope| {
        let settled = scope.spawn(|| session.settle());
        for (row, rows) in [(LATE, LATE.to_owned()), (NEXT, format!("{LATE}{NEXT}"))] {
            writer.writes(row);
            let deadline = Instant::now() + Duration::from_secs(20);
            // Not only after it has ended: a client reads what there is.
            while world.text() != new_text() + &rows {
                assert!(Instant::now() < deadline, "{}", world.text());
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(!settled.is_finished());
        }
        writer.ends();
        assert_eq!(settled.join().unwrap().unwrap(), None);
    });
    assert_eq!(world.text(), format!("{}{LATE}{NEXT}", new_text()));
    assert_eq!(world.names(), ["s.jsonl"]);
}

#[test]
fn one_that_holds_it_for_too_long_is_told_and_the_next_edit_ends_it() {
    let world = World::new();
    let (session, left, mut writer) = replaced(&world);
    writer.writes(LATE);
    // Half a row waits for its other half.
    append(&left.path, "{\"id\":");
    let refused = session.settle().unwrap_err();
    let who = format!("process {} opened", writer.child.id());
    assert!(
        matches!(&refused, Refused::Busy(why) if why.contains(&who) && why.contains("brain-guard-old")),
        "{refused}"
    );
    assert_eq!(world.text(), new_text() + LATE);
    writer.writes("\"h\"}\n");
    writer.ends();
    assert_eq!(unfinished(&[world.path()]), [world.path()]);
    let before = stamp(&session);
    let refused = session
        .clone()
        .with_times(Duration::ZERO, Duration::ZERO)
        .edit(before, &mut |_, _| panic!("asked"))
        .unwrap_err();
    assert!(matches!(refused, Refused::Changed(_)), "{refused}");
    assert_eq!(world.text(), format!("{}{LATE}{{\"id\":\"h\"}}\n", new_text()));
    assert_eq!(world.names(), ["s.jsonl"]);
    assert_eq!(unfinished(&[world.path()]), [] as [PathBuf; 0]);
}

#[test]
fn what_is_there_already_does_not_come_twice() {
    let world = World::new();
    let (session, left, mut writer) = replaced(&world);
    // Killed after the append; one row occurs twice.
    for row in [LATE, LATE, NEXT] {
        writer.writes(row);
    }
    writer.ends();
    append(&world.path(), &[LATE, LATE].concat());
    assert_eq!(session.settle().unwrap(), None);
    let text = format!("{}{LATE}{LATE}{NEXT}", new_text());
    assert_eq!(world.text(), text);
    assert_eq!(session.settle().unwrap(), None);
    assert_eq!(world.text(), text);
    assert!(!left.path.exists());
}

#[test]
fn a_row_that_its_writer_never_ended_is_one_of_its_own() {
    let world = World::new();
    let (session, left, mut writer) = replaced(&world);
    writer.ends();
    append(&left.path, "{\"torn");
    assert_eq!(session.settle().unwrap(), None);
    assert_eq!(world.text(), new_text() + "{\"torn\n");
}

#[test]
fn an_open_row_goes_on_where_it_stopped() {
    let world = World::new();
    let session = world.session(&format!("{HEADER}\n{}\n{SAID}\n{{\"id\":\"to", result("long")));
    let (source, stamp) = (open(&world.path()).unwrap(), stamp(&session));
    let temp = Temp::create_beside(&world.path(), &source).unwrap();
    assert!(temp.rewrite(&world.path(), &source, stamp.size, &mut shorter).unwrap());
    let left = OldFile::create(&world.path(), stamp, &temp.metadata().unwrap()).unwrap();
    temp.put(&world.path()).unwrap();
    append(&left.path, &format!("rn\"}}\n{LATE}"));
    assert_eq!(session.settle().unwrap(), None);
    assert_eq!(world.text(), format!("{}{{\"id\":\"torn\"}}\n{LATE}", new_text()));
}

/// Clients take the last row for the end of the session: rows that follow a late row must stay
/// after it.
#[test]
fn rows_that_came_into_the_new_file_first_stay_the_last() {
    let world = World::new();
    let (session, left, mut writer) = replaced(&world);
    writer.writes(LATE);
    writer.ends();
    append(&world.path(), NEXT);
    let refused = session.settle().unwrap_err();
    assert!(matches!(refused, Refused::Busy(_)), "a run is under way: {refused}");
    assert_eq!(world.text(), new_text() + NEXT);
    assert!(left.path.exists());
    fs::set_permissions(world.path(), fs::Permissions::from_mode(0o640)).unwrap();
    let session = session.with_times(Duration::ZERO, Duration::from_secs(5));
    append(&world.path(), &format!("{SAID}\n"));
    let modified = fs::metadata(world.path()).unwrap().modified().unwrap();
    assert_eq!(session.settle().unwrap(), None);
    assert_eq!(world.text(), format!("{}{LATE}{NEXT}{SAID}\n", new_text()));
    assert_eq!(world.names(), ["s.jsonl"]);
    let there = fs::metadata(world.path()).unwrap();
    assert_eq!((there.mode() & 0o777, there.modified().unwrap()), (0o640, modified));
}

#[test]
fn an_edit_that_was_killed_before_it_replaced_the_file_leaves_nothing() {
    let world = World::new();
    let session = world.usual();
    let text = world.text();
    OldFile::create(&world.path(), stamp(&session), &fs::metadata("/").unwrap()).unwrap();
    assert_eq!(world.names().len(), 2);
    edit(&session).unwrap();
    assert_eq!(world.text(), text.replace("long", "short"));
    assert_eq!(world.names(), ["s.jsonl"]);
    let now = stamp(&session);
    let moved = Stamp { inode: now.inode + 1, ..now };
    let refused = OldFile::create(&world.path(), moved, &fs::metadata("/").unwrap()).unwrap_err();
    assert!(matches!(refused, Refused::Changed(_)), "{refused}");
    assert_eq!(world.names(), ["s.jsonl"]);
}

#[test]
fn a_session_that_is_another_by_now_or_gone_is_told_of() {
    let world = World::new();
    let (session, left, mut writer) = replaced(&world);
    writer.writes(LATE);
    writer.ends();
    World::put(&world.folder.join("other"), &new_text());
    fs::rename(world.folder.join("other"), world.path()).unwrap();
    let word = session.settle().unwrap().unwrap();
    assert!(
        word.contains("another program rewrote") && word.contains(&*left.path.to_string_lossy())
    );
    // That does not prevent an edit.
    let edited = session
        .edit(stamp(&session), &mut |_, row| {
            let text = String::from_utf8_lossy(row);
            Ok(text.contains("short").then(|| text.replace("short", "shorter").into_bytes()))
        })
        .unwrap();
    assert_eq!(edited.left.as_deref(), Some(&*word));
    assert_eq!(world.text(), new_text().replace("short", "shorter"));
    fs::remove_file(world.path()).unwrap();
    let word = session.settle().unwrap().unwrap();
    assert!(word.contains("is gone"), "{word}");
    assert!(left.path.exists());
    // Nothing creates it again.
    assert!(!world.path().exists());
}

#[test]
fn what_lies_beside_other_sessions_is_theirs() {
    let world = World::new();
    let session = world.usual();
    let other = world.folder.join(".t.jsonl.10-20-30.brain-guard-old");
    for path in [&other, &world.folder.join(".s.jsonl.10-20.brain-guard-old")] {
        fs::write(path, LATE).unwrap();
    }
    edit(&session).unwrap();
    assert_eq!(world.names().len(), 3);
    assert_eq!(unfinished(&[world.path()]), [world.folder.join("t.jsonl")]);
    let word = quick(world.folder.join("t.jsonl")).settle().unwrap().unwrap();
    assert!(word.contains("t.jsonl is gone"), "{word}");
}

#[test]
fn a_kill_amid_what_comes_over_leaves_no_half_row() {
    let world = World::new();
    let (session, _, mut writer) = replaced(&world);
    writer.writes(LATE);
    writer.writes(NEXT);
    writer.ends();
    let cut = LATE.len() + 9;
    append(&world.path(), &format!("{LATE}{NEXT}")[..cut]);
    assert_eq!(session.settle().unwrap(), None);
    assert_eq!(world.text(), format!("{}{LATE}{NEXT}", new_text()));
    assert_eq!(world.names(), ["s.jsonl"]);
}
