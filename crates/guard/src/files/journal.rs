//! A session's journal: one line for each decision, text or action of the guard, for `explain` and
//! `report`. A call below every tier leaves no line.

mod added;
mod line;

use std::path::PathBuf;
use std::time::Duration;

pub use added::{Added, Sum, added};
pub use line::{Called, Crossed, Cut, Line, SealedAs, Verdict, What};

use base::paths::Places;
use base::{atomic, lock};

/// Size in bytes at which a journal is rotated. With one older part, a session takes at most 4 MB,
/// about 4,000 denials.
const ROTATE_AT: u64 = 2 * 1024 * 1024;

/// The current file, and the older part.
pub fn paths(places: &Places, session: &str) -> [PathBuf; 2] {
    [places.session(session, "journal.jsonl"), places.session(session, "journal.1.jsonl")]
}

/// Appends a line. Never fails and never waits: a line that cannot be written is dropped.
pub fn write(places: &Places, session: &str, line: &Line) {
    let Ok(mut bytes) = serde_json::to_vec(line) else { return };
    bytes.push(b'\n');
    let [path, _] = paths(places, session);
    match std::fs::metadata(&path) {
        // Opening a pipe would wait for its reader.
        Ok(meta) if !meta.is_file() => return,
        Ok(meta) if meta.len() > ROTATE_AT => rotate(places, session),
        _ => {}
    }
    if atomic::append(&path, &bytes).is_err() && places.ensure_state().is_ok() {
        let _ = atomic::append(&path, &bytes);
    }
}

/// Rotates the journal in only one process. A second rotation would replace all older lines with a
/// few new ones.
fn rotate(places: &Places, session: &str) {
    let lock = places.session(session, "journal.lock");
    let Ok(_held) = lock::acquire(&lock, Duration::ZERO) else { return };
    let [path, older] = paths(places, session);
    if std::fs::metadata(&path).is_ok_and(|meta| meta.len() > ROTATE_AT) {
        let _ = std::fs::rename(&path, &older);
    }
}

/// The session's lines, oldest first. Skips unreadable lines: one may be torn, or from a later
/// version.
pub fn read(places: &Places, session: &str) -> Vec<Line> {
    let [path, older] = paths(places, session);
    let mut lines = Vec::new();
    for path in [older, path] {
        let Ok(Some(bytes)) = atomic::read(&path) else { continue };
        lines.extend(
            bytes.split(|b| *b == b'\n').filter_map(|l| serde_json::from_slice::<Line>(l).ok()),
        );
    }
    lines
}

/// The line about a call, by the client's id, in one session's journal.
pub fn call(places: &Places, session: &str, id: &str) -> Option<Line> {
    let about = |line: &Line| matches!(&line.what, What::Call(call) if call.id == id);
    read(places, session).into_iter().rfind(about)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    fn world() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        (dir, places)
    }

    fn line(said: &str) -> Line {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        Line { said: said.into(), ..Line::new(at, What::Note("PostToolBatch".into())) }
    }

    #[test]
    fn what_is_written_is_read_and_torn_lines_are_left_out() {
        let (_dir, places) = world();
        let called = Called { id: "t1".into(), verdict: Verdict::Deny, ..Called::default() };
        let denied = Line { tier: "narrow".into(), ..Line::new(line("").at, What::Call(called)) };
        write(&places, "s1", &line("one"));
        write(&places, "s1", &denied);
        let [path, _] = paths(&places, "s1");
        atomic::append(
            &path,
            b"{\"at\":\"2026\n{\"at\":\"2026-01-01T00:00:00Z\",\"what\":{\"new\":1}}\n",
        )
        .unwrap();
        write(&places, "s1", &line("two"));
        assert_eq!(read(&places, "s1"), [line("one"), denied.clone(), line("two")]);
        assert_eq!(call(&places, "s1", "t1"), Some(denied));
        assert_eq!(call(&places, "s1", "t2"), None);
        assert!(read(&places, "s2").is_empty());
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn it_stays_below_its_bound_and_keeps_what_is_new() {
        let (_dir, places) = world();
        let long = "x".repeat(100_000);
        for number in 0..90 {
            write(&places, "s1", &line(&format!("{number} {long}")));
        }
        let size = |path: &PathBuf| path.metadata().unwrap().len();
        assert!(paths(&places, "s1").iter().map(size).sum::<u64>() < 2 * ROTATE_AT + 300_000);
        let kept = read(&places, "s1");
        assert!(kept.len() >= 20 && kept.last().unwrap().said.starts_with("89 "), "{}", kept.len());
    }

    #[test]
    fn what_can_not_be_written_is_let_go() {
        let (_dir, places) = world();
        let [path, _] = paths(&places, "s1");
        std::fs::create_dir_all(&path).unwrap();
        write(&places, "s1", &line("one"));
        assert!(read(&places, "s1").is_empty());
    }
}
