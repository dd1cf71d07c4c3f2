//! The state that an import needs to continue a session.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use sessions::digest::Digest;

/// Most bytes at the end of the imported part to compare with the file.
const TAIL: usize = 64 * 1024;

/// A new version digests differently, so sessions are indexed again.
const VERSION: u32 = 3;

/// The progress of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    version: u32,
    pub dialect: String,
    pub digest: Digest,
    /// Length of the end to compare.
    pub tail: u64,
    /// Its SHA-256.
    pub sha256: String,
}

impl State {
    /// The state after these rows.
    pub fn new(dialect: &str, digest: Digest, tail: &Tail) -> Self {
        let (dialect, bytes) = (dialect.to_owned(), tail.bytes());
        let (tail, sha256) = (bytes.len() as u64, sum(bytes));
        Self { version: VERSION, dialect, digest, tail, sha256 }
    }

    /// Parses a state; `None` if another version wrote it.
    pub fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok().filter(|state: &Self| state.version == VERSION)
    }

    /// Whether these bytes equal the imported end.
    pub fn is(&self, tail: &[u8]) -> bool {
        tail.len() as u64 == self.tail && sum(tail) == self.sha256
    }
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        hex.extend([byte >> 4, byte & 15].map(|n| char::from_digit(n.into(), 16).unwrap_or('0')));
        hex
    })
}

/// The last imported bytes.
#[derive(Debug, Default)]
pub struct Tail(Vec<u8>);

impl Tail {
    pub fn of(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if bytes.len() >= TAIL {
            self.0.clear();
        } else if self.0.len() + bytes.len() > 4 * TAIL {
            self.0.drain(..self.0.len() - TAIL);
        }
        self.0.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
    }

    fn bytes(&self) -> &[u8] {
        &self.0[self.0.len().saturating_sub(TAIL)..]
    }
}

/// The malformed rows in a state, as in [`Digest`], without parsing the rest. Empty if another
/// version wrote it.
pub fn malformed(json: &str) -> Vec<(u32, u32)> {
    #[derive(Deserialize)]
    struct State {
        digest: Digest,
    }
    #[derive(Deserialize)]
    struct Digest {
        malformed: Vec<(u32, u32)>,
    }
    serde_json::from_str::<State>(json).map_or_else(|_| Vec::new(), |state| state.digest.malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_end_however_it_came() {
        let all: Vec<u8> = (0..5 * TAIL).map(|n| (n % 251) as u8).collect();
        for step in [1000, TAIL - 1, TAIL, 2 * TAIL + 7] {
            let mut tail = Tail::default();
            let mut end = 0;
            for chunk in all.chunks(step) {
                tail.push(chunk);
                end += chunk.len();
                assert_eq!(tail.bytes(), &all[end.saturating_sub(TAIL)..end], "{step}");
            }
            let state = State::new("claude", Digest::default(), &tail);
            let again = State::read(&serde_json::to_string(&state).unwrap()).unwrap();
            assert!(again.is(&all[all.len() - TAIL..]) && !again.is(&all[..TAIL]));
        }
        assert!(State::read("{}").is_none());
    }
}
