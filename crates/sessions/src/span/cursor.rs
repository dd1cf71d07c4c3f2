//! Walks through JSON value by value, without parsing what is walked over: it sees only what it
//! needs to find its way.

use memchr::{memchr, memchr3};

use super::Span;

/// A place in JSON. Every step is `None` where the JSON is not as it would have to be, or ends.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Bytes that are looked at one by one before a search is worth its beginning: names, ids.
const SHORT: usize = 24;

impl<'a> Cursor<'a> {
    /// Before the first value.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Before the value at `at`.
    pub fn from(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// How far it is.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The byte that comes next.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Steps into an object or array (`open` is its bracket), up to its first name or value.
    /// `false` where it is empty: then behind it.
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

    /// Reads a field's name, up to its value. The span is without the quotes.
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

    /// Walks over a value.
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

    /// Behind a value: whether another one comes, up to which it goes. Where `close` comes
    /// instead, it goes behind that.
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

    /// Whether nothing but blanks is left.
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

    /// Walks over a string.
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

    /// Walks over the rest of a string, from a byte that is not escaped.
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

    /// Walks over an object or array: its own brackets are counted, those of the other kind
    /// lie between them.
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

/// The bracket that closes one.
fn closes(open: u8) -> u8 {
    open + 2
}
