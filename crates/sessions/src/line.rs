//! A transcript's lines as raw bytes. The longest line bounds the memory.

use std::io::{self, BufRead};

use memchr::memchr;

/// Bytes of memory kept for the next line.
const KEPT: usize = 2 * 1024 * 1024;

/// Most bytes of a line. The client writes a few MB at most, for images.
const LONGEST: usize = 64 * 1024 * 1024;

/// A line that would take too much memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} is longer than 64 MB. No client writes lines that long: remove it, and the rest can be read"
)]
pub struct TooLong {
    /// Its number, from 1.
    pub line: u64,
}

/// A line with its line break, if it has one: the client may still be writing the last line.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: u64,
    /// Where it begins in the source, in bytes.
    pub offset: u64,
    /// Its bytes, line break included.
    pub bytes: &'a [u8],
}

impl Line<'_> {
    /// Whether the line has its line break.
    pub fn ended(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }
}

/// Reads lines, one after another.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    line: Vec<u8>,
    /// Bytes of the source's buffer lent as the last line, not consumed yet.
    lent: usize,
    number: u64,
    offset: u64,
}

impl<R: BufRead> Lines<R> {
    /// Lines of a source at its beginning.
    pub fn new(source: R) -> Self {
        Self::from(source, 0, 0)
    }

    /// Lines of a source that is `offset` bytes and `lines` lines past its beginning.
    pub fn from(source: R, offset: u64, lines: u64) -> Self {
        Self { source, line: Vec::new(), lent: 0, number: lines, offset }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// I/O errors of the source; a line that is longer than 64 MB.
    #[expect(clippy::should_implement_trait, reason = "what it lends ends with the next call")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.source.consume(std::mem::take(&mut self.lent));
        self.line.clear();
        if self.line.capacity() > KEPT {
            // Do not keep a long line's memory for all later ones.
            self.line = Vec::new();
        }
        let offset = self.offset;
        loop {
            let buffer = self.source.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let Some(end) = memchr(b'\n', buffer) else {
                self.line.extend_from_slice(buffer);
                let length = buffer.len();
                self.source.consume(length);
                if self.line.len() > LONGEST {
                    return Err(io::Error::other(TooLong { line: self.number + 1 }));
                }
                continue;
            };
            if self.line.is_empty() {
                // The common case: borrowed from the buffer, not copied.
                self.lent = end + 1;
                self.offset += self.lent as u64;
                self.number += 1;
                let bytes = self.source.fill_buf()?.get(..self.lent).unwrap_or_default();
                return Ok(Some(Line { number: self.number, offset, bytes }));
            }
            self.line.extend_from_slice(&buffer[..=end]);
            self.source.consume(end + 1);
            break;
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.offset += self.line.len() as u64;
        self.number += 1;
        Ok(Some(Line { number: self.number, offset, bytes: &self.line }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_longer_and_shorter_than_the_buffer_come_as_they_are() {
        let text = b"short\n\na line that is longer than the buffer\r\nlast, being written";
        for capacity in [1, 7, 16, 1024] {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, &text[..]));
            let (mut all, mut places) = (Vec::new(), Vec::new());
            while let Some(line) = lines.next().unwrap() {
                all.extend_from_slice(line.bytes);
                places.push((line.number, line.offset, line.ended()));
            }
            assert_eq!(all, text, "{capacity}");
            assert_eq!(places, [(1, 0, true), (2, 6, true), (3, 7, true), (4, 46, false)]);
        }
    }
}
