//! All lines of an index table. A long table is folded, so that its size is bounded.

use std::collections::BTreeSet;

use crate::plan::{Place, Plan};
use crate::ranges;
use crate::table::{BEGINS, cell, content, number, roles, row, short};
use base::shown::format_minute;
use sessions::digest::preview;
use sessions::round::{Round, Session};
use sessions::sent::State;

/// Most lines of a table, unless it has more sessions than that.
const MOST: usize = 200;
/// How many of the latest rounds have a line of their own in a folded table.
const LATEST: usize = 100;

/// A round with its session, and whether a rewind removed it.
struct Entry<'p> {
    session: &'p Session,
    round: &'p Round,
    rewound: bool,
}

/// The lines for `places`: the number of a round alone if all are of one session, else a reference.
/// Of more than 200 rounds, the older ones share lines: those of an engagement that follow each
/// other, else those of a day, else of a month, else of a session.
pub fn of(plan: &Plan, places: &[Place]) -> Vec<String> {
    let entries: Vec<Entry> = places
        .iter()
        .filter_map(|place| {
            let (session, round) = plan.at(*place)?;
            let rewound = round.standing.state == State::Rewound;
            Some(Entry { session, round, rewound })
        })
        .collect();
    let long = is_of_several(plan, places);
    fold(&entries).into_iter().map(|group| line(group, long)).collect()
}

/// Whether the lines need the sessions of their rounds.
pub fn is_of_several(plan: &Plan, places: &[Place]) -> bool {
    let sessions: BTreeSet<usize> = places.iter().map(|place| place.session).collect();
    plan.sessions.len() > 1 || sessions.len() > 1
}

/// What rounds of one line share.
type Key<'k> = &'k dyn Fn(&Entry) -> Option<String>;

/// The rounds of each line.
fn fold<'a, 'p>(entries: &'a [Entry<'p>]) -> Vec<&'a [Entry<'p>]> {
    if entries.len() <= MOST {
        return entries.chunks(1).collect();
    }
    let (older, latest) = entries.split_at(entries.len() - LATEST);
    let day = |entry: &Entry, form: &str| entry.round.started.map(|at| at.format(form).to_string());
    let work = |entry: &Entry| entry.round.engagement.clone().or_else(|| day(entry, "%F"));
    let by: [Key; 3] = [&work, &|entry| day(entry, "%Y-%m"), &|_| None];
    let mut folded = Vec::new();
    for key in by {
        let same = |a: &Entry, b: &Entry| a.session.id == b.session.id && key(a) == key(b);
        folded = older.chunk_by(same).collect();
        if folded.len() + LATEST <= MOST {
            break;
        }
    }
    folded.extend(latest.chunks(1));
    folded
}

fn line(group: &[Entry], long: bool) -> String {
    let [first, .., last] = group else {
        let Some(Entry { session, round, rewound }) = group.first() else { return String::new() };
        let number = number(round.seq);
        let number = if long { format!("{}:{number}", short(&session.id)) } else { number };
        let who =
            if *rewound { format!("{}, rewound", roles(round)) } else { roles(round).to_owned() };
        return row(&number, &format_minute(round.started), &who, &content(round));
    };
    let mut seqs: Vec<u32> = group.iter().map(|entry| entry.round.seq).collect();
    seqs.sort_unstable();
    let numbers = ranges::show(&seqs).replace(' ', "");
    let numbers = if long { format!("{}:{numbers}", short(&first.session.id)) } else { numbers };
    let time =
        format!("{} to {}", format_minute(first.round.started), format_minute(last.round.started));
    let tag = first.round.engagement.as_ref();
    let tag = tag.filter(|_| group.iter().all(|entry| entry.round.engagement.as_ref() == tag));
    let tag = tag.map(|id| format!("#{id} ")).unwrap_or_default();
    let words = |round: &Round| format!("\"{}\"", cell(&preview(&round.user_preview, BEGINS)));
    let what = format!("{tag}{} … {}", words(first.round), words(last.round));
    row(&numbers, &time, &format!("{} rounds", group.len()), &what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::compress_before;
    use base::when::When;
    use sessions::operation::Fidelity;
    use testing::at;
    use testing::rounds::session;

    fn table(change: impl Fn(&mut Session), rounds: u32) -> Vec<String> {
        let follows: Vec<(u32, bool)> = (0..rounds).map(|n| (n, false)).collect();
        let mut session = session(&[]);
        session.rounds = follows
            .iter()
            .enumerate()
            .map(|(n, _)| Round {
                seq: n as u32 + 1,
                user: true,
                user_preview: format!("ask {}", n + 1),
                started: Some(at("2026-03-19T10:00Z") + chrono::TimeDelta::hours(n as i64)),
                ..Round::default()
            })
            .collect();
        change(&mut session);
        let plan = compress_before(session, When::Round(rounds), Fidelity::default()).unwrap();
        of(&plan, &plan.indexed().collect::<Vec<_>>())
    }

    #[test]
    fn a_short_table_has_a_line_for_each_round() {
        let all = table(|session| session.rounds[1].standing.state = State::Rewound, 201);
        assert_eq!(all.len(), 200);
        assert_eq!(all[0], "| 001 | 2026-03-19T10:00Z | user | \"ask 1\" |");
        assert_eq!(all[1], "| 002 | 2026-03-19T11:00Z | user, rewound | \"ask 2\" |");
    }

    #[test]
    fn a_long_table_is_folded() {
        let tagged = |session: &mut Session| {
            for round in &mut session.rounds[20..60] {
                round.engagement = Some("console".into());
            }
        };
        let all = table(tagged, 301);
        assert_eq!(all.len(), 100 + 2 + 8, "{all:#?}");
        assert_eq!(
            all[0],
            "| 1-14 | 2026-03-19T10:00Z to 2026-03-19T23:00Z | 14 rounds | \"ask 1\" … \"ask 14\" |"
        );
        assert!(all[2].starts_with("| 21-60 | 2026-03-20T06:00Z to "), "{}", all[2]);
        assert!(all[2].ends_with("| 40 rounds | #console \"ask 21\" … \"ask 60\" |"), "{}", all[2]);
        assert_eq!(all[all.len() - 1].split(" | ").next(), Some("| 300"));
        // By month, then all that is old.
        assert!(table(|_| (), 24 * 365).len() < 120);
        let mad = |session: &mut Session| {
            for (n, round) in session.rounds.iter_mut().enumerate() {
                round.started =
                    Some(at("2026-03-19T10:00Z") + chrono::TimeDelta::days(40 * n as i64));
            }
        };
        assert_eq!(table(mad, 1000).len(), 101);
    }
}
