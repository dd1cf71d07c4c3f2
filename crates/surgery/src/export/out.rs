//! Buffers and checks rows of the new session. A row stays only while its usage may be the last
//! one, which is replaced.

use std::io::{self, Write};

use memchr::memchr_iter;

use crate::ids::Key;
use crate::validate::{Finding, Validator};
use sessions::span::Span;

/// Bytes to buffer before rows are passed on.
const ENOUGH: usize = 256 * 1024;

/// The output that is not passed on yet.
pub(super) struct Out<'s> {
    /// The buffered rows.
    pub rows: Vec<u8>,
    /// Where they have the usage of the last answer: each row of an answer has it.
    usages: Vec<Span>,
    validator: Validator,
    sink: &'s mut dyn Write,
    lines: u64,
    bytes: u64,
}

impl<'s> Out<'s> {
    /// An output of about `rows` rows for the session `id`; the largest round has `largest` bytes.
    pub fn new(id: &str, rows: usize, largest: usize, sink: &'s mut dyn Write) -> Self {
        let mut validator = Validator::strict(id);
        validator.expect(rows);
        validator.given(std::iter::empty());
        let rows = Vec::with_capacity(largest + 2 * ENOUGH);
        Self { rows, usages: Vec::new(), validator, sink, lines: 0, bytes: 0 }
    }

    /// Registers digests of the sources' thinking blocks, before the rows that have them.
    pub fn given(&mut self, thinking: impl Iterator<Item = Key>) {
        self.validator.given(thinking);
    }

    /// Ends a row. `answer` is where it has the usage of a message, and whether it is the first row
    /// of that message.
    pub fn row(&mut self, start: usize, answer: Option<(Span, bool)>) -> io::Result<()> {
        if let Some((_, true)) = answer {
            self.usages.clear();
        }
        self.usages.extend(answer.map(|(at, _)| at));
        let free = match self.usages.first() {
            None => self.rows.len(),
            Some(_) if matches!(answer, Some((_, true))) => start,
            Some(_) => 0,
        };
        if free < ENOUGH {
            return Ok(());
        }
        self.pass(free)?;
        for at in &mut self.usages {
            *at = Span { start: at.start - free, end: at.end - free };
        }
        Ok(())
    }

    /// Sets the usage of the last answer.
    pub fn set_usage(&mut self, usage: &str) {
        for at in std::mem::take(&mut self.usages).iter().rev() {
            self.rows.splice(at.start..at.end, usage.bytes());
        }
    }

    /// Whether a row was invalid JSON.
    pub fn malformed(&self) -> bool {
        self.validator.malformed()
    }

    /// Passes everything on. Returns the bytes of the whole output, and the findings.
    pub fn finish(mut self) -> io::Result<(u64, Vec<Finding>)> {
        self.pass(self.rows.len())?;
        Ok((self.bytes, self.validator.finish()))
    }

    /// Passes on the rows before `end`.
    fn pass(&mut self, end: usize) -> io::Result<()> {
        let mut start = 0;
        let ends = memchr_iter(b'\n', &self.rows[..end]).map(|at| at + 1);
        for end in ends {
            self.lines += 1;
            self.validator.line(self.lines, &self.rows[start..end]);
            start = end;
        }
        self.bytes += end as u64;
        self.sink.write_all(&self.rows[..end])?;
        self.rows.drain(..end);
        Ok(())
    }
}
