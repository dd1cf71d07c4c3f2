//! Finds the line of each key in a JSON text, for error messages.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

/// Line numbers by the hash of each key's path. One pass over the text finds them all, on first
/// use.
pub(super) struct Lines<'a> {
    text: &'a str,
    found: OnceCell<HashMap<u64, usize>>,
}

/// The hash of the empty path.
const TOP: u64 = 0;

/// The hash of a path that ends in `part`, from the hash of its parent.
fn child_hash(above: u64, part: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(above);
    hasher.write(part.as_bytes());
    hasher.finish()
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, found: OnceCell::new() }
    }

    /// The 1-based line of the key at `path`, or of its deepest existing parent. Paths number list
    /// entries from 0.
    pub(super) fn line(&self, path: &[String]) -> usize {
        let found = self.found.get_or_init(|| {
            let mut scanner =
                Scanner { bytes: self.text.as_bytes(), at: 0, line: 1, found: HashMap::default() };
            scanner.value(TOP);
            scanner.found
        });
        let (mut at, mut line) = (TOP, 1);
        for part in path {
            at = child_hash(at, part);
            let Some(further) = found.get(&at) else { break };
            line = *further;
        }
        line
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    found: HashMap<u64, usize>,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        if byte == b'\n' {
            self.line += 1;
        }
        Some(byte)
    }

    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.next();
        }
        self.bytes.get(self.at).copied()
    }

    fn string(&mut self) -> String {
        let mut raw = Vec::new();
        self.next();
        while let Some(byte) = self.next() {
            match byte {
                b'"' => break,
                b'\\' => raw.extend(self.next()),
                other => raw.push(other),
            }
        }
        String::from_utf8_lossy(&raw).into_owned()
    }

    /// Skips one value whose path has this hash.
    fn value(&mut self, path: u64) {
        match self.peek() {
            Some(b'"') => {
                self.string();
            }
            Some(b'{') => self.object(path),
            Some(b'[') => self.array(path),
            _ => {
                while self.peek().is_some_and(|b| !b",}]".contains(&b)) {
                    self.next();
                }
            }
        }
    }

    fn object(&mut self, path: u64) {
        self.next();
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    let line = self.line;
                    let key = child_hash(path, &self.string());
                    if self.peek() == Some(b':') {
                        self.next();
                    }
                    self.found.insert(key, line);
                    self.value(key);
                }
                b'}' => {
                    self.next();
                    return;
                }
                _ => {
                    self.next();
                }
            }
        }
    }

    fn array(&mut self, path: u64) {
        self.next();
        let mut index = 0;
        while let Some(byte) = self.peek() {
            if byte == b']' {
                self.next();
                return;
            }
            if byte == b',' {
                self.next();
                index += 1;
            } else {
                let before = self.at;
                let entry = child_hash(path, &index.to_string());
                self.found.insert(entry, self.line);
                self.value(entry);
                if self.at == before {
                    self.next();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_keys() {
        let text =
            "{\n \"a\": [1, {\"b\": 2}],\n \"c\": {\n  \"x\\\"y\": 1,\n  \"b\": \"}\"\n }\n}\n";
        let lines = Lines::new(text);
        let line =
            |path: &[&str]| lines.line(&path.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>());
        assert_eq!(line(&["a"]), 2);
        assert_eq!(line(&["c", "b"]), 5);
        assert_eq!(line(&["c", "missing"]), 3);
        assert_eq!(line(&["missing"]), 1);
        let list = "{\"a\": [\n {},\n {\n  \"b\": [1,\n 2]}]}";
        let path = |path: &[&str]| path.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        for (at, line) in [(&["a", "0"][..], 2), (&["a", "1"], 3), (&["a", "1", "b", "1"], 5)] {
            assert_eq!(Lines::new(list).line(&path(at)), line, "{at:?}");
        }
    }

    proptest! {
        #[test]
        fn ends_on_anything(text in "[{}\\[\\]\",:a1\\\\ \n]{0,60}") {
            prop_assert!(Lines::new(&text).line(&["a".to_owned()]) >= 1);
        }
    }
}
