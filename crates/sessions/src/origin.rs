//! Where a round was first. Every copy of a round has its origin, whichever operation or client
//! made the copy, so copies are known without comparing rows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{ranges, span};

/// The session that first had a round, and its number there: `3f0a9d1e-…:47`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The session's id.
    pub session: String,
    /// The round's number in it.
    pub seq: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.session, self.seq)
    }
}

impl FromStr for Origin {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (session, seq) = text.rsplit_once(':').ok_or(())?;
        let seq = seq.parse().map_err(|_| ())?;
        if session.is_empty() || seq == 0 {
            return Err(());
        }
        Ok(Self { session: session.to_owned(), seq })
    }
}

/// Most rounds of a session that a table names.
const MOST: usize = 100_000;

/// Rounds of one session that an index table names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The session's id.
    pub session: String,
    /// Their numbers: `1-46, 50`.
    pub rounds: String,
}

impl Named {
    /// Each of the rounds, in order. A file may name more than any session has, so there is a bound.
    pub fn origins(&self) -> impl Iterator<Item = Origin> {
        let ranges = ranges::parse(&self.rounds).unwrap_or_default();
        let session = self.session.clone();
        ranges
            .into_iter()
            .flatten()
            .take(MOST)
            .map(move |seq| Origin { session: session.clone(), seq })
    }

    /// Reads what a row of surgery says about its table; empty if it names no round.
    pub fn read(json: &[u8]) -> Vec<Self> {
        let named = span::find(json, "stands_for").map(serde_json::from_slice);
        named.and_then(Result::ok).unwrap_or_default()
    }

    /// Groups rounds by session; runs of a session stay in order.
    pub fn group(origins: impl Iterator<Item = Origin>) -> Vec<Self> {
        let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
        for Origin { session, seq } in origins {
            match groups.iter_mut().find(|(id, _)| *id == session) {
                Some((_, seqs)) => seqs.push(seq),
                None => groups.push((session, vec![seq])),
            }
        }
        let named = |(session, mut seqs): (String, Vec<u32>)| {
            seqs.sort_unstable();
            seqs.dedup();
            Self { session, rounds: ranges::show(&seqs) }
        };
        groups.into_iter().map(named).collect()
    }
}

/// What a row's field `forkedFrom` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fork {
    /// The round's origin, if surgery wrote the row.
    pub origin: Option<Origin>,
    /// The session and row that it was copied from.
    pub row: Option<(String, String)>,
    /// Whether part of it was removed on the way.
    pub less: bool,
}

impl Fork {
    /// Reads the field.
    pub fn read(json: &[u8]) -> Self {
        let text = |name| span::find(json, name).and_then(span::plain);
        let row = || Some((text("sessionId")?, text("messageUuid").or_else(|| text("entryId"))?));
        Self {
            origin: text("origin").and_then(|origin| origin.parse().ok()),
            row: row().map(|(session, id)| (session.to_owned(), id.to_owned())),
            less: span::find(json, "less") == Some(b"true"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_and_read() {
        let origin = Origin { session: "agent-a:b".into(), seq: 47 };
        assert_eq!(origin.to_string().parse(), Ok(origin));
        for text in ["", "47", ":47", "a:0", "a:x"] {
            assert_eq!(text.parse::<Origin>(), Err(()), "{text}");
        }
    }

    #[test]
    fn a_table_names_rounds_of_several_sessions() {
        let of = |session: &str, seq| Origin { session: session.into(), seq };
        let all = [of("a", 1), of("a", 2), of("b", 9), of("a", 4), of("a", 2)];
        let named = Named::group(all.into_iter());
        let json = format!(r#"{{"stands_for":{}}}"#, serde_json::to_string(&named).unwrap());
        assert_eq!(Named::read(json.as_bytes()), named);
        let back: Vec<Origin> = named.iter().flat_map(Named::origins).collect();
        assert_eq!(back, [of("a", 1), of("a", 2), of("a", 4), of("b", 9)]);
        assert_eq!(Named::read(br#"{"table":true}"#), []);
        let endless = Named { session: "a".into(), rounds: "1-4294967295".into() };
        assert_eq!(endless.origins().count(), MOST);
    }

    #[test]
    fn a_fork_says_what_it_knows() {
        let client = Fork::read(br#"{"sessionId":"a","messageUuid":"u"}"#);
        assert_eq!(client.row, Some(("a".into(), "u".into())));
        assert_eq!((client.origin, client.less), (None, false));
        let own = Fork::read(br#"{"sessionId":"b","entryId":"v","origin":"a:3","less":true}"#);
        assert_eq!((own.origin, own.less), (Some(Origin { session: "a".into(), seq: 3 }), true));
    }
}
