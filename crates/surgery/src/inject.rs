//! `inject`: one round, at a given fidelity, as text for the agent to read. Changes nothing.

mod page;

pub use page::text;

/// A reference to a round: its number in a known session, or `session:number`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ref {
    /// The session's id, or a prefix of it.
    pub session: Option<String>,
    /// The round.
    pub seq: u32,
}

/// Parses `47`, `047` or `3f0a9d1e:47`.
pub fn parse(text: &str) -> Option<Ref> {
    let (session, seq) = match text.trim().rsplit_once(':') {
        Some((session, seq)) => (Some(session), seq),
        None => (None, text.trim()),
    };
    if session.is_some_and(|s| s.is_empty() || s.contains(char::is_whitespace)) {
        return None;
    }
    let digits = seq.bytes().all(|b| b.is_ascii_digit());
    let seq = seq.parse().ok().filter(|seq| digits && *seq > 0)?;
    Some(Ref { session: session.map(str::to_owned), seq })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_short_and_long() {
        let expect = |text: &str, session: Option<&str>, seq| {
            assert_eq!(
                parse(text),
                Some(Ref { session: session.map(str::to_owned), seq }),
                "{text}"
            );
        };
        expect("47", None, 47);
        expect(" 047 ", None, 47);
        expect("3f0a9d1e:047", Some("3f0a9d1e"), 47);
        expect("agent-a57d1be7:1", Some("agent-a57d1be7"), 1);
        for text in
            ["", "0", "000", "x", "+4", "-1", ":4", "3f0a:", "3f0a:x", "a b:4", "99999999999"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
