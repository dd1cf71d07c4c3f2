//! Seals the compaction file: checks, tidies and freezes it for the next session.
//!
//! Eight steps run in order, each in its own file, and each reports what it did. The seal writes
//! no prose and loses none: it returns what it removes as [`Removed`]. It never removes open
//! entries of Forward State or Open Threads, pinned entries, directives, or this session's
//! `none: <reason>`. Pure: a text goes in, a text comes out.

mod age;
mod dedup;
mod draft;
mod fold;
mod git;
mod identifiers;
mod limits;
mod normalize;
mod organize;
mod past;
mod question;
mod report;
mod shrink;
mod stamp;
mod summarize;
mod verify;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

pub use git::{Commit, render_commits};
pub use limits::Limits;
pub use past::{Age, Ages, Past};
pub use question::{Condense, Listed, Question};
pub use report::{
    Heavy, Moved, Reason, Refused, Removed, Report, Step, StepReport, Taken, Verdict,
};
pub use summarize::entries as summary_entries;

use crate::compaction::{Document, EntryId, Shape, Stamp, StampState, measure, parse};
use draft::Draft;

type Run = fn(&mut Draft, &Document, &mut StepReport);

/// The input of a seal.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The current text of the compaction file.
    pub source: &'a str,
    /// The sections it must have.
    pub shape: &'a Shape,
    /// The job's name, used if the file does not give one.
    pub job: &'a str,
    /// Maximum sizes.
    pub limits: Limits,
    /// The time for the stamp.
    pub now: DateTime<Utc>,
    /// New text for the summary section.
    pub summary: Option<&'a str>,
    /// The entries that the new summary replaces.
    pub replaces: &'a [EntryId],
    /// The entries from earlier sessions.
    pub inherited: &'a BTreeSet<EntryId>,
    /// Data from earlier seals. If `None`, the order in the file decides which entry is older.
    pub past: Option<Past<'a>>,
    /// The highest version sealed so far, which the file may lack. A version is never used twice.
    pub last_version: u64,
    /// The job's commits, newest first. `None` leaves their section unchanged.
    pub git: Option<&'a [Commit]>,
}

/// A sealed file.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// The file's new text.
    pub text: String,
    /// The removed entries, in order of removal.
    pub removed: Vec<Removed>,
    /// The same as Markdown, for a file next to the sealed one. Empty if nothing was removed.
    pub removed_markdown: String,
    /// What each step did.
    pub report: Report,
    /// The ages of the remaining entries, for the next seal.
    pub ages: Ages,
}

/// Seals a file; returns an already sealed one unchanged. Fails only if the entries that must stay
/// reach the blocking size.
pub fn seal(input: &Input) -> Result<Sealed, Box<Refused>> {
    let document = parse(input.source, input.shape);
    let words = measure(&document).total;
    let version = document.front().version.unwrap_or(0);
    if input.shape.authored().next().is_none() {
        let report = Report::new(words, version, Verdict::Refused);
        return Err(Box::new(Refused {
            reason: Reason::NoSections,
            report,
            words,
            cut: 0,
            heaviest: Vec::new(),
        }));
    }
    if is_sealed(input, &document) {
        let report = Report::new(words, version, Verdict::AlreadySealed);
        let (removed, removed_markdown) = (Vec::new(), String::new());
        let ages = input.past.map_or_else(Ages::new, |past| past.ages.clone());
        let text = input.source.to_owned();
        return Ok(Sealed { text, removed, removed_markdown, report, ages });
    }
    let even = even_lines(input.source, &document, input.shape);
    let document = even.as_deref().map_or(document, |even| parse(even, input.shape));
    let mut draft = Draft::new(input, &document);
    let mut report = Report::new(words, version.max(input.last_version) + 1, Verdict::Sealed);
    let steps: [(Step, Run); 6] = [
        (Step::Normalize, normalize::run),
        (Step::Dedup, |draft, _, log| dedup::run(draft, log)),
        (Step::Fold, |draft, _, log| fold::run(draft, log)),
        (Step::Organize, |draft, _, log| organize::run(draft, log)),
        (Step::Summarize, |draft, _, log| summarize::run(draft, log)),
        (Step::Shrink, |draft, _, log| shrink::run(draft, log)),
    ];
    let mut before = words;
    for (step, run) in steps {
        let mut log = StepReport::new(step, before);
        run(&mut draft, &document, &mut log);
        before = draft.words();
        log.after = before;
        report.steps.push(log);
    }
    report.words_after = before;
    (report.kept, report.target) = (draft.kept_words(), input.limits.target_words());
    report.lost_identifiers = std::mem::take(&mut draft.lost_identifiers);
    let text = stamp::run(&draft);
    let unchanged = |step| StepReport { after: before, ..StepReport::new(step, before) };
    report.steps.push(unchanged(Step::Stamp));
    report.steps.push(unchanged(Step::Verify));
    if let Err(reason) = verify::run(&draft, &text) {
        report.verdict = Verdict::Refused;
        report.version = version;
        return Err(Box::new(draft.refuse(reason, report, &document)));
    }
    let removed_markdown = report::removed_markdown(&draft.title, report.version, &draft.removed);
    let ages = age::ages(&draft);
    Ok(Sealed { text, removed: draft.removed, removed_markdown, report, ages })
}

/// The source with all line ends as `\n`, if it has others. A lone `\r` becomes a line end, or a
/// blank if that would split an entry.
fn even_lines(source: &str, document: &Document, shape: &Shape) -> Option<String> {
    if !source.contains('\r') {
        return None;
    }
    let paired = source.replace("\r\n", "\n");
    let even = paired.replace('\r', "\n");
    let whole = parse(&even, shape)
        .entries()
        .map(|entry| &entry.text)
        .eq(document.entries().map(|entry| &entry.text));
    Some(if whole { even } else { paired.replace('\r', " ") })
}

/// Whether nothing is to do: the stamp is valid, and the input brings nothing new.
fn is_sealed(input: &Input, document: &Document) -> bool {
    let sections = 0..input.shape.sections.len();
    Stamp::check(document) == StampState::Fresh
        && measure(document).total < input.limits.block_words()
        && sections.into_iter().all(|section| document.has_section(section))
        && git::is_current(input, document)
        && summarize::is_current(input, document)
}

#[cfg(test)]
mod tests;
