//! `phase exit`: takes the phase's slice of the compaction file, and leaves the phase if nothing is
//! missing.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Context as _;

use crate::cmd::append::{sections, write};
use crate::cmd::output::is_stdin_terminal;
use crate::cmd::{Failure, out, selector, stdin_text};
use guard::files::jobs;
use guard::hook::facts::Facts;
use notes::compaction::{self, parse};
use notes::job::phase::{self, Missing};
use notes::job::slice::{self, Note, SliceError};
use notes::job::{PastPhase, Phase, kinds};

/// The notes of an exit: `--kind` pairs, and Markdown from stdin unless that is a terminal.
fn given(
    facts: &Facts,
    phase: &Phase,
    pairs: &[String],
) -> anyhow::Result<Result<Vec<Note>, SliceError>> {
    let shape = &facts.settings.file.shape;
    let mut notes = Vec::new();
    for pair in pairs.chunks_exact(2) {
        match slice::of_kind(shape, &pair[0], None, &pair[1]) {
            Ok(more) => notes.extend(more),
            Err(e) => return Ok(Err(e)),
        }
    }
    if !is_stdin_terminal() {
        match slice::read(&stdin_text()?, shape) {
            Ok(more) => notes.extend(more),
            Err(e) => return Ok(Err(e)),
        }
    }
    for note in &mut notes {
        // A steering note given at the exit is about the phase unless it names something else.
        if kinds::steering(&note.text).is_some_and(|steering| steering.about.is_none()) {
            note.text = kinds::with_kind(kinds::STEERING, Some(&phase.name), &note.text);
        }
    }
    Ok(Ok(notes))
}

/// Leaves the phase.
pub(super) fn run(facts: &mut Facts, pairs: &[String]) -> anyhow::Result<()> {
    let job = facts.asker().job();
    let Some(phase) = jobs::record(&facts.places, &job).phase else {
        let hint = "`brain-guard phase enter NAME` enters one, `brain-guard append` takes notes at any time";
        return Err(Failure::refused(format_args!("the job {job} is in no phase"))
            .hint(hint)
            .into());
    };
    let notes = given(facts, &phase, pairs)?.map_err(|e| match e {
        SliceError::Kind { .. } => Failure::usage(e),
        _ => Failure::refused(format_args!("{e}. Nothing was written.")),
    })?;
    let open = selector::open(facts)?;
    let shape = &facts.settings.file.shape;
    let steps = facts.settings.phases.steps(&phase.name);
    let job = &open.job;
    let now = jobs::record(&facts.places, job).phase;
    let Some(phase) = now.filter(|now| (&now.name, now.entered) == (&phase.name, phase.entered))
    else {
        let what = "the phase was left by another process just now";
        return Err(Failure::refused(what).hint("see `brain-guard phase list`").into());
    };
    let document = parse(&open.text, shape);
    let missing = phase::missing(shape, &phase, steps, &document, &notes);
    // Do not add an entry that is already there and open. A kill between the two writes leaves such
    // entries.
    let mut there: BTreeSet<_> = document
        .entries()
        .filter(|entry| !entry.closed)
        .filter_map(|entry| Some((entry.section?, entry.id)))
        .collect();
    let (new, known): (Vec<Note>, Vec<Note>) =
        notes.into_iter().partition(|note| there.insert((note.section, note.id())));
    let after = write(facts, &open, &new)?;
    if !missing.is_empty() {
        // Kept, so that the agent does not have to write it again.
        return Err(Failure::refused(lacks(facts, &phase, &missing, !new.is_empty())).into());
    }
    let left =
        PastPhase { name: phase.name.clone(), entered: phase.entered, left: Some(facts.now) };
    jobs::change_record(&facts.places, job, |record| {
        record.phase = None;
        record.phases.push(left);
    })
    .with_context(|| format!("could not write the record of the job {job}"))?;
    let added = match sections(shape, &new).join(", ") {
        names if names.is_empty() => "nothing added".to_owned(),
        names => format!("{} added to {names}", entries(new.len())),
    };
    let known = if known.is_empty() {
        String::new()
    } else {
        format!(", {} stood there already", known.len())
    };
    let words = compaction::gauge_words(&after, shape);
    out(format_args!(
        "left the phase {:?}: {added}{known}; {words} of {} words ({})",
        phase.name,
        facts.settings.file.words,
        facts.places.compaction(job).display()
    ));
    Ok(())
}

fn entries(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// The refusal: what is missing, and a form to fill in. `given`: something was written down.
fn lacks(facts: &Facts, phase: &Phase, missing: &[Missing], given: bool) -> String {
    let shape = &facts.settings.file.shape;
    let mut text =
        format!("the phase {:?} is not written up, so you are still in it. Missing:", phase.name);
    for one in missing {
        let _ = write!(text, "\n  {}", one.describe(shape));
    }
    let again =
        if given { "What you gave is in the notes. Give only this" } else { "Fill this in" };
    let _ = write!(
        text,
        "\n{again} (one list item an entry; `- none: why` where there is nothing to say):\n{}",
        phase::form(shape, missing)
    );
    text
}
