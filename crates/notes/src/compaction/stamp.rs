//! The stamp of a sealed file, and whether it still matches the content.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use super::render::one_line;
use super::{Document, Role};

/// What a seal writes into the front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// How often the file was sealed.
    pub version: u64,
    /// When it was last sealed.
    pub sealed: DateTime<Utc>,
    /// The [`digest`] of the file at that time.
    pub digest: String,
}

/// Whether a file has changed since the last seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampState {
    /// Sealed, and no entry besides commits has changed since.
    Fresh,
    /// Sealed once, but changed since.
    Broken,
    /// Never sealed.
    Absent,
}

impl Stamp {
    /// The document's stamp, valid or not; `None` if a part is missing or unreadable.
    pub fn read(document: &Document) -> Option<Self> {
        let front = document.front();
        let sealed = DateTime::parse_from_rfc3339(front.sealed.as_deref()?).ok()?.to_utc();
        Some(Self { version: front.version?, sealed, digest: front.digest.clone()? })
    }

    /// Compares the document with its stamp.
    pub fn check(document: &Document) -> StampState {
        let front = document.front();
        if front.sealed.is_none() && front.digest.is_none() {
            return StampState::Absent;
        }
        match Self::read(document) {
            Some(stamp) if stamp.digest == digest(document) => StampState::Fresh,
            _ => StampState::Broken,
        }
    }
}

/// SHA-256 in hex over all entries except the commits, in order. It covers each entry's section,
/// the unknown heading above it, and its text with flags. White space, front matter and comments do
/// not count.
pub fn digest(document: &Document) -> String {
    let shape = document.shape();
    let mut hash = Sha256::new();
    for entry in document.entries() {
        if entry.section.is_some_and(|section| shape.role(section) == Role::Git) {
            continue;
        }
        for part in
            [shape.name(entry.section), entry.under.as_deref().unwrap_or_default(), &entry.text]
        {
            let part = one_line(part);
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut out, byte| {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Shape, parse};
    use super::*;

    fn stamped(body: &str, digest: &str) -> String {
        format!("---\nversion: 2\nsealed: 2026-01-02T03:04:05Z\ndigest: {digest}\n---\n{body}")
    }

    #[test]
    fn only_what_the_agent_wrote_breaks_it() {
        let shape = Shape::default();
        let body = "# job\n## Forward State\n- a b\n## Git Commit Messages\n- c\n";
        let good = digest(&parse(body, &shape));
        let check = |body: &str| Stamp::check(&parse(&stamped(body, &good), &shape));
        assert_eq!(check(body), StampState::Fresh);
        assert_eq!(
            check(&body.replace("- a b", "*   a  b\n<!-- a comment -->")),
            StampState::Fresh
        );
        assert_eq!(check(&body.replace("- c", "- d")), StampState::Fresh);
        for (from, to) in [
            ("a b", "a c"),
            ("- a", "- [x] a"),
            ("- a", "- ! a"),
            ("# job", "# job\nstray"),
            ("a b", "a b\n\n- b"),
        ] {
            assert_eq!(check(&body.replacen(from, to, 1)), StampState::Broken, "{to}");
        }
        assert_eq!(Stamp::check(&parse(body, &shape)), StampState::Absent);
        let torn = stamped(body, &good).replace("version: 2\n", "");
        assert_eq!(Stamp::check(&parse(&torn, &shape)), StampState::Broken);
    }
}
