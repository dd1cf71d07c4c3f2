//! Walks through JSON value by value and looks only at what it needs to find the next one.

use memchr::{memchr, memchr3};

use super::Span;

/// A position in JSON. Every step is `None` if the JSON is malformed there or ends.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Bytes checked one by one before a search is worth starting: enough for names and ids.
const SHORT: usize = 24;

impl<'a> Cursor<'a> {
    /// A cursor before the first value.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A cursor before the value at `at`.
    pub fn from(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Its position.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next byte.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Enters an object or array (`open` is its bracket), up to its first name or value. `false` if
    /// it is empty; the cursor is then after it.
    #[inline]
    pub fn enter(&mut self, open: u8) -> Option<bool> {
        self.blanks();
        if self.peek() != Some(open) {
            return None;
        }
        self.at += 1;
        self.blanks();
        let empty = self.peek()? == closes(open);
        self.at += usize::from(empty);
        Some(!empty)
    }

    /// Reads a field's name, up to its value. The span has no quotes.
    #[inline]
    pub fn name(&mut self) -> Option<Span> {
        let begin = self.at + 1;
        self.string()?;
        let name = Span { start: begin, end: self.at - 1 };
        self.blanks();
        if self.peek() != Some(b':') {
            return None;
        }
        self.at += 1;
        self.blanks();
        Some(name)
    }

    /// Skips a value.
    #[inline]
    pub fn value(&mut self) -> Option<Span> {
        let start = self.at;
        match self.peek()? {
            b'"' => self.string()?,
            open @ (b'{' | b'[') => self.nested(open)?,
            b',' | b'}' | b']' | b':' => return None,
            _ => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
                self.at += self.bytes[start..].iter().position(ends)?;
            }
        }
        Some(Span { start, end: self.at })
    }

    /// After a value: whether another one comes; the cursor is then at it. If `close` comes
    /// instead, the cursor is after that.
    #[inline]
    pub fn more(&mut self, close: u8) -> Option<bool> {
        self.blanks();
        let next = self.peek()?;
        self.at += 1;
        if next == close {
            return Some(false);
        }
        if next != b',' {
            return None;
        }
        self.blanks();
        Some(true)
    }

    /// Whether only blanks are left.
    pub fn ended(&mut self) -> bool {
        self.blanks();
        self.at == self.bytes.len()
    }

    #[inline]
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips a string.
    #[inline]
    fn string(&mut self) -> Option<()> {
        if self.peek()? != b'"' {
            return None;
        }
        let mut at = self.at + 1;
        let short = self.bytes.len().min(at + SHORT);
        while at < short {
            match self.bytes[at] {
                b'"' => {
                    self.at = at + 1;
                    return Some(());
                }
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.long_string(at)
    }

    /// Skips the rest of a string, from a byte that is not escaped.
    fn long_string(&mut self, begin: usize) -> Option<()> {
        let mut from = begin;
        loop {
            let quote = from + memchr(b'"', self.bytes.get(from..)?)?;
            let before = &self.bytes[begin..quote];
            let slashes = before.iter().rev().take_while(|b| **b == b'\\').count();
            from = quote + 1;
            if slashes % 2 == 0 {
                self.at = from;
                return Some(());
            }
        }
    }

    /// Skips an object or array: only its own brackets are counted, the other kind is nested.
    fn nested(&mut self, open: u8) -> Option<()> {
        let close = closes(open);
        let mut depth = 1usize;
        self.at += 1;
        loop {
            self.at += memchr3(b'"', open, close, self.bytes.get(self.at..)?)?;
            let found = self.bytes[self.at];
            if found == b'"' {
                self.string()?;
                continue;
            }
            self.at += 1;
            if found == open {
                depth += 1;
                continue;
            }
            depth -= 1;
            if depth == 0 {
                return Some(());
            }
        }
    }
}

/// The bracket that closes `open`.
fn closes(open: u8) -> u8 {
    open + 2
}
