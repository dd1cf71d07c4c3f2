//! How lists look: marks on a terminal, and lines that fit its width.

use std::io::{self, IsTerminal as _};

use rustix::termios::tcgetwinsize;

use base::env::Env;
use base::plain;

/// Columns where the output is no terminal, and the most that a list uses.
const WIDEST: usize = 120;

/// Columns of the narrowest terminal that lists are made for.
const NARROWEST: usize = 80;

/// How a list is shown.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Whether to use colours.
    pub colour: bool,
    /// How many columns a line may take.
    pub width: usize,
}

impl Look {
    /// For programs and models.
    pub const PLAIN: Self = Self { colour: false, width: WIDEST };

    /// Colours on a terminal, unless `NO_COLOR` is set or it has none; as wide as the terminal.
    pub fn of(env: &Env) -> Self {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return Self::PLAIN;
        }
        let width = tcgetwinsize(&stdout).map_or(WIDEST, |size| usize::from(size.ws_col));
        let width = width.clamp(NARROWEST, WIDEST);
        let is_plain = env.get("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = env.get("TERM").is_some_and(|terminal| terminal == "dumb");
        Self { colour: !is_plain && !is_dumb, width }
    }

    /// A line in a faint colour, for what no longer counts.
    pub fn faint(self, line: &str) -> String {
        if self.colour { format!("\x1b[2m{line}\x1b[0m") } else { line.to_owned() }
    }

    /// A text from a disk on one line of at most that many columns.
    pub fn fit(text: &str, columns: usize) -> String {
        let line = plain::line(text, usize::MAX);
        if line.chars().count() <= columns {
            return line;
        }
        let cut: String = line.chars().take(columns.saturating_sub("...".len())).collect();
        format!("{}...", cut.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_ends_in_dots() {
        assert_eq!(Look::fit("one two", 7), "one two");
        assert_eq!(Look::fit("one two three", 10), "one two...");
        assert_eq!(Look::fit("a\n\u{1b}[2J\u{202e}b", 20), "a  [2J b");
    }

    #[test]
    fn faint_lines_are_plain_without_colours() {
        assert_eq!(Look::PLAIN.faint("x"), "x");
        assert_eq!(Look { colour: true, ..Look::PLAIN }.faint("x"), "\x1b[2mx\x1b[0m");
    }
}
