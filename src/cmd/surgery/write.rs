//! Writes the files of a new session: its rows, and copies of files they refer to.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context as _;

use super::extracted::Keeper;
use base::env::Env;
use base::new_file::{self, Written};
use base::paths::Places;
use guard::texts::{self, Text};
use store::blocks::Reader;
use store::index::Beside;
use surgery::export::{self, Birth, Reading, Report};
use surgery::plan::Plan;

/// Exports a plan's rows into the sink from `begin`, edited by `keeper`. The exporter may call
/// `begin` twice ([`export::all`]).
///
/// # Errors
/// Unreadable blocks, or an invalid output.
pub fn rows<W: Write>(
    env: &Env,
    plan: &Plan,
    birth: &Birth,
    readers: &[Reader],
    keeper: &RefCell<Keeper>,
    begin: &mut dyn FnMut() -> io::Result<W>,
) -> anyhow::Result<(Report, W)> {
    let say = |text: export::Text, values: &[(&str, &str)]| {
        texts::fill(&template(env, birth, text), values).trim_end().to_owned()
    };
    let reading = Reading {
        read: &mut |place, rows| readers[place.session].round(place.seq, rows),
        edit: &mut |place, rows| keeper.borrow_mut().rows(place, rows),
    };
    Ok(export::all(plan, birth, &say, reading, begin)?)
}

/// The template of a text: the user's own, if there is one.
fn template(env: &Env, birth: &Birth, text: export::Text) -> String {
    let text = match text {
        export::Text::Index => Text::SurgeryIndex,
        export::Text::Voices => Text::SurgeryMerge,
    };
    Places::for_project(env, Path::new(&birth.cwd))
        .map_or_else(|| text.built_in().to_owned(), |places| texts::template(&places, text))
}

/// Copies files that kept rounds refer to into the companion folder. Notes missing ones.
///
/// # Errors
/// A failed copy; nothing is left then.
pub fn beside(
    plan: &Plan,
    report: &Report,
    path: &Path,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<Written>> {
    let to = new_file::companion_folder(path);
    let mut copied = Vec::new();
    for (number, session) in plan.sessions.iter().enumerate() {
        let Some(source) = &session.source else { continue };
        let from = new_file::companion_folder(Path::new(source));
        let files = report.companions.iter().filter(|file| file.session == number);
        let paths: Vec<&str> = files.map(|file| file.path.as_str()).collect();
        match new_file::copy_companions(&from, &to, paths.iter().copied()) {
            Ok(written) => copied.extend(written),
            Err(e) => {
                new_file::remove_companions(&to, &copied);
                return Err(e).with_context(|| format!("could not write {}", to.display()));
            }
        }
        let there = |path: &&str| copied.iter().any(|copy| copy.path == to.join(path));
        // Not every client writes the name of a subagent.
        let due = |path: &&&str| !path.ends_with(".meta.json") && !there(path);
        for gone in paths.iter().filter(due) {
            notes.push(format!("{} is not there: no copy of it", from.join(gone).display()));
        }
    }
    Ok(copied)
}

/// Removes copies.
pub fn remove_beside(copied: &[Written], path: &Path) {
    new_file::remove_companions(&new_file::companion_folder(path), copied);
}

/// The record of a copy.
pub fn noted(copy: &Written) -> Beside {
    Beside { path: copy.path.display().to_string(), bytes: copy.bytes, mark: copy.mark }
}
