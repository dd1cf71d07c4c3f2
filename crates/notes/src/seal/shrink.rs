//! Step 6: removes whole entries until each section fits its slice, and the file its target.
//!
//! At first this spares the newest entry of each section and half of the summary's slice. If that
//! misses the target, spared entries go, too: the oldest and least referenced first, this call's
//! summary last. They stay if the entries that only the agent may remove exceed the target, because
//! then removing them cannot reach it. To get below the blocking size, everything goes that may.

use crate::compaction::Role;

use super::draft::{Draft, Item};
use super::git;
use super::report::StepReport;

/// The order in which sections lose entries; `None` for one that loses none.
fn turn(role: Role) -> Option<usize> {
    match role {
        Role::Insight => Some(0),
        Role::Risks => Some(1),
        Role::Custom => Some(2),
        Role::Summary => Some(3),
        Role::Forward | Role::Threads | Role::Git => None,
    }
}

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    git::run(draft, log);
    for section in 0..draft.shape().sections.len() {
        hold_slice(draft, section, log);
    }
    let (target, block) = (draft.limits().target_words(), draft.limits().block_words());
    take_until(draft, target, &by_role(draft, |index| is_spared(draft, index)), log);
    if draft.kept_words() <= target {
        take_until(draft, target, &by_age(draft), log);
    }
    take_until(draft, block.saturating_sub(1), &by_role(draft, |_| false), log);
}

/// Removes entries in this order until at most `limit` words are left.
fn take_until(draft: &mut Draft, limit: usize, order: &[usize], log: &mut StepReport) {
    let (mut words, mut out) = (draft.words(), Vec::new());
    for &index in order {
        if words <= limit {
            break;
        }
        words -= draft.items[index].words;
        out.push(index);
    }
    draft.take_out_these(&out, log);
}

/// Removes entries from a section until it fits its slice. Its last entry stays.
fn hold_slice(draft: &mut Draft, section: usize, log: &mut StepReport) {
    let own_step = matches!(draft.shape().role(section), Role::Summary | Role::Git);
    let Some(limit) = draft.slice(section).filter(|_| !own_step) else { return };
    while draft.words_of(section) > limit {
        let may_go = |item: &Item| item.home == section && frees_words(item, draft);
        let closed = draft.least(|_, item| may_go(item) && item.closed);
        let Some(index) = closed.or_else(|| draft.least(|_, item| may_go(item))) else { break };
        if draft.items.iter().filter(|item| may_go(item)).count() == 1 {
            break;
        }
        draft.take_out(index, None, log);
    }
}

/// Whether an entry may be removed and has words.
fn frees_words(item: &Item, draft: &Draft) -> bool {
    item.words > 0 && item.may_go(draft.shape())
}

/// The entries that may go: closed ones first, then by role, the oldest and least referenced first.
fn by_role(draft: &Draft, spared: impl Fn(usize) -> bool) -> Vec<usize> {
    let role = |item: &Item| turn(draft.shape().role(item.home)).filter(|_| !item.closed);
    sorted(draft, |index, item| item.closed || role(item).is_some() && !spared(index), role)
}

/// The spared entries of all sections, the oldest and least referenced first.
fn by_age(draft: &Draft) -> Vec<usize> {
    sorted(draft, |_, _| true, |item| item.fresh)
}

/// The entries that may go, sorted by a key and by age.
fn sorted<K: Ord>(
    draft: &Draft,
    of: impl Fn(usize, &Item) -> bool,
    key: impl Fn(&Item) -> K,
) -> Vec<usize> {
    let items = &draft.items;
    let mut order: Vec<usize> = (0..items.len())
        .filter(|&at| frees_words(&items[at], draft) && of(at, &items[at]))
        .collect();
    order.sort_by_key(|&at| (key(&items[at]), items[at].age.standing()));
    order
}

/// The open entries of the same section that may go, but only after this one.
fn newer<'a>(draft: &'a Draft, index: usize) -> impl Iterator<Item = &'a Item> {
    let (shape, item) = (draft.shape(), &draft.items[index]);
    let rank = (item.age.standing(), index);
    let counts = move |(at, other): &(usize, &Item)| {
        let open = other.home == item.home && !other.closed && other.may_go(shape);
        open && (other.age.standing(), *at) > rank
    };
    draft.items.iter().enumerate().filter(counts).map(|(_, other)| other)
}

/// Whether the first pass spares an open entry.
fn is_spared(draft: &Draft, index: usize) -> bool {
    let item = &draft.items[index];
    let summary = draft.shape().role(item.home) == Role::Summary;
    let half = if summary { draft.slice(item.home).unwrap_or(0) / 2 } else { 0 };
    let words = item.words + newer(draft, index).map(|newer| newer.words).sum::<usize>();
    item.fresh || newer(draft, index).next().is_none() || words <= half
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::DateTime;

    use crate::compaction::{Shape, parse};
    use crate::seal::{Input, Limits, Sealed, Step, seal};

    fn sealed(source: &str, theta_words: usize, shape: &Shape) -> Sealed {
        seal(&Input {
            source,
            shape,
            job: "a job",
            limits: Limits { theta_words, ..Limits::default() },
            now: DateTime::from_timestamp(0, 0).expect("in range"),
            summary: Some("the newest"),
            inherited: &BTreeSet::new(),
            past: None,
            last_version: 0,
            replaces: &[],
            git: None,
        })
        .expect("small enough")
    }

    fn section(sealed: &Sealed, name: &str) -> Vec<String> {
        let shape = Shape::default();
        let section = shape.find(name).expect("a section");
        parse(&sealed.text, &shape).section(section).map(|entry| entry.text.clone()).collect()
    }

    #[test]
    fn a_section_is_held_at_its_slice() {
        let text = "## Open Threads\n- a b c d e f g\n## Process Insight\n- h i j\n- k l m\n- ! n o p\n\
                    - none: q r\n- s t u\n## Prior Summary\n- v w x\n- y z\n";
        let mut shape = Shape::default();
        // 6 words each, although the file is far below its target.
        for name in ["threads", "insight", "summary"] {
            let section = shape.find(name).expect("a section");
            shape.sections[section].slice = Some(0.006);
        }
        let sealed = sealed(text, 1000, &shape);
        assert_eq!(section(&sealed, "threads"), ["a b c d e f g"], "open work stays");
        assert_eq!(section(&sealed, "insight"), ["! n o p", "none: q r", "s t u"], "and the last");
        assert_eq!(section(&sealed, "summary"), ["y z", "the newest"]);
        let out: Vec<_> = sealed.removed.iter().map(|out| (out.step, out.text.as_str())).collect();
        let shrunk = |text| (Step::Shrink, text);
        assert_eq!(out, [(Step::Summarize, "v w x"), shrunk("h i j"), shrunk("k l m")]);
    }

    #[test]
    fn the_target_is_met_wherever_open_work_leaves_room_and_said_to_be_near() {
        let file = |open: usize| {
            let open = "w ".repeat(open);
            format!(
                "## Open Threads\n- {open}\n## Process Insight\n- one two three\n- four five six\n## Prior Summary\n- old words\n"
            )
        };
        let shape = Shape::default();
        // The target is 40 words, the blocking size 85.
        for (open, after) in [(10, 20), (34, 38), (38, 40), (39, 39), (40, 40), (41, 48)] {
            let report = sealed(&file(open), 100, &shape).report;
            assert_eq!(report.words_after, after, "{open} open: {report}");
            assert_eq!((report.kept, report.target), (open, 40));
            assert_eq!(report.to_string().contains("only you can take them out"), open > 30);
        }
        let last = sealed(&file(38), 100, &shape);
        assert_eq!(section(&last, "summary"), ["the newest"], "what the call brought goes last");
    }
}
