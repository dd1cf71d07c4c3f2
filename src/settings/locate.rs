//! The line on which a key stands in a JSON text, for messages about it.

/// The 1-based line of the key at `path`, as far down as it can be followed; an
/// entry of a list is named by its number from 0.
pub(super) fn line_of(text: &str, path: &[String]) -> usize {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, line: 1, found: 1 };
    scanner.value(path);
    scanner.found
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    found: usize,
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

    /// Skips one value; `path` is followed into it where it is an object.
    fn value(&mut self, path: &[String]) {
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

    fn object(&mut self, path: &[String]) {
        self.next();
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    let line = self.line;
                    let key = self.string();
                    if self.peek() == Some(b':') {
                        self.next();
                    }
                    let wanted = path.first() == Some(&key);
                    if wanted {
                        self.found = line;
                    }
                    self.value(if wanted { &path[1..] } else { &[] });
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

    fn array(&mut self, path: &[String]) {
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
                let wanted = path.first().is_some_and(|part| part.parse() == Ok(index));
                if wanted {
                    self.found = self.line;
                }
                self.value(if wanted { &path[1..] } else { &[] });
                if self.at == before {
                    self.next();
                }
            }
        }
    }
}

/// What serde found wrong, without Rust's names for things and without the place,
/// which is named before it.
pub fn in_words(why: &serde_json::Error) -> String {
    let said = why.to_string();
    let mut said = said.split(" at line ").next().unwrap_or_default().to_owned();
    for (theirs, ours) in [
        ("expected a sequence", "expected a list"),
        ("expected string or map", "expected a string"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected f64", "expected a number"),
    ] {
        said = said.replace(theirs, ours);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_keys() {
        let text =
            "{\n \"a\": [1, {\"b\": 2}],\n \"c\": {\n  \"x\\\"y\": 1,\n  \"b\": \"}\"\n }\n}\n";
        let line = |path: &[&str]| {
            line_of(text, &path.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(line(&["a"]), 2);
        assert_eq!(line(&["c", "b"]), 5);
        assert_eq!(line(&["c", "missing"]), 3);
        assert_eq!(line(&["missing"]), 1);
        let list = "{\"a\": [\n {},\n {\n  \"b\": [1,\n 2]}]}";
        let path = |path: &[&str]| path.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        for (at, line) in [(&["a", "0"][..], 2), (&["a", "1"], 3), (&["a", "1", "b", "1"], 5)] {
            assert_eq!(line_of(list, &path(at)), line, "{at:?}");
        }
    }

    proptest! {
        #[test]
        fn ends_on_anything(text in "[{}\\[\\]\",:a1\\\\ \n]{0,60}") {
            prop_assert!(line_of(&text, &["a".to_owned()]) >= 1);
        }
    }
}
