//! The same for sessions that real clients wrote (`fixtures/transcripts`).

use super::world::{IDS, Read, made, merged_of, read};
use base::when::When;
use sessions::dialect;
use sessions::operation::{Fidelity, Level};
use surgery::inject;
use surgery::plan::{Piece, Place, compress_before};
use testing::RECORDED;

fn all() -> Vec<Read> {
    RECORDED.iter().map(|(name, bytes)| read(&format!("{name}-session"), bytes)).collect()
}

/// Those that surgery is for.
fn of_claude() -> Vec<Read> {
    all().into_iter().filter(|read| read.session.dialect == "claude").collect()
}

#[test]
fn every_fidelity_of_every_recording_is_a_sound_session() {
    const MUCH: [Level; 3] = [Level::Full, Level::Summary, Level::Omit];
    for read in of_claude() {
        let context = read.session.in_context();
        if context.len() < 2 {
            continue;
        }
        let last = When::Round(*context.last().unwrap());
        for n in 0..27 {
            let fidelity = Fidelity {
                keeps_refused: false,
                thinking: MUCH[n % 3],
                tool_use: MUCH[n / 3 % 3],
                tool_result: MUCH[n / 9],
            };
            let name = format!("{} at {fidelity:?}", read.session.id);
            let mut plan = compress_before(read.session.clone(), last, fidelity).unwrap();
            let (_, text) = made(IDS[0], &plan, &[&read]).unwrap_or_else(|e| panic!("{name}: {e}"));
            let first = plan.indexed().next().map(|place| format!("\\n| {:03} | ", place.seq));
            assert!(first.is_none_or(|line| text.contains(&line)), "{name}: the table");
            plan.pieces = read
                .session
                .on_branch()
                .into_iter()
                .map(|seq| Piece::Round(Place { session: 0, seq }))
                .collect();
            let (again, _) =
                made(IDS[0], &plan, &[&read]).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(again.session.rounds.len(), plan.pieces.len(), "{name}");
        }
    }
}

#[test]
fn every_round_of_every_recording_can_be_read() {
    for read in all() {
        let dialect = dialect::named(&read.session.dialect).unwrap();
        for round in &read.session.rounds {
            let rows: Vec<&[u8]> = read.rows[&round.seq].iter().collect();
            let page = inject::text(&read.session, round, &rows, dialect, Fidelity::default());
            let words = &read.words[&round.seq];
            for part in words.user.split("\n\n").chain(words.agent.split("\n\n")) {
                assert!(
                    page.contains(part.trim()),
                    "{} {}: {part:?}\n{page}",
                    read.session.id,
                    round.seq
                );
            }
            assert_eq!(
                page.matches("\n### Tool call: ").count(),
                round.tools.values().sum::<u32>() as usize,
                "{} {}",
                read.session.id,
                round.seq
            );
        }
    }
}

#[test]
fn recordings_merge_with_each_other() {
    let all = of_claude();
    for (n, a) in all.iter().enumerate() {
        for b in &all[n + 1..] {
            let Ok(plan) = merged_of(a, b) else {
                assert!(a.session.rounds.is_empty() || b.session.rounds.is_empty());
                continue;
            };
            let merged = made(IDS[1], &plan, &[a, b]);
            merged.unwrap_or_else(|e| panic!("{} and {}: {e}", a.session.id, b.session.id));
        }
    }
}

#[test]
fn base_and_rounds_explain_every_recorded_context() {
    // Less than a system prompt: the mock that answered reported no real usage.
    const MADE_UP: u64 = 500;
    let mut checked = Vec::new();
    for read in all() {
        let session = &read.session;
        let Some((base, used)) = session.base.zip(session.used.filter(|used| *used > MADE_UP))
        else {
            continue;
        };
        let rounds = session.in_context();
        let rounds = rounds.iter().filter_map(|seq| session.round(*seq));
        let sum = base + rounds.map(|round| round.tokens).sum::<u64>();
        let ratio = sum as f64 / used as f64;
        assert!((0.98..=1.02).contains(&ratio), "{}: {sum} of {used}", session.id);
        checked.push(session.id.split('-').next().unwrap().to_owned());
    }
    assert_eq!(checked, ["cleared", "odd", "pi", "rewound"]);
}
