//! Which rounds of a session count: those on the branch of its last round.

use super::{Left, Place};
use sessions::round::Session;

/// The rounds in a session's context, ascending: those on the branch of its last round, from the
/// last compaction on.
pub fn in_context(session: &Session) -> Vec<u32> {
    walk(session, false)
}

/// The rounds on the branch of the last one, including those before a compaction. Ascending.
pub fn on_branch(session: &Session) -> Vec<u32> {
    walk(session, true)
}

fn walk(session: &Session, past_compactions: bool) -> Vec<u32> {
    let mut seqs = Vec::new();
    let mut at = session.rounds.last();
    while let Some(round) = at {
        seqs.push(round.seq);
        if round.boundary && !past_compactions {
            break;
        }
        // A round can only follow an earlier one; anything else ends the walk.
        let follows = round.follows.filter(|earlier| *earlier < round.seq);
        at = follows.and_then(|seq| session.round(seq));
    }
    seqs.reverse();
    seqs
}

/// Sorts the rounds of `seqs` that are not in `taken` by why they are no longer there. All lists
/// ascend.
pub(super) fn left(session: &Session, number: usize, seqs: &[u32], taken: &[u32]) -> Left {
    let branch = on_branch(session);
    let has = |all: &[u32], seq: u32| all.binary_search(&seq).is_ok();
    let mut left = Left::default();
    for seq in seqs.iter().copied().filter(|seq| !has(taken, *seq)) {
        let place = Place { session: number, seq };
        if has(&branch, seq) { left.compacted.push(place) } else { left.rewound.push(place) }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::rounds::session;

    #[test]
    fn the_branch_of_the_last_round_from_the_last_compaction_on() {
        let line = [(0, false), (1, false), (2, false)];
        assert_eq!(in_context(&session(&line)), [1, 2, 3]);
        // Rewound from 3 to 1, then on.
        let rewound = session(&[(0, false), (1, false), (2, false), (1, false), (4, false)]);
        assert_eq!(in_context(&rewound), [1, 4, 5]);
        let compacted = session(&[(0, false), (1, false), (2, true), (3, false)]);
        assert_eq!(in_context(&compacted), [3, 4]);
        assert_eq!(on_branch(&compacted), [1, 2, 3, 4]);
        // Rewound to before the compaction.
        let back = session(&[(0, false), (1, false), (2, true), (2, false)]);
        assert_eq!(in_context(&back), [1, 2, 4]);
        assert_eq!(in_context(&Session::default()), [0; 0]);
        // Rounds that follow themselves or later ones.
        assert_eq!(in_context(&session(&[(0, false), (2, false), (3, false)])), [3]);
    }

    #[test]
    fn what_is_left_is_told_apart() {
        let session = session(&[(0, false), (1, false), (1, false), (3, true), (4, false)]);
        let all = [1, 2, 3, 4, 5];
        let left = left(&session, 7, &all, &in_context(&session));
        let places =
            |seqs: &[u32]| seqs.iter().map(|seq| Place { session: 7, seq: *seq }).collect();
        assert_eq!(
            left,
            Left { rewound: places(&[2]), compacted: places(&[1, 3]), ..Left::default() }
        );
    }
}
