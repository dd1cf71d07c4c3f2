//! The last rows of a session: when it was written, and the tokens of its text.

use std::collections::VecDeque;

use crate::tokens::{Calibration, Counter};
use base::clock::Time;
use sessions::cost::Cache;
use sessions::dialect::{Dialect, Kind, Scratch};
use sessions::rows::Rows;
use sessions::span;

/// Bytes of rows to keep.
const KEPT: usize = 512 * 1024;

/// Bytes of text to count: counting is slower than reading.
const COUNTED: usize = 64 * 1024;

#[derive(Debug, Default)]
pub struct Tail {
    rows: Rows,
    numbers: VecDeque<u64>,
    /// Bytes of rows still to skip, which cannot be among the last.
    ahead: u64,
}

/// When a row was written, if it says so.
pub fn written(line: &[u8]) -> Option<Time> {
    let at = span::plain(span::find(line, "timestamp")?)?;
    Some(chrono::DateTime::parse_from_rfc3339(at).ok()?.to_utc())
}

impl Tail {
    /// For rows of at least `bytes` in total; the first ones are not copied.
    pub fn of(bytes: u64) -> Self {
        Self { ahead: bytes.saturating_sub(2 * KEPT as u64), ..Self::default() }
    }

    pub fn push(&mut self, row: u64, line: &[u8]) {
        if let Some(left) = self.ahead.checked_sub(line.len() as u64) {
            self.ahead = left;
            return;
        }
        if line.len() > KEPT {
            // Rows before a row this long say nothing about those after it.
            self.rows.clear();
            self.numbers.clear();
            return;
        }
        if self.rows.bytes.len() + line.len() > 2 * KEPT {
            self.cut();
        }
        self.rows.push(line);
        self.numbers.push_back(row);
    }

    /// Cuts to [`KEPT`] bytes at most.
    fn cut(&mut self) {
        let from = self.rows.bytes.len().saturating_sub(KEPT);
        let gone = self.rows.ends.partition_point(|end| *end <= from);
        let begin = gone.checked_sub(1).map_or(0, |last| self.rows.ends[last]);
        self.rows.bytes.drain(..begin);
        self.rows.ends.drain(..gone);
        self.numbers.drain(..gone);
        for end in &mut self.rows.ends {
            *end -= begin;
        }
    }

    /// The row numbers, in order.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        self.numbers.iter().copied()
    }

    /// The time of the last row that has one.
    pub fn last(&self) -> Option<Time> {
        let lines: Vec<&[u8]> = self.rows.iter().collect();
        lines.into_iter().rev().find_map(written)
    }

    /// The prompt cache, by the last responses.
    pub fn cache(&self) -> Cache {
        let lines: Vec<&[u8]> = self.rows.iter().collect();
        Cache::of_rows(lines.into_iter().rev())
    }

    /// Compares counted tokens with the session's own usage: the rows in the context between the
    /// last response and an earlier one.
    pub fn calibration(
        &self,
        dialect: &dyn Dialect,
        counter: &Counter,
        in_context: &dyn Fn(u64) -> bool,
    ) -> Calibration {
        let mut scratch = Scratch::default();
        let (mut last, mut found) = (None, Calibration::default());
        let (mut counted, mut bytes) = (0, 0);
        let lines: Vec<&[u8]> = self.rows.iter().collect();
        for (number, line) in self.numbers.iter().zip(lines).rev() {
            if !in_context(*number) {
                continue;
            }
            let row = dialect.row(line, &mut scratch);
            if row.kind == Kind::Boundary {
                break;
            }
            // In a session made of another one, earlier responses measured that one's context.
            if last.is_some() && row.used.is_some() && row.copied.is_some() {
                break;
            }
            // Each row of a message repeats its usage.
            match (last, row.used.filter(|used| *used > 0)) {
                (None, used) => last = used,
                // Usage drops after an extraction: the rows before are no longer in the context.
                (Some(last), Some(used)) if used > last => break,
                (Some(last), Some(used)) if used < last => {
                    found = Calibration::of(last - used, counted);
                    if bytes >= COUNTED {
                        break;
                    }
                }
                _ => {}
            }
            if last.is_some() {
                for block in scratch.blocks() {
                    let json = block.span.slice(line);
                    counted += counter.of_block(block.kind, json);
                    bytes += json.len();
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessions::dialect;

    #[test]
    fn the_last_rows_stay_whatever_their_lengths() {
        let mut tail = Tail::default();
        for n in 0..5_000_u64 {
            tail.push(n, format!("{n} {}\n", "x".repeat((n % 700) as usize)).as_bytes());
            assert!(tail.rows.bytes.len() <= 2 * KEPT);
        }
        let kept: Vec<(u64, &[u8])> = tail.numbers.iter().copied().zip(tail.rows.iter()).collect();
        assert!(kept.len() > 1_000);
        for (n, (number, line)) in (0..).zip(kept.iter().rev()) {
            assert_eq!(*number, 4_999 - n);
            assert!(line.starts_with(format!("{number} ").as_bytes()));
        }
        tail.push(5_000, &vec![b'x'; KEPT + 1]);
        assert_eq!(tail.rows.iter().count(), 0);
    }

    #[test]
    fn rows_far_from_the_end_are_passed_over_and_the_last_ones_stay() {
        let lines: Vec<String> =
            (0..6_000_u64).map(|n| format!("{n} {}\n", "x".repeat((n % 700) as usize))).collect();
        let whole = lines.concat();
        let mut tail = Tail::of(whole.len() as u64);
        for (n, line) in (0..).zip(&lines) {
            tail.push(n, line.as_bytes());
            assert!(n > 1_000 || tail.numbers.is_empty());
        }
        assert!(whole.as_bytes().ends_with(&tail.rows.bytes) && tail.rows.bytes.len() >= KEPT);
        assert_eq!(tail.numbers.len(), tail.rows.iter().count());
        assert_eq!(tail.numbers.back(), Some(&5_999));
    }

    #[test]
    fn the_last_time_is_that_of_the_last_row_that_has_one() {
        let mut tail = Tail::default();
        assert_eq!(tail.last(), None);
        tail.push(0, b"{\"timestamp\":\"2026-02-20T10:00:00.000Z\"}\n");
        tail.push(1, b"{\"timestamp\":\"2026-02-20T12:00:00+01:00\"}\n");
        tail.push(2, b"{\"timestamp\":17}\n");
        tail.push(3, b"no JSON");
        assert_eq!(tail.last().unwrap().to_rfc3339(), "2026-02-20T11:00:00+00:00");
    }

    #[test]
    fn responses_say_what_a_token_is_worth() {
        let words = "the quick brown fox ".repeat(400);
        let answer = |text: &str, used: u64| {
            format!(
                r#"{{"type":"message","id":"a","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"usage":{{"input":{used},"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":{used}}}}}}}"#
            )
        };
        let (pi, counter) = (dialect::named("pi").unwrap(), Counter::default());
        let counted = counter.count(&words);
        let mut tail = Tail::default();
        tail.push(0, answer("x", 1_000).as_bytes());
        tail.push(1, answer(&words, 1_000 + 2 * counted).as_bytes());
        let factor = tail.calibration(pi, &counter, &|_| true).factor();
        assert!((1.9..2.1).contains(&factor), "{factor}");
        let none = tail.calibration(pi, &counter, &|row| row == 0);
        assert_eq!(none, Calibration::default());
        // Usage from after the extraction does not include what was extracted.
        let mut tail = Tail::default();
        tail.push(0, answer("x", 900).as_bytes());
        tail.push(1, answer(&words, 100_000).as_bytes());
        tail.push(2, answer("x", 1_000).as_bytes());
        tail.push(3, answer(&words, 1_000 + 2 * counted).as_bytes());
        let factor = tail.calibration(pi, &counter, &|_| true).factor();
        assert!((1.9..2.1).contains(&factor), "{factor}");
    }
}
