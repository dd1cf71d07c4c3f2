//! For every session and any choice of rounds: the export succeeds, so the strict validator found
//! nothing, and the words are still there.

use proptest::prelude::*;
use serde_json::Value;

use super::world::{IDS, Read, export, read};
use sessions::dialect::{Claude, Dialect as _, Kind, Scratch};
use sessions::operation::Fidelity;
use sessions::sent;
use surgery::export::Report;
use surgery::plan::{Lineage, Performed, Piece, Place, Plan, in_whole};
use surgery::validate::{Level, Validator};
use testing::claude::{damaged, session, sessions};

/// A plan of these pieces. Sessions count from 0.
fn plan(sources: &[&Read], pieces: Vec<Piece>) -> Plan {
    let ids: Vec<String> = sources.iter().map(|source| source.session.id.clone()).collect();
    Plan {
        operation: Performed::Merge,
        sessions: sources.iter().map(|source| source.session.clone()).collect(),
        pieces,
        lineage: Lineage { parent_session: ids[0].clone(), sources: ids, ..Lineage::default() },
        ..Plan::default()
    }
}

/// Exports a plan of these pieces.
fn exported(sources: &[&Read], pieces: Vec<Piece>) -> Result<(Report, String), TestCaseError> {
    export(IDS[0], &plan(sources, pieces), sources, &mut |line| Some(line.to_vec()))
}

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
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let messages = rows.filter(|row| row["uuid"].is_string()).map(|row| row["message"].clone());
    let agents = messages.filter(|m| m["role"] == "assistant");
    let blocks = agents.flat_map(|m| m["content"].as_array().cloned().unwrap_or_default());
    blocks.filter_map(|b| b["text"].as_str().map(str::to_owned)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What the client sends of a session is what a whole export has, in its order; also if a row is
    /// taken out on the way.
    #[test]
    fn a_whole_export_has_what_the_client_sends(made in sessions(), nth in any::<usize>()) {
        let source = read(&made.id, &made.bytes);
        let (mut rows, mut ids, mut scratch) = (sent::Rows::default(), Vec::new(), Scratch::default());
        for line in made.bytes.split_inclusive(|b| *b == b'\n') {
            let row = Claude.row(line, &mut scratch);
            rows.row(&row, line);
            ids.extend(row.id.map(|id| (id.to_owned(), row.kind)));
        }
        let sent = rows.sequence().rows.into_iter().map(|row| &ids[row]);
        let sent: Vec<&str> =
            sent.filter(|(_, kind)| *kind != Kind::Boundary).map(|(id, _)| id.as_str()).collect();
        let of = |text: &str| -> Vec<String> {
            let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            rows.filter_map(|row| Some(row["forkedFrom"]["messageUuid"].as_str()?.to_owned())).collect()
        };
        let plan = in_whole(source.session.clone(), Performed::Edit, Fidelity::default());
        let (_, text) = export(IDS[0], &plan, &[&source], &mut |line| Some(line.to_vec()))?;
        prop_assert_eq!(of(&text), sent.clone());
        // An attachment may go without a call or an answer.
        let named = |line: &[u8]| Claude.row(line, &mut Scratch::default()).kind == Kind::Attachment;
        let mut left = 1 + nth % 3;
        let mut gone = Vec::new();
        let mut edit = |line: &[u8]| {
            if left == 0 || !named(line) {
                return Some(line.to_vec());
            }
            left -= 1;
            let row: Value = serde_json::from_slice(line).unwrap();
            gone.push(row["uuid"].as_str().unwrap().to_owned());
            None
        };
        let (_, text) = export(IDS[1], &plan, &[&source], &mut edit)?;
        let sent: Vec<&str> = sent.into_iter().filter(|id| !gone.iter().any(|gone| gone == id)).collect();
        prop_assert_eq!(of(&text), sent);
    }

    #[test]
    fn any_choice_of_rounds_is_a_sound_session(
        made in sessions(),
        choice in prop::collection::vec(any::<u8>(), 1..12),
    ) {
        let source = read(&made.id, &made.bytes);
        let (pieces, kept) = pieces(0, source.session.rounds.len(), &choice);
        prop_assume!(!pieces.is_empty());
        let (report, text) = exported(&[&source], pieces.clone())?;
        prop_assert_eq!(&text, &exported(&[&source], pieces)?.1);
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
        let source = read("made-up", &damaged(seed, rounds));
        let places = source.session.rounds.iter().map(|round| Place { session: 0, seq: round.seq });
        let (_, text) = exported(&[&source], places.map(Piece::Round).collect())?;
        prop_assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }

    /// The two share all their ids, and their rounds alternate.
    #[test]
    fn a_session_merges_with_itself(seed in any::<u64>(), rounds in 1..6usize) {
        let made = session(seed, rounds);
        let (a, b) = (read(&made.id, &made.bytes), read(IDS[1], &made.bytes));
        let pieces = (1..=a.session.rounds.len() as u32).flat_map(|seq| {
            [0, 1].map(|session| Piece::Round(Place { session, seq }))
        });
        let (_, text) = exported(&[&a, &b], pieces.collect())?;
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
