//! Tracks the age of entries and the references to them across seals. The oldest and least
//! referenced entries are removed first.

use std::collections::BTreeSet;

use crate::compaction::{EntryId, parse};

use super::draft::{Draft, Item};
use super::fold;
use super::past::{Age, Ages, Past};

/// Sets the age of every entry, and counts the references in new ones.
pub(super) fn run(draft: &mut Draft) {
    let Some(past) = draft.input.past else { return };
    let mut named = Vec::new();
    let mut ids: BTreeSet<EntryId> = BTreeSet::new();
    let mut fresh = Vec::new();
    for (index, item) in draft.items.iter_mut().enumerate() {
        let known = past.ages.get(&item.id);
        let first = ids.insert(item.id);
        // Of two equal entries, the first is the old one.
        if let Some(age) = known.filter(|_| first) {
            item.age = *age;
            continue;
        }
        item.age.born = past.session.saturating_sub(u32::from(item.inherited));
        // References count once, when their text is new.
        if first && known.is_none() {
            named.extend(referenced_ids(item));
        }
        fresh.push(index);
    }
    match_edits(draft, &fresh, &ids);
    add_references(draft, &named);
}

/// Finds edited entries: a new one takes the age of a similar one that is gone since the last seal.
fn match_edits(draft: &mut Draft, fresh: &[usize], ids: &BTreeSet<EntryId>) {
    let Some(Past { ages, sealed: Some(sealed), .. }) = draft.input.past else { return };
    if fresh.is_empty() || ages.keys().all(|id| ids.contains(id)) {
        return;
    }
    let document = parse(sealed, draft.shape());
    let mut gone: Vec<(Item, Age)> = document
        .entries()
        .filter(|entry| !ids.contains(&entry.id))
        .filter_map(|entry| {
            let home = entry.section?;
            let age = *ages.get(&entry.id)?;
            Some((Item::new(&entry.marker, &entry.text, Some(home), home), age))
        })
        .collect();
    for &index in fresh {
        let item = &mut draft.items[index];
        let before = gone.iter().position(|(old, _)| old.home == item.home && are_alike(old, item));
        if let Some(before) = before {
            item.age.absorb(gone.remove(before).1);
        }
    }
}

/// Whether one entry begins with the other, or they share three in four of all their words. Of short
/// entries, other texts have the words by chance.
fn are_alike(a: &Item, b: &Item) -> bool {
    const SHORT: usize = 6;
    if fold::covers(a, b) || fold::covers(b, a) {
        return true;
    }
    if a.tokens.len().min(b.tokens.len()) < SHORT {
        return false;
    }
    let [a, b] = [a, b].map(|item| item.tokens.iter().copied().collect::<BTreeSet<u64>>());
    let (shared, all) = (a.intersection(&b).count(), a.union(&b).count());
    a.len().min(b.len()) >= SHORT && shared * 4 >= all * 3
}

/// Adds a reference to each named entry.
pub(super) fn add_references(draft: &mut Draft, named: &[EntryId]) {
    for id in named {
        if let Some(item) = draft.items.iter_mut().find(|item| item.id == *id) {
            item.age.references = item.age.references.saturating_add(1);
        }
    }
}

/// All words of an entry that look like ids, each once, without its own id.
pub(super) fn referenced_ids(item: &Item) -> BTreeSet<EntryId> {
    let runs = item.text.split(|letter: char| !letter.is_ascii_alphanumeric());
    runs.filter_map(|run| run.parse().ok()).filter(|id| *id != item.id).collect()
}

/// The ages of the remaining entries, for the next seal.
pub(super) fn ages(draft: &Draft) -> Ages {
    if draft.input.past.is_none() {
        return Ages::new();
    }
    let mut ages = Ages::new();
    for Item { id, age, .. } in &draft.items {
        // Two equal entries in different sections share one age at the next seal.
        let known = ages.entry(*id).or_insert(*age);
        known.born = known.born.min(age.born);
        known.references = known.references.max(age.references);
    }
    ages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::Shape;
    use crate::seal::{Input, Limits, Sealed, seal};

    /// A job with one seal per session.
    struct Job {
        text: String,
        ages: Ages,
        session: u32,
        limits: Limits,
    }

    impl Job {
        fn new(theta_words: usize) -> Self {
            let limits = Limits { theta_words, ..Limits::default() };
            Self { text: String::new(), ages: Ages::new(), session: 0, limits }
        }

        /// Runs a session that rewrites the sealed file and seals it again.
        fn session(&mut self, rewrite: impl Fn(&str) -> String, summary: Option<&str>) -> Sealed {
            self.session += 1;
            let shape = Shape::default();
            let inherited = parse(&self.text, &shape).entries().map(|entry| entry.id).collect();
            let source = rewrite(&self.text);
            let past = Past { session: self.session, ages: &self.ages, sealed: Some(&self.text) };
            let sealed = seal(&Input {
                source: &source,
                shape: &shape,
                job: "a job",
                limits: self.limits,
                now: chrono::DateTime::from_timestamp(1_800_000_000, 0).expect("in range"),
                summary,
                inherited: &inherited,
                past: Some(past),
                last_version: 0,
                replaces: &[],
                git: None,
            })
            .expect("small enough");
            (self.text, self.ages) = (sealed.text.clone(), sealed.ages.clone());
            sealed
        }

        fn adds(&mut self, lines: &str) -> Sealed {
            self.session(|text| format!("{text}\n## Process Insight\n{lines}"), None)
        }

        fn age(&self, part: &str) -> (u32, u32) {
            let shape = Shape::default();
            let document = parse(&self.text, &shape);
            let entry = document.entries().find(|entry| entry.text.contains(part)).expect(part);
            let age = self.ages[&entry.id];
            (age.born, age.references)
        }
    }

    const LESSON: &str = "- the cache of the runner must be dropped before a release\n";

    #[test]
    fn an_entry_keeps_its_birth_and_counts_who_speaks_of_it() {
        let mut job = Job::new(2000);
        job.adds(LESSON);
        assert_eq!(job.age("the cache"), (1, 0));
        let id = *job.ages.keys().next().expect("one");
        job.adds(&format!("- {id} held again, and zzzzzz or 000000 name nothing\n"));
        assert_eq!((job.age("the cache"), job.age("held again")), ((1, 1), (2, 0)));
        job.adds("- a lesson of its own\n");
        assert_eq!(job.age("the cache"), (1, 1), "the same words name it once");
        job.session(str::to_owned, Some(&format!("As {id} says.")));
        assert_eq!((job.age("the cache"), job.age("As ")), ((1, 2), (4, 0)));
        job.adds(LESSON);
        assert_eq!(job.age("the cache"), (1, 3), "written again");
        job.adds("- the cache of the runner must be dropped before a release goes out\n");
        job.adds("- words\n");
        assert_eq!(job.age("goes out"), (1, 4), "the fuller takes over");
        assert_eq!(job.text.matches("the cache").count(), 1);
        assert_eq!(job.ages.len(), 5, "only what is in the file");
    }

    #[test]
    fn two_alike_in_sections_that_need_both_age_as_one() {
        let mut job = Job::new(2000);
        job.adds(LESSON);
        let id = *job.ages.keys().next().expect("one");
        let pin = format!("- ! {id} says all\n");
        let pins = format!("## Process Insight\n{pin}## Open Threads\n{pin}{pin}");
        job.session(|text| format!("{text}\n{pins}"), None);
        let twice = format!("! {id}");
        assert_eq!(job.text.matches(&twice).count(), 2, "{}", job.text);
        let (lesson, two) = (job.age("the cache"), job.age(&twice));
        assert_eq!((lesson, two), ((1, 1), (2, 1)), "written three times, kept twice");
        job.adds("- words\n");
        assert_eq!(job.text.matches(&twice).count(), 2, "{}", job.text);
        assert_eq!((job.age("the cache"), job.age(&twice)), (lesson, two), "nobody spoke again");
    }

    #[test]
    fn an_edited_entry_keeps_its_birth() {
        let mut job = Job::new(2000);
        job.adds(LESSON);
        job.session(|text| text.replace("must be", "has to be"), None);
        assert_eq!(job.age("has to be"), (1, 1));
        job.session(|text| text.replace("the cache", "! a cache"), None);
        assert_eq!(job.age("! a cache"), (1, 2), "alike enough");
        job.session(
            |text| text.replace("has to be dropped before", "told nobody anything of"),
            None,
        );
        assert_eq!(job.age("told nobody"), (4, 0), "another one");
    }

    #[test]
    fn what_came_over_unsealed_is_of_the_session_before() {
        let mut job = Job::new(2000);
        job.text = format!("## Process Insight\n{LESSON}");
        job.session(str::to_owned, None);
        assert_eq!(job.age("the cache"), (0, 0));
    }

    #[test]
    fn what_nobody_speaks_of_falls_out_first() {
        // The slice of the summary is 20 words.
        let mut job = Job::new(80);
        job.adds("- one two three four five six seven\n");
        job.adds("- ! pins outlive all of the rest\n- alpha beta gamma delta eps zeta eta\n");
        job.adds("- one two three four five six seven eight\n");
        job.adds("- words\n");
        assert_eq!(job.age("eight"), (1, 1));
        let lesson = |n: u32| format!("- lesson{n} of{n} session{n} with{n} six{n} words{n}\n");
        for session in 5..=6 {
            job.adds(&lesson(session));
        }
        assert!(!job.text.contains("alpha"), "born later, never spoken of: {}", job.text);
        assert!(job.text.contains("seven eight"));
        for session in 7..=10 {
            job.adds(&lesson(session));
        }
        assert!(!job.text.contains("seven eight"), "a reference is no pin: {}", job.text);
        assert!(job.text.contains("- ! pins") && job.text.contains("lesson9"));
    }

    #[test]
    fn a_directive_binds_wherever_it_stands() {
        let mut job = Job::new(80);
        let text = "## Process Insight\n- directive: never push\n## Forward State\n\
                    - directive: never push to main\n- directive: never push.\n";
        job.session(|_| text.to_owned(), None);
        for session in 0..4 {
            job.adds(&format!("- lesson{session} of{session} session{session} with{session}\n"));
        }
        assert_eq!(job.text.matches("never push").count(), 2, "{}", job.text);
        let lifted = "- [x] directive: never push to main";
        let sealed = job.session(|text| text.replace(&lifted.replace("[x] ", ""), lifted), None);
        assert_eq!(job.text.matches("never push").count(), 1, "{}", job.text);
        assert!(sealed.removed_markdown.contains(lifted), "{}", sealed.removed_markdown);
    }
}
