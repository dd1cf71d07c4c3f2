//! The finalization pass: from the live compaction file to one that may cross the boundary.
//!
//! Eight steps in order, each in a file of its own, each reporting what it did. The pass
//! invents no prose and loses none: what it takes out comes back as [`Removed`]. It never
//! takes out what is open in Forward State or Open Threads, what is pinned, a directive, or the
//! `none: <reason>` of this session.
//! Pure: a text goes in, a text comes out.

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

pub use git::{Commit, render_commits, section_of};
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

/// What a seal works on.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The compaction file as it stands.
    pub source: &'a str,
    /// The sections it must have.
    pub shape: &'a Shape,
    /// The job, used where the file does not say.
    pub job: &'a str,
    /// How big things may be.
    pub limits: Limits,
    /// The time for the stamp.
    pub now: DateTime<Utc>,
    /// New text for the summary section.
    pub summary: Option<&'a str>,
    /// The entries that the new summary replaces.
    pub replaces: &'a [EntryId],
    /// The entries that came over from earlier sessions.
    pub inherited: &'a BTreeSet<EntryId>,
    /// What earlier seals left; `None` where nobody keeps it, and then the file's order tells
    /// what is older.
    pub past: Option<Past<'a>>,
    /// The highest version sealed so far, which the file may have forgotten: a
    /// version is never given twice.
    pub last_version: u64,
    /// The job's commits, newest first; `None` leaves their section as it is.
    pub git: Option<&'a [Commit]>,
}

/// A sealed file.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// The file's new text.
    pub text: String,
    /// What was taken out, in the order it was.
    pub removed: Vec<Removed>,
    /// The same as Markdown, to stand beside the sealed file; empty where nothing was taken out.
    pub removed_markdown: String,
    /// What each step did.
    pub report: Report,
    /// The ages of the entries that are left, for the next seal.
    pub ages: Ages,
}

/// Seals a file. Fails only if what may not be taken out is at or above the block band;
/// a file that is sealed already comes back as it is.
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

/// The source with lines ended by `\n`, where they are not. A lone `\r` ends a line, but not
/// wherever Markdown is read: where it would tear an entry apart it becomes a blank.
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

/// Whether there is nothing to do: the stamp holds, and nothing new came with the call.
fn is_sealed(input: &Input, document: &Document) -> bool {
    let sections = 0..input.shape.sections.len();
    Stamp::check(document) == StampState::Fresh
        && measure(document).total < input.limits.block_words()
        && sections.into_iter().all(|section| document.has_section(section))
        && git::is_current(input, document)
        && summarize::is_current(input, document)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
