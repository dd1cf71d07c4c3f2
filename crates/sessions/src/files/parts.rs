//! A file of rows in parts that are read apart, by threads that know nothing of each other: a row
//! is of the part that it begins in.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memchr::{memchr, memchr_iter};

use super::Stamp;
use crate::span::Span;

/// Bytes of a part.
const PART: usize = 512 * 1024;

/// Bytes from which on a row that goes on behind its part has memory of its own, which is not kept.
const LONG: usize = 512 * 1024;

/// Bytes that are read at a time behind a part, for the end of its last row.
const MORE: usize = 64 * 1024;

/// A file of rows, as long as it was when it was opened.
#[derive(Debug)]
pub struct Parts {
    file: File,
    /// The file when it was opened.
    pub stamp: Stamp,
    /// Bytes of a part, and from which on a row is long.
    part: usize,
    long: usize,
}

/// The rows that begin in a part of a file.
#[derive(Debug)]
pub struct Part {
    /// Which one it is, from 0.
    number: u64,
    /// What was read, and room behind it: the byte ahead of the part, the part, the end of its
    /// last row.
    bytes: Vec<u8>,
    rows: Vec<Span>,
    /// The last row, where it is too long to be among the others.
    long: Option<Vec<u8>>,
}

impl Parts {
    /// The rows of a file that was opened with this stamp.
    pub fn new(file: File, stamp: Stamp) -> Self {
        Self { file, stamp, part: PART, long: LONG }
    }

    /// How many parts it has.
    pub fn count(&self) -> u64 {
        self.stamp.size.div_ceil(self.part as u64)
    }

    /// Reads the rows of a part, by its [number](Part::number).
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&self, part: &mut Part) -> io::Result<()> {
        let begin = part.number * self.part as u64;
        // Whether a row begins where the part does, the byte ahead of it tells.
        let from = begin.saturating_sub(1);
        let end = self.stamp.size.min(begin + self.part as u64);
        let bytes = &mut part.bytes;
        let mut length = self.fill(from, bytes, 0, end.saturating_sub(from) as usize)?;
        let first =
            if begin == 0 { Some(0) } else { memchr(b'\n', &bytes[..length]).map(|at| at + 1) };
        let Some(mut start) = first else { return Ok(()) };
        let mut looked = start;
        loop {
            for at in memchr_iter(b'\n', &bytes[looked..length]) {
                let end = looked + at + 1;
                part.rows.push(Span { start, end });
                start = end;
                if from + start as u64 >= begin + self.part as u64 {
                    return Ok(());
                }
            }
            looked = length;
            if start < length && length - start > self.long {
                part.long = Some(self.row(from + start as u64)?);
                return Ok(());
            }
            let left = self.stamp.size.saturating_sub(from + length as u64);
            let more = if start < length { left.min(MORE as u64) as usize } else { 0 };
            length = self.fill(from, bytes, length, more)?;
            if length == looked {
                // The file's last row, which may still be being written.
                part.rows.extend((start < length).then_some(Span { start, end: length }));
                return Ok(());
            }
        }
    }

    /// Reads the row that begins there.
    fn row(&self, begin: u64) -> io::Result<Vec<u8>> {
        // Its length first: memory for it is taken once.
        let (mut end, mut room) = (begin, Vec::new());
        while end < self.stamp.size {
            let left = self.stamp.size - end;
            let length = self.fill(end, &mut room, 0, left.min(MORE as u64) as usize)?;
            let found = memchr(b'\n', &room[..length]);
            end += found.map_or(length, |at| at + 1) as u64;
            if found.is_some() || length == 0 {
                break;
            }
        }
        let mut row = Vec::new();
        let length = self.fill(begin, &mut row, 0, (end - begin) as usize)?;
        row.truncate(length);
        Ok(row)
    }

    /// Reads so many bytes more behind the `length` bytes that stand in `bytes` and lie at `from`
    /// in the file. Gives the length that there is then: the file may have got shorter.
    fn fill(
        &self,
        from: u64,
        bytes: &mut Vec<u8>,
        length: usize,
        more: usize,
    ) -> io::Result<usize> {
        if bytes.len() < length + more {
            bytes.resize(length + more, 0);
        }
        let (mut at, end) = (length, length + more);
        while at < end {
            match self.file.read_at(&mut bytes[at..end], from + at as u64) {
                Ok(0) => break,
                Ok(read) => at += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(at)
    }
}

impl Part {
    /// The part of that number, not read yet.
    pub fn new(number: u64) -> Self {
        // To grow would copy it; what is not written takes no memory.
        let bytes = Vec::with_capacity(1 + PART + LONG + MORE);
        Self { number, bytes, rows: Vec::new(), long: None }
    }

    /// Which one it is, from 0.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The rows that were read.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().map(|at| at.of(&self.bytes)).chain(self.long.as_deref())
    }

    /// From now on it is the one of that number, not read yet.
    pub fn becomes(&mut self, number: u64) {
        self.number = number;
        self.rows.clear();
        self.long = None;
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;
    use crate::line::Lines;

    fn parts(text: &str, part: usize, long: usize) -> Parts {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(text.as_bytes(), 0).unwrap();
        let stamp = Stamp::of(&file.metadata().unwrap());
        Parts { file, stamp, part, long }
    }

    fn all(parts: &Parts) -> Vec<Vec<u8>> {
        let (mut part, mut found) = (Part::new(0), Vec::new());
        for number in 0..parts.count() {
            part.becomes(number);
            parts.read(&mut part).unwrap();
            found.extend(part.rows().map(<[u8]>::to_vec));
        }
        found
    }

    fn lines(text: &str) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(BufReader::new(text.as_bytes()));
        std::iter::from_fn(|| lines.next().unwrap().map(|line| line.bytes.to_vec())).collect()
    }

    proptest! {
        /// However a file is cut into parts, its rows are its lines.
        #[test]
        fn rows_are_the_lines(text in "[ab\\n]{0,60}", part in 1..20usize, long in 0..20usize) {
            prop_assert_eq!(all(&parts(&text, part, long)), lines(&text));
        }
    }

    #[test]
    fn long_rows_are_the_lines() {
        let row = |length: usize| "x".repeat(length);
        for text in [
            format!("{}\n{}\n{}", row(PART - 1), row(PART), row(3 * PART)),
            format!("{}\n\n{}\n", row(2 * PART + LONG), row(LONG + MORE)),
        ] {
            assert_eq!(all(&parts(&text, PART, LONG)), lines(&text));
        }
    }

    #[test]
    fn a_file_that_got_shorter_has_what_is_left() {
        let parts = parts("one\ntwo\nthree\n", 4, 2);
        parts.file.set_len(6).unwrap();
        assert_eq!(all(&parts), [b"one\n".to_vec(), b"tw".to_vec()]);
    }
}
