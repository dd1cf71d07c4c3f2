//! For every session and every fidelity: the round still says what it said, in the voice of whoever
//! said it, and the successor is sound.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::Value;

use super::tagged;
use super::world::{IDS, NAMES, Read, made};
use sessions::dialect::{Claude, Dialect, Kind, LEFT_OUT, Scratch};
use sessions::operation::{Fidelity, Level};
use sessions::rows::Rows;
use surgery::fidelity::Lens;
use surgery::plan::{Piece, Place, extract_engagement};
use testing::claude::{Expected, Generated};

pub fn fidelities() -> impl Strategy<Value = Fidelity> {
    let much = || prop_oneof![Just(Level::Full), Just(Level::Summary), Just(Level::Omit)];
    (much(), much(), much()).prop_map(|(thinking, tool_use, tool_result)| Fidelity {
        keeps_refused: false,
        thinking,
        tool_use,
        tool_result,
    })
}

/// What the messages of a round hold.
#[derive(Default)]
struct Held {
    /// The agent's texts.
    said: Vec<String>,
    thoughts: Vec<Value>,
    calls: BTreeSet<String>,
    results: BTreeSet<String>,
    notes: usize,
}

impl Held {
    fn row(&mut self, kind: Kind, row: &Value) {
        let content = &row["message"]["content"];
        for block in content.as_array().into_iter().flatten() {
            let field = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
            match block["type"].as_str().unwrap_or_default() {
                "thinking" => self.thoughts.push(block.clone()),
                "tool_use" => assert!(self.calls.insert(field("id"))),
                "tool_result" => assert!(self.results.insert(field("tool_use_id"))),
                _ if kind == Kind::Assistant => self.said.push(field("text")),
                _ => self.notes += usize::from(field("text").starts_with(LEFT_OUT)),
            }
        }
    }
}

/// Reduces a round; compares each row with what it was.
fn reduce(rows: &Rows, fidelity: Fidelity) -> Result<(Held, Held), TestCaseError> {
    let (mut before, mut after) = (Held::default(), Held::default());
    let mut scratch = Scratch::default();
    let mut lens = Lens::new(rows.iter(), fidelity, "x:1".into());
    for line in rows.iter() {
        let row = Claude.row(line, &mut scratch);
        let kind = row.kind;
        let old = row.content.map_or(0, |at| at.slice(line).len());
        if row.id.is_some() {
            before.row(kind, &serde_json::from_slice(line).unwrap());
        }
        let Some(left) = lens.row(line, &row) else {
            prop_assert!(matches!(kind, Kind::Assistant | Kind::ToolResult));
            continue;
        };
        if fidelity.is_full() {
            prop_assert_eq!(&*left, line);
        }
        let row = Claude.row(&left, &mut scratch);
        prop_assert!(row.kind == kind, "{kind:?} is {:?}", row.kind);
        let new = row.content.map_or(0, |at| at.slice(&left).len());
        prop_assert!(row.kind != Kind::Assistant || new > 2, "an empty message");
        if row.id.is_some() {
            let notes = after.notes;
            after.row(kind, &serde_json::from_slice(&left).unwrap());
            let noted = kind == Kind::Prompt && after.notes > notes;
            prop_assert!(new <= old || noted, "{}", String::from_utf8_lossy(&left));
        }
    }
    Ok((before, after))
}

fn holds(
    (before, after): (Held, Held),
    made: &Expected,
    fidelity: Fidelity,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(&before.said, &after.said, "no word more or less in the agent's voice");
    for words in &made.agent {
        prop_assert!(after.said.contains(words), "{words:?} is gone");
    }
    let unchanged = after.thoughts.iter().all(|thought| before.thoughts.contains(thought));
    prop_assert!(unchanged, "thinking is as it was");
    let gone = before.thoughts.len() - after.thoughts.len();
    match fidelity.thinking {
        Level::Omit => prop_assert!(after.thoughts.is_empty() && after.notes == 0),
        // Thinking that is shorter than its note stays.
        Level::Summary => prop_assert!(gone == 0 || after.thoughts.is_empty()),
        Level::Full => {}
    }
    let noted = fidelity.thinking != Level::Omit && gone > 0 && !made.user.is_empty();
    prop_assert_eq!(after.notes, usize::from(noted));
    prop_assert_eq!(&after.calls, &after.results);
    let calls = if fidelity.tool_use == Level::Omit { 0 } else { made.calls.len() };
    prop_assert_eq!(after.calls.len(), calls);
    Ok(())
}

/// Whether each two messages of the agent have somebody else's between them.
fn alternate(text: &str) -> Result<(), TestCaseError> {
    let (mut open, mut scratch): (Option<Value>, _) = (None, Scratch::default());
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if row["type"] == "assistant" {
            let id = row["message"]["id"].clone();
            prop_assert!(open.is_none_or(|open| open == id), "{id} follows another message");
            open = Some(id);
        } else if row["type"] == "user" || Claude.queued(line.as_bytes()).is_some() {
            open = None;
        }
        prop_assert!(Claude.row(line.as_bytes(), &mut scratch).kind != Kind::Broken);
    }
    Ok(())
}

/// The whole context at this fidelity.
fn exported(read: &Read, fidelity: Fidelity) -> Result<(), TestCaseError> {
    let seqs = read.session.in_context().into_iter();
    let pieces = seqs.map(|seq| Piece::Round(Place { session: 0, seq }));
    let plan = extract_engagement(read.session.clone(), NAMES[0], fidelity);
    let Ok(mut plan) = plan else { return Ok(()) };
    plan.pieces = pieces.collect();
    let (again, text) = made(IDS[0], &plan, &[read])?;
    prop_assert_eq!(again.session.rounds.len(), plan.pieces.len(), "no round was split");
    for (round, place) in again.session.rounds.iter().zip(plan.whole()) {
        let words = &read.words[&place.seq].user;
        // A compaction's summary is a message in the successor.
        let summary = read.session.round(place.seq).is_some_and(|source| source.boundary);
        prop_assert!(summary || &again.words[&round.seq].user == words, "nobody said the note");
    }
    if fidelity.tool_use == Level::Omit {
        alternate(&text)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn no_fidelity_breaks_a_round(
        (generated, read) in tagged(),
        fidelity in fidelities(),
    ) {
        let Generated { rounds, .. } = &generated;
        for round in &read.session.rounds {
            let reduced = reduce(&read.rows[&round.seq], fidelity)?;
            holds(reduced, &rounds[round.seq as usize - 1], fidelity)?;
        }
        exported(&read, fidelity)?;
    }
}
