//! For every session: operations neither lose nor duplicate rounds, and indexed rounds can be read
//! again.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod export;
mod extracted;
mod fidelity;
mod merged;
mod recorded;
mod world;

use std::collections::BTreeSet;

use chrono::TimeDelta;
use proptest::prelude::*;

use base::clock::Time;
use base::when::When;
use sessions::dialect::Claude;
use sessions::operation::{Fidelity, Map};
use sessions::round::Round;
use surgery::plan::{
    Piece, Place, compress_before, compress_engagement, extract_engagement, split,
};
use surgery::{inject, table};
use testing::claude::{Generated, sessions};
use world::{IDS, NAMES, Read, all_of, count, made, merged_of, read, seqs};

/// A session with tagged rounds.
fn tagged() -> impl Strategy<Value = (Generated, Read)> {
    (sessions(), prop::collection::vec(0..5usize, 12)).prop_map(|(made, tags)| {
        let mut read = read(&made.id, &made.bytes);
        for (round, tag) in read.session.rounds.iter_mut().zip(tags) {
            round.engagement = NAMES.get(tag).map(|name| (*name).to_owned());
        }
        (made, read)
    })
}

/// Whether each paragraph of `words` is in `page`.
fn holds(page: &str, words: &str) -> bool {
    words.split("\n\n").all(|part| page.contains(part.trim()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// For a cut at any time: every round once, in order, none split.
    #[test]
    fn compress_before_cuts_in_two(
        (_, read) in tagged(),
        at in 0..100i64,
        by_round in any::<bool>(),
    ) {
        let session = &read.session;
        let (Some(started), Some(ended)) = (session.started, session.ended) else { return Ok(()) };
        let before: When = if by_round {
            When::Round(1 + at as u32 % (session.rounds.len() as u32 + 1))
        } else {
            let length = (ended - started).num_milliseconds() + 2_000;
            Time::from(started + TimeDelta::milliseconds(length * at / 100 - 1_000)).into()
        };
        let Ok(plan) = compress_before(session.clone(), before, Fidelity::default()) else { return Ok(()) };
        let first = plan.pieces.iter().position(|piece| matches!(piece, Piece::Round(_))).unwrap();
        prop_assert!(first > 0, "a table, or a summary");
        prop_assert!(plan.pieces[first..].iter().all(|piece| matches!(piece, Piece::Round(_))));
        prop_assert!(plan.summaries().count() < 2);
        let order = seqs(plan.indexed().chain(plan.whole()));
        prop_assert!(order.is_sorted_by(|a, b| a < b));
        prop_assert_eq!(all_of(&plan).len(), session.rounds.len());
        prop_assert_eq!(count(&plan), session.rounds.len());
        let context = session.in_context();
        prop_assert!(context.ends_with(&seqs(plan.whole())));
        if let When::At(moment) = before {
            let begun = |place: &Place| session.round(place.seq).and_then(|r| r.started).is_some_and(|t| t >= moment.at);
            prop_assert!(plan.whole().all(|place| begun(&place)));
        }
        made(IDS[0], &plan, &[&read])?;
    }

    /// Tagged rounds become lines in place, and the others stay as they were.
    #[test]
    fn compress_engagement_touches_nothing_else((_, read) in tagged(), name in 0..3usize) {
        let session = &read.session;
        let Ok(plan) = compress_engagement(session.clone(), NAMES[name], Fidelity::default()) else { return Ok(()) };
        let order = plan.pieces.iter().flat_map(|piece| match piece {
            Piece::Index(places) => seqs(places.iter().copied()),
            Piece::Round(place) | Piece::Summary(place) => vec![place.seq],
        });
        let mut order: Vec<u32> = order.collect();
        order.dedup();
        prop_assert_eq!(order, session.in_context());
        let is = |seq: u32| session.round(seq).unwrap().engagement.as_deref() == Some(NAMES[name]);
        prop_assert!(plan.indexed().all(|place| is(place.seq)));
        prop_assert!(plan.whole().all(|place| !is(place.seq)));
        prop_assert_eq!(count(&plan), session.rounds.len());
        made(IDS[0], &plan, &[&read])?;
    }

    /// The rounds of all engagements, and those without one, are all rounds.
    #[test]
    fn what_is_extracted_and_the_rest_are_all((_, read) in tagged()) {
        let session = &read.session;
        let mut found: Vec<u32> = Vec::new();
        for name in NAMES {
            if let Ok(plan) = extract_engagement(session.clone(), name, Fidelity::default()) {
                found.extend(seqs(plan.whole()));
                let tagged = session.rounds.iter().filter(|r| r.engagement.as_deref() == Some(name));
                prop_assert_eq!(count(&plan), tagged.count());
                prop_assert!(plan.left.compacted.is_empty());
                prop_assert_eq!(&plan.lineage.engagements, &[name.to_owned()]);
                made(IDS[0], &plan, &[&read])?;
            }
        }
        let branch = session.on_branch();
        let rest = branch.iter().filter(|seq| session.round(**seq).unwrap().engagement.is_none());
        found.extend(rest);
        found.sort_unstable();
        prop_assert_eq!(found, branch);
    }

    /// The merged children of a split have the table once, and each of their rounds once.
    #[test]
    fn a_split_merges_to_what_it_was((_, read) in tagged()) {
        let mut map = Map::default();
        for round in &read.session.rounds {
            if let Some(name) = &round.engagement {
                map.engagements.entry(name.clone()).or_default().push(round.seq..=round.seq);
            }
        }
        let Ok(plans) = split(&read.session, &map, Fidelity::default()) else { return Ok(()) };
        let table = seqs(plans[0].indexed());
        let summaries = seqs(plans[0].summaries());
        let mut own: Vec<u32> = Vec::new();
        let mut children = Vec::new();
        for (plan, id) in plans.iter().zip(IDS) {
            prop_assert_eq!(&seqs(plan.indexed()), &table);
            prop_assert_eq!(&plan.lineage.parent_session, &read.session.id);
            own.extend(seqs(plan.whole()));
            children.push(made(id, plan, &[&read])?.0);
        }
        let branch = read.session.on_branch();
        prop_assert_eq!([own.clone(), table.clone(), summaries].concat().into_iter().collect::<BTreeSet<_>>(), branch.into_iter().collect());
        own.sort_unstable();
        let mut merged = children.remove(0);
        for (n, child) in children.into_iter().enumerate() {
            let plan = merged_of(&merged, &child);
            let plan = plan.map_err(|e| TestCaseError::fail(e.to_string()))?;
            let other = merged_of(&child, &merged);
            prop_assert_eq!(&plan, &other.unwrap());
            let id = format!("eeeeeeee-0000-4000-8000-00000000000{n}");
            merged = made(&id, &plan, &[&merged, &child])?.0;
        }
        let (tables, rounds): (Vec<&Round>, Vec<&Round>) =
            merged.session.rounds.iter().partition(|r| r.user_preview.starts_with("[brain-guard]"));
        prop_assert_eq!(tables.is_empty(), table.is_empty());
        let nobodys = tables.iter().all(|table| merged.words[&table.seq].user.is_empty());
        prop_assert!(nobodys, "a table is nobody's words");
        let said: Vec<&str> = rounds.iter().map(|r| merged.words[&r.seq].user.as_str()).collect();
        // A compaction's summary is the client's in the source, and a message in the child.
        let mut expected: Vec<&str> = Vec::new();
        for seq in own {
            let round = read.session.round(seq).unwrap();
            if !round.boundary {
                expected.push(&read.words[&seq].user);
            }
        }
        let boundaries = |words: &&str| !words.starts_with(SUMMARY);
        let mut said: Vec<&str> = said.into_iter().filter(boundaries).collect();
        said.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(said, expected);
    }

    /// The first column of each line leads back to the whole round.
    #[test]
    fn an_index_leads_back_to_its_rounds((generated, read) in tagged()) {
        let session = &read.session;
        let Some(last) = session.in_context().last().copied() else { return Ok(()) };
        let Ok(plan) = compress_before(session.clone(), When::Round(last), Fidelity::default()) else { return Ok(()) };
        let (again, text) = made(IDS[0], &plan, &[&read])?;
        let rows = text.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
        let lines: Vec<String> = rows
            .filter(|row| row["brainGuard"]["stands_for"].is_array())
            .flat_map(|row| row["message"]["content"].as_str().unwrap().lines().skip(1).map(str::to_owned).collect::<Vec<_>>())
            .collect();
        prop_assert_eq!(lines.len(), plan.indexed().count());
        // Merged with its source, the table only stays for rewound rounds.
        let merged = merged_of(&again, &read).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let context = session.in_context();
        let beyond = |place: &Place| context.binary_search(&place.seq).is_err();
        let tables = plan.pieces.iter().filter(|piece| matches!(piece, Piece::Index(places) if places.iter().any(beyond)));
        let tables = tables.count();
        prop_assert_eq!(merged.whole().count(), context.len() + tables);
        for (line, place) in lines.iter().zip(plan.indexed()) {
            let round = session.round(place.seq).unwrap();
            let columns: Vec<&str> = line.trim_start_matches("| ").splitn(4, " | ").collect();
            prop_assert_eq!(inject::parse(columns[0]).map(|r| r.seqs), Some(vec![place.seq]));
            prop_assert_eq!(columns[1], base::shown::format_minute(round.started));
            prop_assert_eq!(columns[2].trim_end_matches(", rewound"), table::roles(round));
            prop_assert!(line.ends_with(" |"), "{line}");
            let long = inject::parse(&table::reference(session, place.seq)).unwrap();
            prop_assert!(session.id.starts_with(&long.session.unwrap()));
            let rows: Vec<&[u8]> = read.rows[&place.seq].iter().collect();
            let page = inject::text(session, round, &rows, &Claude, Fidelity::default());
            let expected = &generated.rounds[place.seq as usize - 1];
            for words in expected.user.iter().chain(&expected.agent) {
                prop_assert!(holds(&page, words), "{words:?} is not in\n{page}");
            }
            prop_assert_eq!(page.matches("\n### Tool call: ").count(), expected.calls.len());
        }
    }

    /// Earliest start, latest end, sums and unions; the order of the two does not matter.
    #[test]
    fn a_merge_joins_what_is_known((_, a) in tagged(), (_, mut b) in tagged()) {
        b.session.id = IDS[1].to_owned();
        prop_assume!(a.session.id != b.session.id);
        let Ok(plan) = merged_of(&a, &b) else { return Ok(()) };
        prop_assert_eq!(&plan, &merged_of(&b, &a).unwrap());
        let lineage = &plan.lineage;
        let both = [&a.session, &b.session];
        prop_assert_eq!(lineage.started, both.iter().filter_map(|s| s.started).min());
        prop_assert_eq!(lineage.ended, both.iter().filter_map(|s| s.ended).max());
        prop_assert_eq!(lineage.rounds, both.iter().map(|s| s.rounds.len()).sum::<usize>());
        let tags: BTreeSet<String> = both.iter().flat_map(|s| &s.rounds).filter_map(|r| r.engagement.clone()).collect();
        prop_assert_eq!(&lineage.engagements, &tags.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(count(&plan), lineage.rounds);
        prop_assert_eq!(all_of(&plan).len(), lineage.rounds);
        for session in 0..2 {
            let own = plan.whole().filter(|place| place.session == session);
            prop_assert!(seqs(own).is_sorted_by(|a, b| a < b));
        }
        if a.session.rounds != b.session.rounds {
            let merged = made(IDS[2], &plan, &[&a, &b])?.0;
            for source in [&a, &b] {
                let again = merged_of(&merged, source);
                let again = again.map_err(|e| TestCaseError::fail(e.to_string()))?;
                prop_assert_eq!(again.whole().count(), merged.session.rounds.len(), "a round came in twice");
            }
        }
    }
}

/// How a compaction's summary begins in generated sessions.
const SUMMARY: &str = "This session is being continued";
