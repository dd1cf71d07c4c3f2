//! The cases for each version of pi.

use std::fs;
use std::path::{Path, PathBuf};

use crate::pi::client::{Pi, Read};
use crate::pi::compare::{pairs, placeholders};
use crate::pi::scene::{Scene, quiet, shown};

type Tried = Result<(), String>;

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// A session before extraction.
struct Before {
    path: PathBuf,
    bytes: Vec<u8>,
    read: Read,
}

/// Extracts from every session and checks that each gets shorter.
fn extract(pi: &Pi, scene: &Scene, how: &[&str]) -> Result<Vec<Before>, String> {
    let mut all = Vec::new();
    for path in scene.sessions(pi)? {
        let before = Before { bytes: bytes(&path)?, read: pi.read(&path)?, path };
        scene.done(&[&["extract", "run", shown(&before.path)], how].concat())?;
        if bytes(&before.path)?.len() >= before.bytes.len() {
            return Err(format!("{} did not get shorter", before.path.display()));
        }
        all.push(before);
    }
    Ok(all)
}

/// Checks that pi sends the same except for placeholders.
fn judge(pi: &Pi, before: &Before) -> Result<usize, String> {
    let path = before.path.display();
    let now = pi.read(&before.path)?;
    let found = placeholders(&before.read.llm, &now.llm).map_err(|e| format!("{path}: {e}"))?;
    placeholders(&before.read.messages, &now.messages).map_err(|e| format!("{path}: {e}"))?;
    if now.more != before.read.more {
        return Err(format!("{path}: {} was {}", now.more, before.read.more));
    }
    pairs(&now.llm).map_err(|e| format!("{path}: {e}"))?;
    Ok(found)
}

pub fn extracted(pi: &Pi) -> Tried {
    let scene = Scene::new()?;
    let before = extract(pi, &scene, &[])?;
    for (number, session) in before.iter().enumerate() {
        let found = judge(pi, session)?;
        // pi sends only the part of the fixture after its compaction.
        if found == 0 && number == 0 {
            return Err("there is no placeholder in what pi sends".to_owned());
        }
        let once = bytes(&session.path)?;
        scene.done(&["extract", "run", shown(&session.path)])?;
        if bytes(&session.path)? != once {
            return Err(format!("{}: a second run changed it", session.path.display()));
        }
    }
    Ok(())
}

pub fn everything(pi: &Pi) -> Tried {
    let scene = Scene::new()?;
    let before =
        extract(pi, &scene, &["--keep-recent", "0", "--min-length", "200", "--type", "*"])?;
    for (number, session) in before.iter().enumerate() {
        let found = judge(pi, session)?;
        if number == 0 && found < 8 {
            return Err(format!("only {found} placeholders in what pi sends"));
        }
        whole(pi, &scene, session)?;
    }
    Ok(())
}

/// Restores all values without marks and compares the file with the original.
fn whole(pi: &Pi, scene: &Scene, session: &Before) -> Tried {
    let path = session.path.display();
    scene.done(&["extract", "restore", shown(&session.path), "all", "--in-place", "--unmarked"])?;
    if bytes(&session.path)? != session.bytes {
        return Err(format!("{path} is not the file that it was"));
    }
    if pi.read(&session.path)? != session.read {
        return Err(format!("{path}: pi does not send what it sent"));
    }
    Ok(())
}

pub fn restored(pi: &Pi) -> Tried {
    let scene = Scene::new()?;
    extract(pi, &scene, &[])?.iter().try_for_each(|session| whole(pi, &scene, session))
}

pub fn marked(pi: &Pi) -> Tried {
    let scene = Scene::new()?;
    for session in extract(pi, &scene, &[])? {
        let path = session.path.display();
        scene.done(&["extract", "restore", shown(&session.path), "all", "--in-place"])?;
        if !String::from_utf8_lossy(&bytes(&session.path)?).contains("\"_restored\":\"") {
            return Err(format!("{path}: there is no mark"));
        }
        if pi.read(&session.path)? != session.read {
            return Err(format!("{path}: pi does not send what it sent"));
        }
        let once = bytes(&session.path)?;
        scene.done(&["extract", "run", shown(&session.path)])?;
        if bytes(&session.path)? != once {
            return Err(format!("{path}: what was restored was extracted again at once"));
        }
    }
    Ok(())
}

/// Checks that rows appended after extraction are still there after restoring.
fn with_more(pi: &Pi, scene: &Scene, session: &Before) -> Tried {
    let path = session.path.display();
    let now = pi.read(&session.path)?;
    let count = |read: &Read| read.llm.as_array().map_or(0, Vec::len);
    if count(&now) != count(&session.read) + 2 {
        return Err(format!("{path}: {} messages, and then {}", count(&session.read), count(&now)));
    }
    quiet(&session.path);
    scene.done(&["extract", "run", shown(&session.path)])?;
    pairs(&pi.read(&session.path)?.llm)?;
    scene.done(&["extract", "restore", shown(&session.path), "all", "--in-place", "--unmarked"])?;
    let found = bytes(&session.path)?;
    let Some(more) = found.strip_prefix(session.bytes.as_slice()) else {
        return Err(format!("{path} does not begin with the file that it was"));
    };
    match more.split_inclusive(|byte| *byte == b'\n').count() {
        2 => Ok(()),
        rows => Err(format!("{path}: {rows} rows came, not 2")),
    }
}

pub fn goes_on(pi: &Pi) -> Tried {
    let scene = Scene::new()?;
    for session in extract(pi, &scene, &[])? {
        pi.ask("append", &[&session.path])?;
        with_more(pi, &scene, &session)?;
    }
    Ok(())
}

pub fn held(pi: &Pi) -> Tried {
    let scene = Scene::new()?;
    for path in scene.sessions(pi)? {
        let held = pi.hold(&path)?;
        let session = Before { bytes: bytes(&path)?, read: pi.read(&path)?, path };
        scene.done(&["extract", "run", shown(&session.path)])?;
        let messages = held.go_on()?;
        let own = messages.as_array().ok_or("no messages")?;
        let was = session.read.messages.as_array().ok_or("no messages")?;
        if own.get(..was.len()) != Some(was.as_slice()) {
            return Err("what pi has in memory changed".to_owned());
        }
        with_more(pi, &scene, &session)?;
    }
    Ok(())
}

/// pi finds the latest session by file time, so extraction must keep that time.
pub fn latest(pi: &Pi) -> Tried {
    let scene = Scene::new()?;
    let all = scene.sessions(pi)?;
    let last = all.last().ok_or("no session")?;
    let now = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let file = fs::File::options().append(true).open(last).map_err(|e| e.to_string())?;
    file.set_modified(now).map_err(|e| e.to_string())?;
    for path in &all[..all.len() - 1] {
        scene.done(&["extract", "run", shown(path)])?;
    }
    let found = pi.ask("latest", &[&scene.folder()])?;
    if found.as_str().map(Path::new) == Some(last) { Ok(()) } else { Err(format!("it is {found}")) }
}
