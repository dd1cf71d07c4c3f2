//! Sessions generated for property tests, in the shapes that client 2.1.329 writes: thinking,
//! parallel calls, compactions, rewinds, commands, images, queued prompts, bookkeeping and unknown
//! rows. The same seed gives the same bytes.
mod agent;
mod pen;

use proptest::prelude::*;

use pen::Pen;

/// A generated session, and what is true of it.
#[derive(Debug, Clone)]
pub struct Generated {
    /// Its id.
    pub id: String,
    /// The transcript.
    pub bytes: Vec<u8>,
    /// Its rounds, from round 1.
    pub rounds: Vec<Expected>,
}

/// What is true of a round.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expected {
    /// The round it follows.
    pub follows: Option<u32>,
    /// A compaction starts it.
    pub boundary: bool,
    /// Id of its first row in the chain.
    pub first_id: String,
    /// Its rows, bookkeeping included.
    pub rows: u32,
    /// What the user said, text by text.
    pub user: Vec<String>,
    /// What the agent said, text by text.
    pub agent: Vec<String>,
    /// Ids of its tool calls, in order.
    pub calls: Vec<String>,
}

/// A session with that many rounds.
pub fn session(seed: u64, rounds: usize) -> Generated {
    let mut pen = Pen::new(seed);
    pen.bookkeeping();
    for _ in 0..rounds {
        pen.round();
    }
    pen.finish()
}

/// Sessions of up to twelve rounds.
pub fn sessions() -> impl Strategy<Value = Generated> {
    (any::<u64>(), 1..=12usize).prop_map(|(seed, rounds)| session(seed, rounds))
}

/// A session with unreadable lines in between: a torn row, no JSON, an empty line, invalid UTF-8,
/// and an unfinished last line.
pub fn damaged(seed: u64, rounds: usize) -> Vec<u8> {
    let whole = session(seed, rounds).bytes;
    let mut bytes = Vec::new();
    for (number, line) in whole.split_inclusive(|b| *b == b'\n').enumerate() {
        match (seed ^ number as u64) % 11 {
            0 => bytes.extend_from_slice(&[&line[..line.len() / 2], b"\n"].concat()),
            1 => bytes.extend_from_slice(b"massive error\n\n"),
            2 => bytes.extend_from_slice(b"[1]\r\n42\n\xff\xfe\n"),
            _ => {}
        }
        bytes.extend_from_slice(line);
    }
    bytes.extend_from_slice(br#"{"type":"user","uuid":"#);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_session() {
        let (a, b) = (session(7, 5), session(7, 5));
        assert_eq!((a.bytes, a.rounds), (b.bytes, b.rounds));
        assert_ne!(session(7, 5).bytes, session(8, 5).bytes);
    }

    /// A few seeds give everything that the properties need to meet.
    #[test]
    fn sessions_hold_everything_there_is() {
        let all: Vec<u8> = (0..60).flat_map(|seed| session(seed, 8).bytes).collect();
        let all = String::from_utf8(all).unwrap();
        for mark in [
            r#""type":"thinking""#,
            r#""type":"image""#,
            "compact_boundary",
            "<task-notification>",
            "queued_command",
            "<bash-input>",
            "<command-name>/model",
            "[Request interrupted by user",
            "unheard-of",
        ] {
            assert!(all.contains(mark), "{mark}");
        }
        let rewound = (0..60).map(|seed| session(seed, 8)).any(|made| {
            made.rounds
                .iter()
                .enumerate()
                .any(|(n, round)| round.follows.unwrap_or(0) + 1 < n as u32)
        });
        assert!(rewound);
    }
}
