//! Ranges of round numbers: `1-15, 18`.

use std::ops::RangeInclusive;

/// Why a text is no list of rounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRanges {
    /// It is empty.
    #[error("rounds are missing; write for example 1-15,18")]
    Empty,
    /// This part is not a range.
    #[error("{0:?} is not a range of rounds; write for example 1-15,18 (the first round is 1)")]
    Part(String),
}

/// Parses `1-15,18`. Numbers can be joined by any dash or by dots (`1–15`, `1..15`).
pub fn parse(text: &str) -> Result<Vec<RangeInclusive<u32>>, InvalidRanges> {
    if text.trim().is_empty() {
        return Err(InvalidRanges::Empty);
    }
    text.split(',').map(|part| range(part.trim())).collect()
}

fn range(part: &str) -> Result<RangeInclusive<u32>, InvalidRanges> {
    let digits = |text: &&str| text.bytes().all(|b| b.is_ascii_digit());
    let number =
        |text: &str| Some(text.trim()).filter(digits)?.parse::<u32>().ok().filter(|n| *n > 0);
    let ends = ["..", "-", "–", "—"].iter().find_map(|dash| part.split_once(dash));
    let (start, end) = ends.unwrap_or((part, part));
    match (number(start), number(end)) {
        (Some(start), Some(end)) if start <= end => Ok(start..=end),
        _ => Err(InvalidRanges::Part(part.to_owned())),
    }
}

/// Formats numbers, which ascend, as ranges: `1-15, 18`.
pub fn show(seqs: &[u32]) -> String {
    let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
    for seq in seqs.iter().copied() {
        match ranges.last_mut() {
            Some(last) if last.end().checked_add(1) == Some(seq) => *last = *last.start()..=seq,
            _ => ranges.push(seq..=seq),
        }
    }
    ranges.iter().map(show_range).collect::<Vec<_>>().join(", ")
}

/// Formats one range: `1-15` or `18`.
pub fn show_range(range: &RangeInclusive<u32>) -> String {
    let (start, end) = range.clone().into_inner();
    if start == end { start.to_string() } else { format!("{start}-{end}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_shown() {
        assert_eq!(parse("1-15, 18").unwrap(), [1..=15, 18..=18]);
        assert_eq!(parse("1–2,3..4 ,05").unwrap(), [1..=2, 3..=4, 5..=5]);
        assert_eq!(show(&[1, 2, 3, 5, 7, 8]), "1-3, 5, 7-8");
        assert_eq!(show(&[]), "");
        for (text, part) in
            [("3-1", "3-1"), ("1,x", "x"), ("0", "0"), ("1,,2", ""), ("1-2-3", "1-2-3")]
        {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{part:?} is not a range")), "{error}");
        }
        assert_eq!(parse(" "), Err(InvalidRanges::Empty));
    }
}
