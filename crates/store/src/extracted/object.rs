//! Object ids: a digest and a location. They are numbers, not text, because a ledger has tens of
//! thousands of them.

use std::fmt;
use std::io;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Parses 64 lowercase hex digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

fn digit(hex: u8) -> Option<u8> {
    match hex {
        b'0'..=b'9' => Some(hex - b'0'),
        b'a'..=b'f' => Some(hex - b'a' + 10),
        _ => None,
    }
}

/// Lowercase hex.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&hex).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A location in a pack: `<sha256>-<pack>-<offset>-<length>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// The digest of the content.
    pub digest: Digest,
    /// The pack's number: its creation time in nanoseconds since 1970, which is never reused.
    pub pack: u64,
    /// Where in the pack it begins.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

impl FromStr for Id {
    type Err = io::Error;

    fn from_str(id: &str) -> io::Result<Self> {
        let mut parts = id.split('-');
        let mut read = || {
            let digest = Digest::from_hex(parts.next()?)?;
            let mut number = || parts.next()?.parse().ok();
            let found = Self { digest, pack: number()?, offset: number()?, length: number()? };
            (parts.next().is_none() && found.offset.checked_add(found.length).is_some())
                .then_some(found)
        };
        read().ok_or_else(|| {
            let why = format!("`{id}` names no extracted content");
            io::Error::new(io::ErrorKind::InvalidData, why)
        })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { digest, pack, offset, length } = self;
        write!(f, "{digest}-{pack}-{offset}-{length}")
    }
}

/// What a ledger names: stored content, or text that names none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// Stored content.
    In(Id),
    /// Text that is no id: written by hand, or never stored.
    Nowhere(Box<str>),
}

impl Object {
    /// The location of the content.
    ///
    /// # Errors
    /// `InvalidData` for text that is no id.
    pub fn id(&self) -> io::Result<Id> {
        match self {
            Self::In(id) => Ok(*id),
            Self::Nowhere(text) => text.parse(),
        }
    }

    /// The digest of the content; two objects may share it.
    pub fn content(&self) -> Digest {
        match self {
            Self::In(id) => id.digest,
            Self::Nowhere(text) => Digest::of(text.as_bytes()),
        }
    }
}

impl From<&str> for Object {
    fn from(text: &str) -> Self {
        match text.parse::<Id>() {
            // Only in the canonical spelling, so that it is written as it was read.
            Ok(id) if id.to_string() == text => Self::In(id),
            _ => Self::Nowhere(text.into()),
        }
    }
}

impl From<&Self> for Object {
    fn from(object: &Self) -> Self {
        object.clone()
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::In(id) => id.fmt(f),
            Self::Nowhere(text) => f.write_str(text),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_as_it_is_read() {
        let digest = Digest::of(b"");
        let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest.to_string(), hex);
        assert_eq!(Digest::from_hex(hex), Some(digest));
        for wrong in [&hex[1..], &hex.to_uppercase(), &hex.replace('e', "g"), ""] {
            assert_eq!(Digest::from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_object_is_written_as_it_was_read() {
        let digest = Digest::of(b"x");
        let id = Id { digest, pack: 1, offset: 0, length: 9 };
        let written = id.to_string();
        assert_eq!(Object::from(written.as_str()), Object::In(id));
        for odd in [format!("{digest}-01-0-9"), format!("{digest}-+1-0-9"), "o".into()] {
            let object = Object::from(odd.as_str());
            assert!(matches!(object, Object::Nowhere(_)) && object.to_string() == odd, "{odd}");
        }
    }
}
