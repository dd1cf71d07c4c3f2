//! Properties of a seal that hold for any file.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use proptest::prelude::*;

use super::compaction::ended;
use notes::compaction::{EntryId, Role, Shape, flags, gauge_words, parse, render};
use notes::seal::{Ages, Input, Limits, Past, Reason, Refused, Sealed, Verdict, seal};

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).expect("in range")
}

/// The words of an entry's text, without flags.
fn words(text: &str) -> Vec<String> {
    let word =
        |run: &str| run.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
    flags(text).bare.split_whitespace().map(word).filter(|word| !word.is_empty()).collect()
}

fn fold_case(words: Vec<String>) -> Vec<String> {
    words.into_iter().map(|word| word.chars().flat_map(char::to_lowercase).collect()).collect()
}

fn contains(text: &[String], part: &[String]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

#[derive(Clone, Debug)]
struct Case {
    text: String,
    theta: usize,
    summary: Option<String>,
    inherited: u8,
}

fn case() -> impl Strategy<Value = Case> {
    let theta = prop_oneof![2 => Just(2000_usize), 1 => 5_usize..80];
    (ended(), theta, prop::option::weighted(0.3, ended()), any::<u8>())
        .prop_map(|(text, theta, summary, inherited)| Case { text, theta, summary, inherited })
}

impl Case {
    fn inherited(&self) -> BTreeSet<EntryId> {
        let shape = Shape::default();
        let document = parse(&self.text, &shape);
        let entries = document.entries().enumerate();
        entries
            .filter(|(index, _)| self.inherited >> (index % 8) & 1 == 1)
            .map(|(_, entry)| entry.id)
            .collect()
    }

    fn seal(&self, source: &str, shape: &Shape, now: i64) -> Result<Sealed, Box<Refused>> {
        self.seal_with(None, source, shape, now)
    }

    fn seal_with(
        &self,
        past: Option<Past>,
        source: &str,
        shape: &Shape,
        now: i64,
    ) -> Result<Sealed, Box<Refused>> {
        let limits = Limits { theta_words: self.theta, ..Limits::default() };
        let (now, summary, inherited) = (at(now), self.summary.as_deref(), &self.inherited());
        seal(&Input {
            source,
            shape,
            job: "a job",
            limits,
            now,
            summary,
            inherited,
            last_version: 0,
            replaces: &[],
            past,
            git: None,
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_sealed_file_is_whole_small_and_sealed_once(case in case()) {
        let shape = Shape::default();
        let sealed = match case.seal(&case.text, &shape, 1_000_000_000) {
            Ok(sealed) => sealed,
            Err(refused) => {
                prop_assert_eq!(refused.reason, Reason::TooBig);
                prop_assert!(refused.cut > 0 && !refused.heaviest.is_empty());
                return Ok(());
            }
        };
        prop_assert_ne!(sealed.report.verdict, Verdict::Refused);
        let document = parse(&sealed.text, &shape);
        prop_assert_eq!(render(&document), sealed.text.as_str());
        prop_assert!((0..shape.sections.len()).all(|section| document.has_section(section)));
        prop_assert_eq!(document.stray().count(), 0);
        let limits = Limits { theta_words: case.theta, ..Limits::default() };
        prop_assert!(gauge_words(&sealed.text, &shape) < limits.block_words());
        prop_assert_eq!(gauge_words(&sealed.text, &shape), sealed.report.words_after);
        let again = Case { summary: None, ..case }.seal(&sealed.text, &shape, 2_000_000_000).expect("sealed before");
        prop_assert_eq!(again.report.verdict, Verdict::AlreadySealed, "{}", sealed.text);
        prop_assert_eq!(&again.text, &sealed.text);
        prop_assert_eq!(again.removed_markdown, "");
    }

    #[test]
    fn a_second_pass_finds_nothing_to_do(case in case()) {
        let shape = Shape::default();
        let case = Case { summary: None, inherited: 0, ..case };
        let past = |ages| Some(Past { session: 3, ages, sealed: Some("") });
        let none = Ages::new();
        let Ok(sealed) = case.seal_with(past(&none), &case.text, &shape, 1_000_000_000) else { return Ok(()) };
        let broken = sealed.text.replacen("digest: ", "digest: 0", 1);
        let again = case.seal_with(past(&sealed.ages), &broken, &shape, 1_000_000_000).expect("sealed before");
        prop_assert_eq!(&again.ages, &sealed.ages);
        let document = parse(&sealed.text, &shape);
        prop_assert!(sealed.ages.keys().all(|id| document.entries().any(|entry| entry.id == *id)));
        prop_assert_eq!(again.report.verdict, Verdict::Sealed);
        let body = |text: &str| text.split_once("\n---\n").map(|(_, body)| body.to_owned());
        prop_assert_eq!(body(&again.text), body(&sealed.text));
        prop_assert!(again.removed.is_empty());
    }

    #[test]
    fn every_word_is_in_the_file_or_among_what_was_removed(case in case()) {
        let shape = Shape::default();
        let Ok(sealed) = case.seal(&case.text, &shape, 1_000_000_000) else { return Ok(()) };
        let mut there: HashMap<String, usize> = HashMap::new();
        let after = parse(&sealed.text, &shape);
        let texts = after.entries().map(|entry| entry.text.as_str());
        for word in texts.chain(sealed.removed.iter().map(|removed| removed.text.as_str())).flat_map(words) {
            *there.entry(word).or_default() += 1;
        }
        for entry in parse(&case.text, &shape).entries() {
            for word in words(&entry.text) {
                let left = there.get_mut(&word);
                prop_assert!(left.is_some_and(|left| { let some = *left > 0; *left = left.saturating_sub(1); some }),
                    "{:?} of {:?} is lost", word, entry.text);
            }
        }
        for removed in &sealed.removed {
            for line in removed.text.lines() {
                prop_assert!(sealed.removed_markdown.contains(line));
            }
        }
    }

    #[test]
    fn open_work_and_pinned_entries_survive_word_for_word(case in case()) {
        let shape = Shape::default();
        let Ok(sealed) = case.seal(&case.text, &shape, 1_000_000_000) else { return Ok(()) };
        let after = parse(&sealed.text, &shape);
        let inherited = case.inherited();
        // Not asked of the role itself, which is tested here.
        let is_work = |section: Option<usize>| section.is_none_or(|section| match shape.role(section) {
            Role::Forward | Role::Threads => true,
            Role::Risks | Role::Insight | Role::Summary | Role::Git | Role::Custom => false,
        });
        for entry in parse(&case.text, &shape).entries().filter(|entry| entry.words > 0) {
            let under = entry.under.as_deref().and_then(|title| flags(title).word);
            let kind = entry.kind.clone().or(under.filter(|word| shape.route(word).is_some()));
            let routed = entry.section.is_none() && kind.is_some();
            let git = entry.section.is_some_and(|section| shape.role(section) == Role::Git);
            let old_answer = entry.none && !entry.pinned && inherited.contains(&entry.id);
            let work = is_work(entry.section) && !entry.closed && !routed;
            if !(work || entry.pinned || entry.none && !entry.closed) || git || old_answer {
                continue;
            }
            let said = fold_case(words(&entry.text));
            let survives = after.entries().any(|after| {
                let kept = !entry.pinned || after.pinned;
                let open = !work || !after.closed && is_work(after.section);
                kept && open && contains(&fold_case(words(&after.text)), &said)
            });
            prop_assert!(survives, "{:?} is gone from {}", entry, sealed.text);
        }
    }
}
