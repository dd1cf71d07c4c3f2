//! Ids of rows, messages and tool calls. As keys of eight bytes they need little memory in a
//! session of any size. Fresh ids are derived, so that the same input gives the same output.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use sha2::{Digest, Sha256};

/// An id, in eight bytes: two of a million ids collide once in forty million sessions.
pub type Key = u64;

/// A set of ids.
pub type Keys = HashSet<Key, BuildHasherDefault<Folded>>;

/// Spreads bits over a word (from the golden ratio).
const MIXED: u64 = 0x9E37_79B9_7F4A_7C15;

/// A hasher for keys, which are nearly random already.
#[derive(Debug, Default)]
pub struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = self.0.rotate_left(5) ^ u64::from_le_bytes(word);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key.wrapping_mul(MIXED);
    }
}

/// The key of an id.
pub fn key(id: &str) -> Key {
    match uuid(id) {
        // Ids that count up change only one half: multiplied, the halves do not cancel out.
        Some(uuid) => ((uuid >> 64) as u64).wrapping_mul(MIXED).rotate_left(32) ^ uuid as u64,
        None => digest(id.as_bytes()),
    }
}

/// The key of any bytes.
pub fn digest(bytes: &[u8]) -> Key {
    (first(&Sha256::digest(bytes).into()) >> 64) as Key
}

/// Parses a UUID of 36 characters.
pub fn uuid(id: &str) -> Option<u128> {
    let bytes = id.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut key = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        key = key << 4 | u128::from((byte as char).to_digit(16)?);
    }
    Some(key)
}

/// Derives fresh ids for what goes from one session into a new one.
#[derive(Debug, Clone)]
pub struct Source(Sha256);

impl Source {
    /// For what the session `new` takes from the session `source`.
    pub fn new(new: &str, source: &str) -> Self {
        let mut seed = Sha256::new();
        for part in [new, source] {
            seed.update((part.len() as u64).to_le_bytes());
            seed.update(part);
        }
        Self(seed)
    }

    /// The fresh UUID that replaces the id `old`.
    pub fn uuid(&self, old: &str) -> Fresh {
        let mut bytes = self.bytes(old);
        // Marked as random (RFC 9562, version 4), which every check of UUIDs accepts.
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut text = [b'-'; 36];
        let places = (0..36).filter(|at| !matches!(at, 8 | 13 | 18 | 23));
        for (nibble, at) in places.enumerate() {
            let byte = bytes[nibble / 2];
            let digit = if nibble % 2 == 0 { byte >> 4 } else { byte & 0x0f };
            text[at] = HEX[usize::from(digit)];
        }
        Fresh { text, length: 36 }
    }

    /// The fresh id of `digits` (at most 32) hex digits that replaces the id `old`.
    pub fn hex(&self, old: &str, digits: u8) -> Fresh {
        let mut text = [b'0'; 36];
        for (at, byte) in self.bytes(old).into_iter().enumerate() {
            text[2 * at] = HEX[usize::from(byte >> 4)];
            text[2 * at + 1] = HEX[usize::from(byte & 0x0f)];
        }
        Fresh { text, length: digits.min(32) }
    }

    fn bytes(&self, old: &str) -> [u8; 16] {
        let mut seed = self.0.clone();
        seed.update(old);
        first(&seed.finalize().into()).to_be_bytes()
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// A derived id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fresh {
    text: [u8; 36],
    length: u8,
}

impl Fresh {
    /// Its text.
    pub fn as_str(&self) -> &str {
        // It is always ASCII.
        std::str::from_utf8(&self.text[..usize::from(self.length)]).unwrap_or_default()
    }
}

fn first(digest: &[u8; 32]) -> u128 {
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    u128::from_be_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_one_key_in_either_case() {
        let id = "3f0a9d1e-0000-4000-8000-0000000000ff";
        assert_eq!(uuid(id), Some(0x3f0a_9d1e_0000_4000_8000_0000_0000_00ff));
        assert_eq!(key(&id.to_uppercase()), key(id));
        for wrong in [
            "",
            "3f0a9d1e",
            "3f0a9d1e-0000-4000-8000-0000000000fg",
            "3f0a9d1e00000-4000-8000-0000000000ff",
        ] {
            assert_eq!(uuid(wrong), None, "{wrong}");
        }
        assert_ne!(key("msg_1"), key("msg_2"));
    }

    #[test]
    fn fresh_ids_are_the_same_for_the_same_input_and_others_for_others() {
        let fresh = Source::new("new", "old").uuid("row");
        assert_eq!(fresh, Source::new("new", "old").uuid("row"));
        for other in [
            ("new", "old", "rox"),
            ("nev", "old", "row"),
            ("new", "olf", "row"),
            ("newo", "ld", "row"),
        ] {
            assert_ne!(fresh, Source::new(other.0, other.1).uuid(other.2), "{other:?}");
        }
        assert!(uuid(fresh.as_str()).is_some(), "{}", fresh.as_str());
        assert_eq!((&fresh.as_str()[14..15], fresh.as_str().len()), ("4", 36));
        assert_eq!(Source::new("new", "old").hex("row", 8).as_str().len(), 8);
    }
}
