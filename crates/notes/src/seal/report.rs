//! Reports what a seal did, step by step, for people and programs.

use std::fmt::{self, Write};

use serde::Serialize;

use crate::compaction::EntryId;
use crate::compaction::Marker;
use crate::compaction::item::written;

/// The steps, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Makes every entry a list item, and every section unique.
    Normalize,
    /// Removes equal entries.
    Dedup,
    /// Removes entries with which another one begins.
    Fold,
    /// Moves entries to their sections.
    Organize,
    /// Moves old and closed entries into the summary.
    Summarize,
    /// Shrinks the file to the target.
    Shrink,
    /// Writes version, time and digest.
    Stamp,
    /// Checks the result.
    Verify,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Normalize => "normalize",
            Self::Dedup => "dedup",
            Self::Fold => "fold",
            Self::Organize => "organize",
            Self::Summarize => "summarize",
            Self::Shrink => "shrink",
            Self::Stamp => "stamp",
            Self::Verify => "verify",
        })
    }
}

/// An entry that a step moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The entry.
    pub id: EntryId,
    /// The section it left; empty for stray text.
    pub from: String,
    /// The section it moved to.
    pub to: String,
    /// Its first words.
    pub head: String,
}

/// An entry that a step removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// The entry.
    pub id: EntryId,
    /// The section it was in; empty for stray text.
    pub section: String,
    /// The entry that replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into: Option<EntryId>,
    /// Its first words.
    pub head: String,
}

/// What one step did. Words are those that count against the limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepReport {
    /// The step.
    pub step: Step,
    /// Words before it.
    pub before: usize,
    /// Words after it.
    pub after: usize,
    /// The moved entries.
    pub moved: Vec<Moved>,
    /// The removed entries.
    pub removed: Vec<Taken>,
}

impl StepReport {
    pub(super) fn new(step: Step, before: usize) -> Self {
        Self { step, before, after: before, moved: Vec::new(), removed: Vec::new() }
    }
}

/// How a seal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The file was sealed.
    Sealed,
    /// It was already sealed and has not changed since.
    AlreadySealed,
    /// It was not sealed and stays unchanged.
    Refused,
}

/// What a seal did. [`fmt::Display`] writes it for people, with each step that changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How it ended.
    pub verdict: Verdict,
    /// The file's version now.
    pub version: u64,
    /// Words before.
    pub words_before: usize,
    /// Words after; for a refused seal, those it would have had.
    pub words_after: usize,
    /// Words of these that only the agent may remove: open work, pins, directives, answers. 0 if
    /// the steps did not run.
    pub kept: usize,
    /// Words the seal aims for.
    pub target: usize,
    /// Identifiers of replaced entries that the new summary does not name.
    pub lost_identifiers: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<StepReport>,
}

impl Report {
    /// Words before and after.
    pub fn words(&self) -> (u64, u64) {
        (self.words_before as u64, self.words_after as u64)
    }

    pub(super) fn new(words: usize, version: u64, verdict: Verdict) -> Self {
        Self {
            verdict,
            version,
            words_before: words,
            words_after: words,
            kept: 0,
            target: 0,
            lost_identifiers: Vec::new(),
            steps: Vec::new(),
        }
    }
}

/// Maximum moved and removed entries shown per step, because the agent's context is nearly full.
const SHOWN: usize = 5;

/// Maximum identifiers shown.
const IDENTIFIERS: usize = 12;

fn or_none(section: &str) -> &str {
    if section.is_empty() { "no section" } else { section }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (before, after) = (self.words_before, self.words_after);
        match self.verdict {
            Verdict::Sealed => {
                write!(f, "sealed as version {}: {before} words, now {after}", self.version)?;
            }
            Verdict::AlreadySealed => {
                write!(f, "already sealed as version {}: {before} words", self.version)?;
            }
            Verdict::Refused => write!(f, "not sealed: {before} words, {after} after every step")?,
        }
        let busy = |step: &&StepReport| {
            step.before != step.after || !step.moved.is_empty() || !step.removed.is_empty()
        };
        for step in self.steps.iter().filter(busy) {
            write!(f, "\n  {:<9}  {:>5} -> {:<5}", step.step, step.before, step.after)?;
            write!(f, "  {} moved, {} removed", step.moved.len(), step.removed.len())?;
            for Moved { id, from, to, head } in step.moved.iter().take(SHOWN) {
                write!(f, "\n    {id}  {} -> {to}: {head}", or_none(from))?;
            }
            for Taken { id, section, into, head } in step.removed.iter().take(SHOWN) {
                let into = into.map_or_else(String::new, |into| format!(" ({into} replaces it)"));
                let section = or_none(section);
                write!(f, "\n    {id}  removed from {section}{into}: {head}")?;
            }
            let more =
                step.moved.len().saturating_sub(SHOWN) + step.removed.len().saturating_sub(SHOWN);
            if more > 0 {
                write!(f, "\n    … and {more} more")?;
            }
        }
        if !self.lost_identifiers.is_empty() {
            let named = self.lost_identifiers.iter().take(IDENTIFIERS).map(String::as_str);
            let named = named.collect::<Vec<_>>().join(", ");
            let more = self.lost_identifiers.len().saturating_sub(IDENTIFIERS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            write!(
                f,
                "\n  The entries that your summary replaces also named {named}{more}. If a later session needs one of these, \
                 add it: `brain-guard append --kind summary`"
            )?;
        }
        if self.kept * 4 > self.target * 3 && self.verdict == Verdict::Sealed {
            let Self { kept, target, .. } = self;
            write!(
                f,
                "\n  {kept} words are open or pinned and only you can take them out; the seal aims for {target}. \
                 Close what is done (`brain-guard close <id>`), and more of the rest stays"
            )?;
        }
        Ok(())
    }
}

/// A removed entry with its full text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// The step that removed it.
    pub step: Step,
    /// The section it was in; empty for stray text.
    pub section: String,
    /// Its id.
    pub id: EntryId,
    /// Its text with flags, without the list marker.
    pub text: String,
}

/// The removed entries as Markdown: one heading per step and section, one item per entry.
pub(super) fn removed_markdown(title: &str, version: u64, removed: &[Removed]) -> String {
    if removed.is_empty() {
        return String::new();
    }
    let mut out = format!("# {title}: removed by the seal of version {version}\n");
    let mut last = None;
    for entry in removed {
        if last != Some((entry.step, &entry.section)) {
            let section = or_none(&entry.section);
            let _ = write!(out, "\n## {}: {section}\n\n", entry.step);
            last = Some((entry.step, &entry.section));
        }
        out.push_str(&written(&Marker::Bullet, &entry.text));
        out.push('\n');
    }
    out
}

/// A long entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Heavy {
    /// Its id.
    pub id: EntryId,
    /// Its section.
    pub section: String,
    /// Its first line in the original file, from 1; `None` if it came with the call.
    pub line: Option<usize>,
    /// Its words.
    pub words: usize,
    /// Its first words.
    pub head: String,
}

/// Why a seal was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The entries that must stay reach the blocking size.
    TooBig,
    /// The new text would not parse as intended.
    Unsound,
    /// The settings name no section that an agent may write.
    NoSections,
}

/// A refused seal; the file stays unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The reason.
    pub reason: Reason,
    /// What the steps did.
    pub report: Report,
    /// The remaining words.
    pub words: usize,
    /// Minimum words to cut.
    pub cut: usize,
    /// The longest entries, longest first.
    pub heaviest: Vec<Heavy>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.reason {
            Reason::NoSections => return f.write_str("not sealed: the settings name no section an agent may write"),
            Reason::Unsound => f.write_str("not sealed: the sealed text would not read back as it was meant; simplify the markup of")?,
            Reason::TooBig => write!(
                f,
                "not sealed: {} words are left, all of them open or pinned. Cut at least {} words: close what is done \
                 (`brain-guard close <id>`) or shorten",
                self.words, self.cut
            )?,
        }
        f.write_str(" the heaviest entries:")?;
        for Heavy { id, section, line, words, head } in &self.heaviest {
            let line = line.map_or_else(String::new, |line| format!("line {line}"));
            write!(f, "\n  {id}  {line:<9}  {words:>5} words  {section}: {head}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}
