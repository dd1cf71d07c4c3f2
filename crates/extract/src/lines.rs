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
    pub fn of(self, text: &str) -> Result<&str, usize> {
        let ends: Vec<usize> = text
            .split_inclusive('\n')
            .scan(0, |end, line| {
                *end += line.len();
                Some(*end)
            })
            .collect();
        let end = ends.get(self.last.min(ends.len()).wrapping_sub(1));
        let begin = if self.first == 1 { Some(&0) } else { ends.get(self.first - 2) };
        let lines = begin.zip(end).and_then(|(begin, end)| text.get(*begin..*end));
        let lines = lines.filter(|lines| !lines.is_empty()).ok_or(ends.len())?;
        Ok(lines.strip_suffix('\n').unwrap_or(lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let of = |lines: &str, text| lines.parse::<Lines>().unwrap().of(text);
        let text = "one\ntwo\r\n\nfour";
        assert_eq!(of("1", text), Ok("one"));
        assert_eq!(of("2-3", text), Ok("two\r\n"));
        assert_eq!(of("1-900", text), Ok(text));
        assert_eq!([of("4", text), of("4-9", text)], [Ok("four"); 2]);
        assert_eq!([of("5", text), of("7-9", text)], [Err(4); 2]);
        assert_eq!([of("1", ""), of("2", "one\n")], [Err(0), Err(1)]);
        for wrong in ["", "0-3", "3-1", "a", "1,2", "-"] {
            wrong.parse::<Lines>().unwrap_err();
        }
    }
}
