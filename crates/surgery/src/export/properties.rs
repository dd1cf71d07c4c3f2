//! For every session and any choice of rounds: `export_plan` succeeds, so the strict validator
//! found nothing, and the words are still there.

use proptest::prelude::*;
use serde_json::Value;

use super::tests::world::{Source, export, plan, told, whole};
use crate::plan::{Piece, Place};
use crate::validate::{Level, Validator};
use sessions::dialect::Claude;
use sessions::generate::{damaged, session, sessions};

/// Pieces of a session with `count` rounds: each is kept, indexed, or dropped.
fn pieces(session: usize, count: usize, choice: &[u8]) -> (Vec<Piece>, Vec<usize>) {
    let (mut pieces, mut kept) = (Vec::new(), Vec::new());
    for seq in 1..=count as u32 {
        let place = Place { session, seq };
        match choice[seq as usize % choice.len()] % 4 {
            0 => {}
            1 => match pieces.last_mut() {
                Some(Piece::Index(places)) => places.push(place),
                _ => pieces.push(Piece::Index(vec![place])),
            },
            _ => {
                kept.push(seq as usize);
                pieces.push(Piece::Round(place));
            }
        }
    }
    (pieces, kept)
}

/// The agent's texts in an export, in order.
fn said(text: &str) -> Vec<String> {
    let messages = told(text).into_iter().map(|(_, message)| message);
    let agents = messages.filter(|m| m["role"] == "assistant");
    let blocks = agents.flat_map(|m| m["content"].as_array().cloned().unwrap_or_default());
    blocks.filter_map(|b| b["text"].as_str().map(str::to_owned)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_choice_of_rounds_is_a_sound_session(
        made in sessions(),
        choice in prop::collection::vec(any::<u8>(), 1..12),
    ) {
        let source = Source::of(&made.id, &made.bytes, &Claude);
        let (pieces, kept) = pieces(0, source.session.rounds.len(), &choice);
        prop_assume!(!pieces.is_empty());
        let made_plan = plan(&[&source], pieces);
        let (text, report) = export(&[&source], &made_plan).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(&text, &export(&[&source], &made_plan).unwrap().0);
        prop_assert_eq!(report.rows as usize, text.lines().count());
        // In order; a compaction may have kept more of the rounds before it.
        let all = said(&text);
        let mut behind = all.iter();
        for seq in kept {
            for words in &made.rounds[seq - 1].agent {
                prop_assert!(behind.any(|said| said == words), "{words} of {seq} is not there");
            }
        }
        prop_assert_eq!(report.notes, Vec::<String>::new());
    }

    #[test]
    fn damage_goes_no_further(seed in any::<u64>(), rounds in 1..8usize) {
        let source = Source::of("made-up", &damaged(seed, rounds), &Claude);
        let all: Vec<u32> = source.session.rounds.iter().map(|r| r.seq).collect();
        let (text, _) = export(&[&source], &plan(&[&source], whole(0, &all))).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }

    /// The two share all their ids, and their rounds alternate.
    #[test]
    fn a_session_merges_with_itself(seed in any::<u64>(), rounds in 1..6usize) {
        let made = session(seed, rounds);
        let a = Source::of(&made.id, &made.bytes, &Claude);
        let b = Source::of("33333333-3333-4333-8333-333333333333", &made.bytes, &Claude);
        let pieces = (1..=a.session.rounds.len() as u32).flat_map(|seq| {
            [0, 1].map(|session| Piece::Round(Place { session, seq }))
        });
        let merged = plan(&[&a, &b], pieces.collect());
        let (text, _) = export(&[&a, &b], &merged).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let words = |times: usize| made.rounds.iter().map(|r| r.agent.len()).sum::<usize>() * times;
        prop_assert!(said(&text).len() >= words(2));
    }

    #[test]
    fn what_is_made_up_as_clients_write_has_no_errors(made in sessions()) {
        let mut validator = Validator::new(Some(&made.id));
        for (number, line) in (1..).zip(made.bytes.split_inclusive(|b| *b == b'\n')) {
            validator.line(number, line);
        }
        let found = validator.finish();
        prop_assert!(found.iter().all(|f| f.level == Level::Warning), "{found:?}");
    }
}
