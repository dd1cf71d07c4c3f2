//! Which round a row hangs on, and how full the context was behind each: what is remembered
//! of rounds that ended. Four bytes a row in the chain, twelve a round.

use std::hash::Hasher;

use fnv::FnvHasher;
use serde::{Deserialize, Serialize};

/// Rows in the chain and rounds, in the file's order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct History {
    /// Each row's id, as 32 bits of it: looked up only where a session was rewound, and what
    /// two ids of four billion may have in common is then mistaken for a rewind elsewhere.
    #[serde(with = "hex")]
    ids: Vec<u32>,
    /// How many of them there were as each round ended, from round 0.
    ends: Vec<u32>,
    /// What the context held behind each round, from round 0; 0 is unknown.
    used: Vec<u64>,
    /// Rows behind a rewind that stand in the round before the one they lead to: id and the
    /// round that they hang on.
    strays: Vec<(u32, u32)>,
    /// The last row's id and the round it stands for.
    last: Option<(String, u32)>,
}

impl History {
    /// Takes the next row of the chain. Returns the round that it hangs on: the open one,
    /// unless it is its first, or stands behind a rewind. What hangs on nothing known follows
    /// what is before it, as the client reads it; `None` is the beginning.
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

    /// The open round ends, with so much in the context.
    pub fn end(&mut self, used: Option<u64>) {
        self.ends.push(self.ids.len() as u32);
        self.used.push(used.unwrap_or(0));
    }

    /// What the context held behind a round that ended.
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

/// Where `id` is for the last time. A file whose links are all broken asks at every row.
fn last_of(ids: &[u32], id: u32) -> Option<usize> {
    /// So many are compared without a branch between them.
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
    let mut hasher = FnvHasher::default();
    hasher.write(id.as_bytes());
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

/// Numbers as one text, eight digits each.
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
        // Behind a rewind in the midst of a round.
        assert_eq!(history.row("4-2", Some("1-2")), Some(1));
        assert_eq!(history.row("4-3", Some("4-2")), Some(1));
        assert_eq!(history.find("4-2"), Some(1));
        assert_eq!(history.find("4-1"), Some(4));
        assert_eq!(history.find("zero"), Some(0));
        assert_eq!(history.find("nowhere"), None);
    }
}
