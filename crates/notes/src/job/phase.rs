//! Phases: their coaching, and what a phase must have written before its exit. Every section that
//! the agent writes needs an entry from the phase, or a `none: why`.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use super::kinds::{self, steering};
use super::slice::Note;
use super::{Phase, Record, Wrote};
use crate::compaction::{Document, Entry, EntryId, Role, Shape, flags, prompt, says_nothing};

/// The job's coaching for a phase: by name in any case, otherwise for any phase (`*`).
pub fn coaching<'a>(record: &'a Record, name: &str) -> Option<&'a str> {
    let named = record.coaching.iter().find(|(key, _)| key.to_lowercase() == name.to_lowercase());
    named.map(|(_, text)| text.as_str()).or_else(|| record.coaching.get("*").map(String::as_str))
}

/// What is missing for an exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// A section without an entry.
    Section(usize),
    /// Too few entries that reflect on the work.
    Reflection {
        /// Their section.
        section: usize,
        /// How many there are.
        has: u64,
        /// How many it needs.
        needs: u64,
    },
    /// A note about the effect of the coaching.
    Steering,
}

/// Lists what is missing for an exit, given the entries of the phase and those the exit adds. Every
/// section that the agent writes needs one, `none: why` included. Insight needs `reflection_steps`.
/// A coached phase needs a steering note.
///
/// `none: why` is not a reflection, because it would make the setting pointless. Who accepts it
/// sets the setting to 0.
pub fn missing(
    shape: &Shape,
    phase: &Phase,
    reflection_steps: u64,
    document: &Document,
    slice: &[Note],
) -> Vec<Missing> {
    let had: BTreeSet<EntryId> = phase.had.iter().copied().collect();
    let written = written(phase, document).map(|e| (e.section, e.id, e.text.as_str()));
    let sealed = phase.wrote.iter().map(|wrote| {
        let id = EntryId::from_text(flags::flags(&wrote.text).bare);
        (shape.find(&wrote.section), id, wrote.text.as_str())
    });
    let written = written.chain(sealed);
    let given = slice.iter().map(|note| (Some(note.section), note.id(), note.text.as_str()));
    // A repeated entry counts as confirmed, but not as a new reflection.
    let all: Vec<_> = written.chain(given).filter(|(_, _, text)| !says_nothing(text)).collect();
    let reflects = |text: &str| !flags::flags(text).none && !steering(text).is_some_and(|s| s.none);
    let reflections: BTreeSet<EntryId> = all
        .iter()
        .filter(|(section, id, text)| {
            section.is_some_and(|index| shape.role(index) == Role::Insight)
                && !had.contains(id)
                && reflects(text)
        })
        .map(|(_, id, _)| *id)
        .collect();
    let (has, needs) = (reflections.len() as u64, reflection_steps);
    let reflection = shape.with_role(Role::Insight).filter(|_| has < needs);
    let mut missing = Vec::new();
    for section in shape.authored() {
        if reflection == Some(section) {
            missing.push(Missing::Reflection { section, has, needs });
        } else if !all.iter().any(|(index, _, _)| *index == Some(section)) {
            missing.push(Missing::Section(section));
        }
    }
    let coached = phase.coached || !phase.coach.trim().is_empty();
    let told = || all.iter().any(|(_, _, text)| steering(text).is_some());
    if coached && shape.route(kinds::STEERING).is_some() && !told() {
        missing.push(Missing::Steering);
    }
    missing
}

/// The entries that the phase wrote.
fn written<'a>(phase: &Phase, document: &'a Document) -> impl Iterator<Item = &'a Entry> {
    let had: BTreeSet<EntryId> = phase.had.iter().copied().collect();
    document.entries().filter(move |entry| !had.contains(&entry.id))
}

/// Records before a seal what the phase wrote, because the seal may fold it away.
pub fn sealed(phase: &mut Phase, document: &Document) {
    let shape = document.shape();
    for entry in written(phase, document).cloned().collect::<Vec<_>>() {
        let wrote = Wrote { section: shape.name(entry.section).to_owned(), text: entry.text };
        let authored = entry.section.is_some_and(|index| shape.authored().any(|a| a == index));
        if authored && !phase.wrote.contains(&wrote) {
            phase.wrote.push(wrote);
        }
    }
}

impl Missing {
    /// The section that needs the entry.
    fn section(self, shape: &Shape) -> usize {
        match self {
            Self::Section(section) | Self::Reflection { section, .. } => section,
            Self::Steering => shape.route(kinds::STEERING).unwrap_or_else(|| shape.home()),
        }
    }

    /// Describes it in words.
    pub fn describe(self, shape: &Shape) -> impl fmt::Display {
        match self {
            Self::Section(section) => format!("{}: no entry", shape.name(Some(section))),
            Self::Reflection { section, has, needs } => {
                let name = shape.name(Some(section));
                format!("{name}: {has} of {needs} entries that reflect on the work (`none:` is no answer here)")
            }
            Self::Steering => "a steering note: what the coaching you heard did to the work (`steering: none: why` is an answer)".to_owned(),
        }
    }
}

/// A command to fill in, with the missing headings.
pub fn form(shape: &Shape, missing: &[Missing]) -> String {
    let mut out = "brain-guard phase exit <<'EOF'\n".to_owned();
    for (index, section) in shape.sections.iter().enumerate() {
        let asked: Vec<_> = missing.iter().filter(|m| m.section(shape) == index).collect();
        if asked.is_empty() {
            continue;
        }
        let _ = writeln!(out, "## {}", section.name);
        if let Some(prompt) = prompt(section) {
            let _ = writeln!(out, "{prompt}");
        }
        for missing in asked {
            let (count, item) = match missing {
                Missing::Section(_) => (1, "- "),
                Missing::Reflection { has, needs, .. } => (needs.saturating_sub(*has), "- "),
                Missing::Steering => (1, "- steering: "),
            };
            for _ in 0..count {
                let _ = writeln!(out, "{item}");
            }
        }
    }
    out.push_str("EOF");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::parse;
    use crate::job::phase_name;
    use crate::job::slice;

    const FULL: &str = "## Forward State\n- a\n## Open Threads\n- none: all done\n## Risks\n- b\n## Insights\n- c\n";

    fn check(phase: &Phase, steps: u64, file: &str, slice: &str) -> Vec<Missing> {
        let shape = Shape::default();
        let notes = slice::read(slice, &shape).expect("a slice");
        missing(&shape, phase, steps, &parse(file, &shape), &notes)
    }

    fn section(name: &str) -> usize {
        Shape::default().find(name).expect("a section")
    }

    fn insight() -> usize {
        section("insight")
    }

    fn ids(file: &str) -> Vec<EntryId> {
        parse(file, &Shape::default()).entries().map(|entry| entry.id).collect()
    }

    #[test]
    fn names_are_a_line() {
        assert_eq!(phase_name("  the  design "), Ok("the design".to_owned()));
        assert!(phase_name(&"ü".repeat(60)).is_ok());
        for wrong in ["", " ", "a\nb", "a\u{7}", &"a".repeat(61)] {
            assert!(phase_name(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn what_a_seal_folds_away_stays_written() {
        let shape = Shape::default();
        let mut phase = Phase::default();
        sealed(&mut phase, &parse(FULL, &shape));
        assert_eq!(phase.wrote.len(), 4);
        let again = phase.clone();
        sealed(&mut phase, &parse(FULL, &shape));
        assert_eq!(phase, again);
        assert_eq!(check(&phase, 1, "", ""), []);
        assert_eq!(
            check(&phase, 2, "", ""),
            [Missing::Reflection { section: insight(), has: 1, needs: 2 }]
        );
        // Earlier entries do not belong to the phase, sealed or not.
        let mut phase = Phase { had: ids(FULL), ..Phase::default() };
        sealed(&mut phase, &parse(FULL, &shape));
        assert_eq!(phase.wrote, []);
    }

    #[test]
    fn coaching_is_found_by_name_and_else_for_any_phase() {
        let mut record = Record::default();
        assert_eq!(coaching(&record, "design"), None);
        record.coaching.insert("*".into(), "any".into());
        record.coaching.insert("Design".into(), "own".into());
        assert_eq!(
            (coaching(&record, "design"), coaching(&record, "x")),
            (Some("own"), Some("any"))
        );
    }

    #[test]
    fn every_authored_section_needs_an_entry_of_the_phase() {
        let mut phase = Phase::default();
        assert_eq!(check(&phase, 1, "", FULL), []);
        assert_eq!(check(&phase, 1, FULL, ""), [], "written since it was entered");
        let reflection = |has, needs| Missing::Reflection { section: insight(), has, needs };
        let all = ["forward", "threads", "risks"].map(|name| Missing::Section(section(name)));
        assert_eq!(
            check(&phase, 1, "## Prior Summary\n- s\n", ""),
            [&all[..], &[reflection(0, 1)]].concat()
        );
        phase.had = ids(FULL);
        assert_eq!(check(&phase, 1, FULL, ""), [&all[..], &[reflection(0, 1)]].concat());
        assert_eq!(
            check(&phase, 1, &format!("{FULL}- d\n"), "## Threads\n- e\n"),
            [all[0], all[2]]
        );
        // A repeated entry is confirmed, but is no reflection.
        assert_eq!(check(&phase, 1, FULL, FULL), [reflection(0, 1)]);
    }

    #[test]
    fn reflection_is_counted_and_no_none() {
        let phase = Phase::default();
        let slice = |insight: &str| FULL.replace("- c\n", insight);
        let reflection = |has, needs| [Missing::Reflection { section: insight(), has, needs }];
        assert_eq!(check(&phase, 2, "", FULL), reflection(1, 2));
        assert_eq!(check(&phase, 2, "", &slice("- c\n- c\n")), reflection(1, 2), "twice is once");
        assert_eq!(check(&phase, 2, "", &slice("- c\n- d\n")), []);
        assert_eq!(check(&phase, 2, "## Insights\n- d\n", FULL), []);
        assert_eq!(
            check(&phase, 1, "", &slice("- none: no loop\n- steering: none: no\n")),
            reflection(0, 1)
        );
        assert_eq!(check(&phase, 0, "", &slice("- none: no loop\n")), []);
        assert_eq!(check(&phase, 0, "", &slice("")), [Missing::Section(3)]);
    }

    #[test]
    fn a_coached_phase_owes_a_steering_note() {
        let mut phase = Phase { coach: "look twice".into(), ..Phase::default() };
        assert_eq!(check(&phase, 1, "", FULL), [Missing::Steering]);
        for note in
            ["steering: it helped", "! steering: [design] it helped", "steering: none: no effect"]
        {
            assert_eq!(check(&phase, 1, "", &format!("{FULL}- {note}\n")), [], "{note}");
        }
        assert_eq!(
            check(&phase, 1, "## Prior Summary\n- steering: it helped\n", FULL),
            [],
            "the seal may have moved it"
        );
        phase.had = ids("- steering: it helped\n");
        assert_eq!(
            check(&phase, 1, "## Insights\n- steering: it helped\n", FULL),
            [Missing::Steering],
            "of this phase"
        );
        phase = Phase { coached: true, ..Phase::default() };
        assert_eq!(check(&phase, 1, "", FULL), [Missing::Steering]);
        let mut shape = Shape::default();
        shape.routes.remove("steering");
        let notes = slice::read(FULL, &shape).expect("a slice");
        assert_eq!(missing(&shape, &phase, 1, &parse("", &shape), &notes), [], "no such kind here");
    }

    #[test]
    fn the_form_asks_for_what_is_missing_and_is_a_slice_itself() {
        let shape = Shape::default();
        let phase = Phase { coached: true, ..Phase::default() };
        let lacks = check(&phase, 2, "", "## Risks\n- a\n## Insights\n- b\n");
        let form = form(&shape, &lacks);
        let expected = format!(
            "brain-guard phase exit <<'EOF'\n## Forward State\n{}\n- \n## Open Threads\n{}\n- \n## Process Insight\n{}\n- \n- steering: \nEOF",
            prompt(&shape.sections[0]).unwrap(),
            prompt(&shape.sections[1]).unwrap(),
            prompt(&shape.sections[3]).unwrap(),
        );
        assert_eq!(form, expected);
        let body = form.split_once('\n').unwrap().1.trim_end_matches("EOF");
        assert_eq!(
            slice::read(body, &shape),
            Ok(Vec::new()),
            "handed in as it is, it says nothing"
        );
    }
}
