//! `inject`: one round, at a given fidelity, as text for the agent to read. Changes nothing.

mod page;

use crate::ranges;

pub use page::text;

/// Most rounds of a reference.
const MOST: usize = 100_000;

/// A reference to rounds: their numbers in a known session, or `session:numbers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ref {
    /// The session's id, or a prefix of it.
    pub session: Option<String>,
    /// The rounds, at least one.
    pub seqs: Vec<u32>,
}

/// Parses `47`, `047`, `3f0a9d1e:47`, or what a line of a folded table says: `3f0a9d1e:1-15,18`.
pub fn parse(text: &str) -> Option<Ref> {
    let (session, seq) = match text.trim().rsplit_once(':') {
        Some((session, seq)) => (Some(session), seq),
        None => (None, text.trim()),
    };
    if session.is_some_and(|s| s.is_empty() || s.contains(char::is_whitespace)) {
        return None;
    }
    let seqs: Vec<u32> = ranges::parse(seq).ok()?.into_iter().flatten().take(MOST).collect();
    Some(Ref { session: session.map(str::to_owned), seqs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_short_and_long() {
        let several = |text: &str, session: Option<&str>, seqs: &[u32]| {
            let seqs = seqs.to_vec();
            let expected = Ref { session: session.map(str::to_owned), seqs };
            assert_eq!(parse(text), Some(expected), "{text}");
        };
        let expect = |text, session, seq| several(text, session, &[seq]);
        several("3f0a9d1e:1-3,7", Some("3f0a9d1e"), &[1, 2, 3, 7]);
        several("4-5", None, &[4, 5]);
        expect("47", None, 47);
        expect(" 047 ", None, 47);
        expect("3f0a9d1e:047", Some("3f0a9d1e"), 47);
        expect("agent-a57d1be7:1", Some("agent-a57d1be7"), 1);
        for text in [
            "",
            "0",
            "000",
            "x",
            "+4",
            "-1",
            "5-2",
            ":4",
            "3f0a:",
            "3f0a:x",
            "a b:4",
            "99999999999",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
