//! Kills extraction and restoration at each kind of writing call. The session is the old or the new
//! one, the next call ends like an undisturbed one, and all extracted values can be restored.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::store::Played;
use crate::store::scene::Scene;
use crate::support::disk::Tree;
use crate::support::trace::{Run, ends, strace};

/// A home with an idle session.
struct World {
    scene: Scene,
    path: PathBuf,
    old: String,
}

impl World {
    fn new() -> Self {
        let scene = Scene::new();
        let path = scene.path().join("home/.pi/agent/sessions/--w--/2026-02-20T10-00-00_s.jsonl");
        let world = Self { scene, path, old: rows().join("\n") + "\n" };
        fs::create_dir_all(world.path.parent().expect("a folder")).expect("made");
        fs::write(&world.path, &world.old).expect("written");
        world.quiet();
        world
    }

    fn quiet(&self) {
        let file = fs::File::options().append(true).open(&self.path).expect("a session");
        file.set_modified(SystemTime::now() - Duration::from_secs(180)).expect("a time");
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap_or_default()
    }

    fn shown(&self) -> &str {
        self.path.to_str().expect("utf-8")
    }

    fn killed(&self, args: &[&str], then: impl Fn(&str) -> Result<(), String>) -> Played {
        killed(&self.scene, args, || self.text(), || self.quiet(), then)
    }

    fn restore(&self) -> Vec<&str> {
        vec!["extract", "restore", self.shown(), "all", "--in-place", "--unmarked"]
    }
}

/// The rows of a session with long results.
pub fn rows() -> Vec<String> {
    let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-02-20T10:00:00.000Z","cwd":"/w"}"#;
    let (mut rows, mut parent) = (vec![header.to_owned()], "null".to_owned());
    let mut row = |id: String, message: String| {
        rows.push(format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-02-20T10:00:01.000Z","message":{message}}}"#
        ));
        parent = format!("\"{id}\"");
    };
    let said =
        |text: &str| format!(r#"{{"role":"assistant","content":[{text}],"stopReason":"stop"}}"#);
    row("u".into(), r#"{"role":"user","content":"go"}"#.into());
    for number in 0..4 {
        row(
            format!("c{number}"),
            said(&format!(
                r#"{{"type":"toolCall","id":"t{number}","name":"exec","arguments":{{}}}}"#
            )),
        );
        row(
            format!("r{number}"),
            format!(
                r#"{{"role":"toolResult","toolCallId":"t{number}","toolName":"exec","content":[{{"type":"text","text":"{}"}}],"isError":false}}"#,
                format!("row {number} größer\\n").repeat(200)
            ),
        );
        row(format!("a{number}"), said(r#"{"type":"text","text":"done"}"#));
    }
    rows
}

/// `extract run`.
pub fn run() -> Played {
    let world = World::new();
    world.killed(&["extract", "run", world.shown()], |again| {
        let answer = world.scene.run(&["extract", "run", world.shown()]);
        if answer.code != Some(0) || world.text() != again {
            return Err(format!("the next one: {answer:?}"));
        }
        let answer = world.scene.run(&world.restore());
        if answer.code == Some(0) && world.text() == world.old {
            Ok(())
        } else {
            Err(format!("{answer:?}"))
        }
    })
}

/// `extract restore --in-place`.
pub fn restore() -> Played {
    let world = World::new();
    let answer = world.scene.run(&["extract", "run", world.shown()]);
    if answer.code != Some(0) || world.text() == world.old {
        return Err(format!("{answer:?}"));
    }
    world.killed(&world.restore(), |again| {
        // A kill near the end leaves nothing to restore.
        let answer = world.scene.run(&world.restore());
        if world.text() == again { Ok(()) } else { Err(format!("the next one: {answer:?}")) }
    })
}

/// Kills it at one call after the other: `text` must give the old or the new session, and `then`
/// must hold. `lay` prepares the restored files.
pub fn killed(
    scene: &Scene,
    args: &[&str],
    text: impl Fn() -> String,
    lay: impl Fn(),
    then: impl Fn(&str) -> Result<(), String>,
) -> Played {
    let strace = strace()?;
    let root: &Path = scene.path();
    let (old, before) = (Tree::read(root), text());
    let run = Run::of(&scene.command(args), b"");
    let log = tempfile::NamedTempFile::new().expect("a log");
    let (answer, points, _) = run.watched(&strace, root, log.path());
    let after = text();
    if answer.code != Some(0) || after == before {
        return Err(format!("undisturbed: {answer:?}"));
    }
    let points = ends(points);
    let mut faults = Vec::new();
    let mut reached = 0;
    for point in &points {
        old.put(root);
        lay();
        if !run.killed(&strace, point) {
            continue;
        }
        reached += 1;
        let found = text();
        let at = format!("{} {}: {}", point.call, point.number, point.line);
        if found != before && found != after {
            faults.push(format!("neither of before nor of after: {at}"));
        } else if let Err(why) = then(&after) {
            faults.push(format!("after {at}: {why}"));
        }
    }
    if 2 * reached < points.len() || reached < 5 {
        faults.push(format!("of {} kills {reached} came to pass", points.len()));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}
