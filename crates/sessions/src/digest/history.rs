//! Remembers for rounds that ended which rows they had and how full the context was after each.
//! Four bytes per row in the chain, twelve per round.

use base::paths::digest;
use serde::{Deserialize, Serialize};

/// Rows in the chain and rounds, in file order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct History {
    /// Each row's id as a 32-bit hash, searched only after a rewind. A collision (one in four
    /// billion) then looks like a rewind to another place.
    #[serde(with = "hex")]
    ids: Vec<u32>,
    /// How many ids there were when each round ended, from round 0.
    ends: Vec<u32>,
    /// What the context held after each round, from round 0; 0 is unknown.
    used: Vec<u64>,
    /// Rows inside a later round whose parent is in an earlier one, after a rewind: id and the
    /// earlier round.
    strays: Vec<(u32, u32)>,
    /// The last row's id and the round it counts for.
    last: Option<(String, u32)>,
}

impl History {
    /// Takes the next row of the chain and returns its parent's round: usually the open one, or the
    /// one before for a first row. With an unknown parent a row follows the one before it, as the
    /// client reads it; `None` is the beginning.
    pub fn row(&mut self, id: &str, parent: Option<&str>) -> Option<u32> {
        let open = self.ends.len() as u32;
        let first = self.ids.len() as u32 == self.ends.last().copied().unwrap_or(0);
        let hangs = match (parent, &self.last) {
            (Some(parent), Some((last, stands))) if parent == last => Some(*stands),
            (Some(parent), _) => {
                Some(self.find(parent).unwrap_or(if first { open.saturating_sub(1) } else { open }))
            }
            (None, _) => None,
        };
        let stands = match hangs {
            Some(round) if !first && round < open => {
                self.strays.push((short(id), round));
                round
            }
            _ => open,
        };
        self.ids.push(short(id));
        self.last = Some((id.to_owned(), stands));
        hangs
    }

    /// Ends the open round, with `used` tokens in the context.
    pub fn end(&mut self, used: Option<u64>) {
        self.ends.push(self.ids.len() as u32);
        self.used.push(used.unwrap_or(0));
    }

    /// What the context held after a round that ended.
    pub fn used(&self, round: u32) -> Option<u64> {
        self.used.get(round as usize).copied().filter(|used| *used > 0)
    }

    fn find(&self, id: &str) -> Option<u32> {
        let id = short(id);
        if let Some((_, round)) = self.strays.iter().rev().find(|(stray, _)| *stray == id) {
            return Some(*round);
        }
        let at = last_of(&self.ids, id)? as u32;
        Some(self.ends.partition_point(|end| *end <= at) as u32)
    }
}

/// The last position of `id`. A file whose links are all broken searches at every row.
fn last_of(ids: &[u32], id: u32) -> Option<usize> {
    /// How many ids are compared without a branch in between.
    const AT_ONCE: usize = 64;
    let mut end = ids.len();
    while end > 0 {
        let begin = end.saturating_sub(AT_ONCE);
        let here = &ids[begin..end];
        if here.iter().map(|known| u32::from(*known == id)).sum::<u32>() > 0 {
            return here.iter().rposition(|known| *known == id).map(|at| begin + at);
        }
        end = begin;
    }
    None
}

fn short(id: &str) -> u32 {
    let hash = digest(id.as_bytes());
    (hash ^ (hash >> 32)) as u32
}

/// Numbers as one text, eight hex digits each.
mod hex {
    use std::fmt::Write;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(ids: &[u32], to: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(ids.len() * 8);
        for id in ids {
            let _ = write!(text, "{id:08x}");
        }
        to.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.as_bytes().chunks(8);
        let numbers = digits.map(|digits| {
            let digits = str::from_utf8(digits).ok().filter(|digits| digits.len() == 8);
            digits.and_then(|digits| u32::from_str_radix(digits, 16).ok())
        });
        numbers.collect::<Option<_>>().ok_or_else(|| D::Error::custom("ids are no hex digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_many_is_found() {
        let ids: Vec<u32> = (0..1_000).map(|n| n % 300).collect();
        for id in 0..310 {
            assert_eq!(last_of(&ids, id), ids.iter().rposition(|known| *known == id), "{id}");
        }
    }

    #[test]
    fn rounds_are_found_by_any_of_their_rows() {
        let mut history = History::default();
        assert_eq!(history.row("zero", None), None);
        for round in 1..=3 {
            history.end(Some(round * 100));
            for row in 0..3 {
                history.row(&format!("{round}-{row}"), Some(&format!("{round}-{}", row - 1)));
            }
        }
        history.end(None);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|n| history.used(n)),
            [Some(100), Some(200), Some(300), None, None]
        );
        assert_eq!(history.row("4-0", Some("2-1")), Some(2));
        assert_eq!(history.row("4-1", Some("4-0")), Some(4));
        // After a rewind in the middle of a round.
        assert_eq!(history.row("4-2", Some("1-2")), Some(1));
        assert_eq!(history.row("4-3", Some("4-2")), Some(1));
        assert_eq!(history.find("4-2"), Some(1));
        assert_eq!(history.find("4-1"), Some(4));
        assert_eq!(history.find("zero"), Some(0));
        assert_eq!(history.find("nowhere"), None);
    }
}
