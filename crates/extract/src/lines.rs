//! Which lines of a text to print.

use std::str::FromStr;

use sessions::ranges;

/// Lines, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    first: usize,
    last: usize,
}

impl FromStr for Lines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ranges = ranges::parse(text).unwrap_or_default();
        match ranges.as_slice() {
            [range] => Ok(Self { first: *range.start() as usize, last: *range.end() as usize }),
            _ => Err("write for example 10-40; the first line is 1".to_owned()),
        }
    }
}

impl Lines {
    /// These lines of a text, without the last line break.
    ///
    /// # Errors
    /// How many lines the text has, if it ends before.
    pub fn of(self, text: &str) -> Result<String, usize> {
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let lines = all.get(self.first - 1..self.last.min(all.len())).unwrap_or_default().concat();
        if lines.is_empty() {
            return Err(all.len());
        }
        Ok(lines.strip_suffix('\n').map_or_else(|| lines.clone(), str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let of = |lines: &str, text| lines.parse::<Lines>().unwrap().of(text);
        let text = "one\ntwo\r\n\nfour";
        assert_eq!(of("1", text), Ok("one".to_owned()));
        assert_eq!(of("2-3", text), Ok("two\r\n".to_owned()));
        assert_eq!(of("1-900", text), Ok(text.to_owned()));
        assert_eq!(
            [of("4", text), of("4-9", text)],
            [Ok("four".to_owned()), Ok("four".to_owned())]
        );
        assert_eq!([of("5", text), of("7-9", text)], [Err(4), Err(4)]);
        assert_eq!([of("1", ""), of("2", "one\n")], [Err(0), Err(1)]);
        for wrong in ["", "0-3", "3-1", "a", "1,2", "-"] {
            wrong.parse::<Lines>().unwrap_err();
        }
    }
}
