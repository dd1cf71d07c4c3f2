//! Splits one session into a child for each engagement of a map.

use std::ops::RangeInclusive;

use super::{Left, Performed, Piece, Place, Plan, Refused, tables};
use crate::ranges;
use sessions::operation::{Fidelity, Map};
use sessions::round::Session;

/// Makes a child for each engagement of the map: shared rounds as one index table, its own whole.
/// Rounds before a compaction count as any other; rewound and cut-off rounds stay behind.
///
/// # Errors
/// [`Refused::Map`] if a range is not in the session, or in two engagements.
pub fn split(session: &Session, map: &Map, fidelity: Fidelity) -> Result<Vec<Plan>, Refused> {
    let refuse = |key: &str, fault: String| Err(Refused::Map { key: key.to_owned(), fault });
    if map.engagements.is_empty() {
        return refuse("engagements", "it names no engagement".to_owned());
    }
    // The owner of each round, by its position in the session.
    let mut owners: Vec<Option<&str>> = vec![None; session.rounds.len()];
    let engagements = map.engagements.iter().map(|(id, ranges)| (id.as_str(), ranges));
    for (owner, ranges) in std::iter::once((SHARED, &map.shared)).chain(engagements) {
        for range in ranges {
            assign(session, owner, range, &mut owners)?;
        }
    }
    let branch = session.on_branch();
    let owned = |owner: Option<&str>| -> Vec<u32> {
        let rounds = session.rounds.iter().zip(&owners);
        let owns = |of: Option<&str>| of.filter(|name| *name != SHARED) == owner;
        rounds.filter(|(_, of)| owns(**of)).map(|(round, _)| round.seq).collect()
    };
    let kept = |seqs: &[u32]| -> Vec<u32> {
        seqs.iter().copied().filter(|seq| branch.binary_search(seq).is_ok()).collect()
    };
    let shared = owned(None);
    let table = tables::pieces(session, &kept(&shared));
    let mut plans = Vec::new();
    for engagement in map.engagements.keys() {
        let own = owned(Some(engagement));
        let whole = kept(&own);
        if whole.is_empty() {
            let fault = if own.is_empty() {
                "it names no round".to_owned()
            } else {
                format!("its rounds {} were rewound or cut off", ranges::show(&own))
            };
            return refuse(&format!("engagements.{engagement}"), fault);
        }
        let mut pieces = table.clone();
        pieces.extend(whole.iter().copied().map(Place::first).map(Piece::Round));
        let mut asked = [own, shared.clone()].concat();
        asked.sort_unstable();
        let left = Left::of(session, 0, &asked, &branch);
        let operation = Performed::Split { engagement: engagement.clone() };
        plans.push(Plan::new(operation, vec![session.clone()], pieces, left, fidelity));
    }
    Ok(plans)
}

/// The owner of shared rounds; no engagement can have this name.
const SHARED: &str = "";

/// The map's key of an owner.
fn key(owner: &str) -> String {
    if owner == SHARED { "shared".to_owned() } else { format!("engagements.{owner}") }
}

/// Assigns the rounds of a range to `owner`.
fn assign<'m>(
    session: &Session,
    owner: &'m str,
    range: &RangeInclusive<u32>,
    owners: &mut [Option<&'m str>],
) -> Result<(), Refused> {
    let refuse = |fault: String| Err(Refused::Map { key: key(owner), fault });
    let unknown = |seq: u32| session.round(seq).is_none();
    if range.is_empty() || unknown(*range.start()) || unknown(*range.end()) {
        let range = ranges::show_range(range);
        return refuse(format!(
            "there are no rounds {range} in {}: {}",
            session.id,
            session.describe_rounds()
        ));
    }
    for (round, of) in session.rounds.iter().zip(owners) {
        if !range.contains(&round.seq) {
            continue;
        }
        match *of {
            Some(other) if other == owner => {
                return refuse(format!("round {} is named twice", round.seq));
            }
            Some(other) => {
                return refuse(format!("round {} is in {}, too", round.seq, key(other)));
            }
            None => *of = Some(owner),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map;
    use testing::rounds::session;

    fn try_split(rounds: &[(u32, bool)], json: &str) -> Result<Vec<(String, Plan)>, String> {
        let map = map::parse(json).map_err(|e| e.to_string())?;
        let plans =
            split(&session(rounds), &map, Fidelity::default()).map_err(|e| e.to_string())?;
        let shown = plans.into_iter().map(|plan| {
            let seqs =
                |places: Vec<Place>| places.iter().map(|p| p.seq.to_string()).collect::<String>();
            (format!("i{} {}", seqs(plan.indexed().collect()), seqs(plan.whole().collect())), plan)
        });
        Ok(shown.collect())
    }

    const LINE: [(u32, bool); 6] =
        [(0, false), (1, false), (2, false), (3, false), (4, false), (5, false)];

    #[test]
    fn each_child_has_the_shared_rounds_as_a_table_and_its_own_whole() {
        let json = r#"{"shared":"1","engagements":{"console-work":"2-3","inscription":"5"}}"#;
        let children = try_split(&LINE, json).unwrap();
        let shapes: Vec<_> = children.iter().map(|(shape, _)| shape.as_str()).collect();
        assert_eq!(shapes, ["i146 23", "i146 5"]);
        let lineage = &children[1].1.lineage;
        assert_eq!(lineage.parent_session, "3f0a9d1e-0000");
        assert_eq!(
            (lineage.rounds, lineage.engagements.as_slice()),
            (6, &["inscription".to_owned()][..])
        );
        let all = try_split(&LINE, r#"{"engagements":{"a":"1-6"}}"#).unwrap();
        assert!(matches!(all[0].1.pieces[0], Piece::Round(_)), "no empty table");
    }

    #[test]
    fn rounds_before_a_compaction_count_and_those_rewound_stay_behind() {
        let rounds = [(0, false), (1, false), (1, false), (3, true), (4, false)];
        let children = try_split(&rounds, r#"{"engagements":{"a":"2-3","b":"5"}}"#).unwrap();
        assert_eq!(children[0].0, "i14 3");
        assert_eq!(children[0].1.left.rewound, [Place::first(2)]);
        assert_eq!(children[1].0, "i14 5");
        let refused = try_split(&rounds, r#"{"engagements":{"a":"2"}}"#).unwrap_err();
        assert_eq!(refused, "engagements.a: its rounds 2 were rewound or cut off");
    }

    #[test]
    fn a_map_that_does_not_fit_is_refused_by_its_key() {
        let refused = |json: &str| try_split(&LINE, json).unwrap_err();
        assert_eq!(
            refused(r#"{"engagements":{"a":"2-7"}}"#),
            "engagements.a: there are no rounds 2-7 in 3f0a9d1e-0000: it has rounds 1-6"
        );
        assert_eq!(
            refused(r#"{"shared":"5-9","engagements":{"a":"4"}}"#),
            "shared: there are no rounds 5-9 in 3f0a9d1e-0000: it has rounds 1-6"
        );
        assert_eq!(
            refused(r#"{"engagements":{"a":"1-3","b":"3-4"}}"#),
            "engagements.b: round 3 is in engagements.a, too"
        );
        assert_eq!(
            refused(r#"{"shared":"1-2","engagements":{"a":"2"}}"#),
            "engagements.a: round 2 is in shared, too"
        );
        assert_eq!(
            refused(r#"{"engagements":{"a":"1-3,2"}}"#),
            "engagements.a: round 2 is named twice"
        );
    }
}
