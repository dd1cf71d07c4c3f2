//! `append`: adds entries to the compaction file, in the section of their kind or of the heading
//! above them.

use anyhow::Context as _;

use super::{Context, Exit, Failure, Run, out, selector, stdin_text};
use crate::cli::AppendArgs;
use guard::files::jobs::{self, Open};
use guard::hook::boundary_flow;
use guard::hook::facts::Facts;
use notes::compaction::{self, EditError, Role, Shape};
use notes::job::kinds;
use notes::job::slice::{self, Note};

impl Run for AppendArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let found = selector::find(env, &self.selector)?;
        let mut facts = selector::facts(env, now, &found)?;
        let shape = facts.settings.file.shape.clone();
        let steering = self.kind.as_ref().is_some_and(|k| k.eq_ignore_ascii_case(kinds::STEERING));
        if self.about.is_some() && !steering {
            let what = "--about belongs to --kind steering";
            return Err(Failure::usage(what).hint("leave it out or give both").into());
        }
        // Report an unknown kind before waiting for stdin.
        if let Some(kind) = &self.kind {
            slice::of_kind(&shape, kind, None, "").map_err(Failure::usage)?;
        }
        let text = self.text.join(" ");
        let text = if text.is_empty() || text == "-" { stdin_text()? } else { text };
        let notes = notes(&shape, self, &text)?;
        if notes.is_empty() {
            let hint = "give the entry as an argument or on stdin";
            return Err(Failure::usage("nothing to append").hint(hint).into());
        }
        let open = selector::open(&mut facts)?;
        let path = facts.places.compaction(&open.job);
        let after = write(&facts, &open, &notes)?;
        let is_new = after != open.text;
        drop(open);
        boundary_flow::after_note(&facts);
        let words = compaction::gauge_words(&after, &shape);
        out(format_args!(
            "{} {}: {} of {} words ({})",
            if is_new { "added to" } else { "already in" },
            sections(&shape, &notes).join(", "),
            words,
            facts.settings.file.words,
            path.display()
        ));
        Ok(Exit::Done)
    }
}

/// The notes: all of one kind, or, without a kind, by the headings in the text.
fn notes(shape: &Shape, args: &AppendArgs, text: &str) -> Result<Vec<Note>, Failure> {
    match (args.kind.as_deref(), slice::first_heading(text, shape)) {
        (None, Some(_)) => slice::read(text, shape).map_err(Failure::usage),
        (Some(kind), Some((line, heading))) => Err(Failure::usage(format_args!(
            "line {line} is the heading of a section ({heading:?}), and --kind {kind} names one too: leave out either"
        ))),
        (kind, None) => {
            let kind = kind.unwrap_or("thread");
            slice::of_kind(shape, kind, args.about.as_deref(), text).map_err(Failure::usage)
        }
    }
}

/// Writes notes into the open file in one step, and returns its new text. Notes that stand there
/// already are left out: the client may run a command again that a hook has executed.
///
/// # Errors
/// A construct in the file that is not closed, named by its line; an I/O error.
pub(in crate::cmd) fn write(facts: &Facts, open: &Open, notes: &[Note]) -> anyhow::Result<String> {
    let shape = &facts.settings.file.shape;
    let path = facts.places.compaction(&open.job);
    let new = new_notes(&open.text, shape, notes);
    let after = add(&open.text, shape, &new).with_context(|| path.display().to_string())?;
    if after == open.text {
        return Ok(after);
    }
    super::keep_bytes(&facts.places, &open.job)?;
    jobs::write_live(&facts.places, &open.job, &after)
        .with_context(|| format!("could not write {}", path.display()))?;
    if notes.iter().any(|note| shape.role(note.section) == Role::Summary) {
        let next = jobs::last_version(&facts.places, &open.job) + 1;
        jobs::record_summary(&facts.places, &open.job, facts.id, next)?;
    }
    Ok(after)
}

/// The notes that are not open entries of their section already. A next step counts as there only
/// at the top.
fn new_notes(text: &str, shape: &Shape, notes: &[Note]) -> Vec<Note> {
    let document = compaction::parse(text, shape);
    let stands = |note: &Note| {
        let firsts = notes.iter().filter(|n| n.first && n.section == note.section).count();
        let among = if note.first { firsts } else { usize::MAX };
        let mut there = document.section(note.section).take(among);
        there.any(|entry| !entry.closed && entry.text == note.text)
    };
    notes.iter().filter(|note| !stands(note)).cloned().collect()
}

/// The text with these notes. Next steps go to the top of their section, other notes to its end.
fn add(before: &str, shape: &Shape, notes: &[Note]) -> Result<String, EditError> {
    let mut text = before.to_owned();
    for section in 0..shape.sections.len() {
        for first in [true, false] {
            let here = notes.iter().filter(|note| note.section == section && note.first == first);
            let entries: Vec<_> =
                here.map(|note| (note.marker.clone(), note.text.clone())).collect();
            if !entries.is_empty() {
                let add = if first { compaction::add_first } else { compaction::add };
                text = add(&text, shape, section, &entries)?;
            }
        }
    }
    Ok(text)
}

/// Names of the sections that the notes go to, in the shape's order.
pub(in crate::cmd) fn sections(shape: &Shape, notes: &[Note]) -> Vec<String> {
    let holds = |index: usize| notes.iter().filter(|note| note.section == index).count();
    let indices = (0..shape.sections.len()).filter(|index| holds(*index) > 0);
    indices.map(|index| shape.name(Some(index)).to_owned()).collect()
}
