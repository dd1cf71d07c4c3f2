//! Extraction from long sessions of pi and Claude Code, beside `cp`.

use std::fs;

use crate::harness::report::tell;
use crate::harness::{Bench, Case, measure};
use crate::session::{CLAUDE, PI, Place, empty, memory, replace, text};

/// Measures and prints; returns whether memory holds.
///
/// # Errors
/// What can't be prepared.
pub fn run(bench: &Bench) -> Result<bool, String> {
    let sizes: &[u64] = if bench.quick { &[10] } else { &[50, 300] };
    let rounds = if bench.quick { 3 } else { 5 };
    let (mut rows, mut about) = (Vec::new(), format!("{rounds} rounds"));
    for megabytes in sizes {
        let place = Place::new(bench, *megabytes).map_err(|why| why.to_string())?;
        let (cases, session) = cases(&place)?;
        about = format!("{about}\n{session}");
        rows.extend(measure(cases, rounds));
        empty(&place.work);
    }
    let goals = [memory(&rows)];
    tell(bench, &about, &rows, &goals)
}

/// The cases, and what the session of pi is like.
fn cases(place: &Place) -> Result<(Vec<Case>, String), String> {
    let session = |seed, rows| place.session(seed, 1, rows).map_err(|why| why.to_string());
    let (pi, claude) = (session(1, PI)?, session(2, CLAUDE)?);
    let verb = |name, folder: &str, words: &[&str]| {
        let words = [&["extract"], words].concat();
        place.verb(name, &format!("{folder}/store"), &words, pi.largest_row)
    };
    // Each verb that changes the session has a folder with a copy of it and a store.
    let folder = |name: &str| {
        let folder = place.work.join(name);
        empty(&folder);
        replace(&pi.path, &folder.join("session.jsonl"));
        folder
    };
    let (run, again, back) = (folder("run"), folder("again"), folder("restore"));
    let file = |folder: &std::path::Path| text(&folder.join("session.jsonl")).to_owned();
    for (name, path) in [("again", &again), ("restore", &back)] {
        verb("run", name, &["run", &file(path)]).output()?;
    }
    let (fresh, whole) = (place.work.join("fresh"), place.work.join("extracted"));
    replace(&run, &fresh);
    replace(&back, &whole);
    let (run_file, back_file, again_file) = (file(&run), file(&back), file(&again));
    let restore = ["restore", &back_file, "all", "--in-place", "--unmarked"];
    // Of Claude Code the session is in the store, and a new one is written.
    let path = text(&claude.path);
    place.verb("import", "claude/store", &["import", path], 0).output()?;
    let out = place.work.join("out");
    let words = ["extract", "run", path, "--out", text(&out)];
    let new = place.verb("run, Claude Code's", "claude/store", &words, claude.largest_round);
    let (stored, extracted) = (out.clone(), place.work.join("claude/store/extracted"));
    let cases = vec![
        place.copy(&pi),
        verb("plan", "plan", &["plan", text(&pi.path)]),
        verb("run", "run", &["run", &run_file]).after(move || replace(&fresh, &run)),
        verb("run again", "again", &["run", &again_file]),
        verb("restore all in place", "restore", &restore).after(move || replace(&whole, &back)),
        verb("plan, Claude Code's", "plan", &["plan", path]),
        new.after(move || {
            empty(&stored);
            empty(&extracted);
        }),
    ];
    for case in &cases {
        case.output()?;
    }
    if fs::read(&back_file).ok() != fs::read(&pi.path).ok() {
        return Err("restoring everything did not bring the session back".into());
    }
    Ok((cases, pi.about()))
}
