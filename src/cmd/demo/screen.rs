//! What the user sees: a line for each response with its gauge, quotes of the messages, and the
//! summary. Plain text unless it is a terminal.

use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use guard::settings::Settings;

/// Width of the gauge: one column per percent.
const BAR: usize = 36;

/// Width of a quote in columns.
const QUOTE: usize = 68;

/// Pause before each line, so that a reader can follow.
const BEAT: Duration = Duration::from_millis(90);

pub struct Screen<'a> {
    out: &'a mut dyn Write,
    colour: bool,
    paced: bool,
    /// Quotes name files relative to this folder.
    folder: String,
}

/// Colors of the tiers and of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tint {
    /// The terminal's own color.
    Plain,
    Dim,
    Good,
    Warn,
    Bad,
}

impl Tint {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\x1b[2m",
            Self::Good => "\x1b[32m",
            Self::Warn => "\x1b[33m",
            Self::Bad => "\x1b[31m",
        }
    }

    /// The color of a tier.
    pub fn of_stance(stance: &str) -> Self {
        match stance {
            "free" => Self::Good,
            "coach" => Self::Warn,
            "block-reads" | "narrow" => Self::Bad,
            _ => Self::Plain,
        }
    }
}

impl<'a> Screen<'a> {
    /// A screen; `colour` and `paced` are for terminals.
    pub fn new(out: &'a mut dyn Write, colour: bool, paced: bool) -> Self {
        Self { out, colour, paced, folder: String::new() }
    }

    /// From now on, quotes name files relative to `folder`: long paths would hide the rest.
    pub fn stand_in(&mut self, folder: &Path) {
        self.folder = format!("{}/", folder.display());
    }

    /// Prints one line. Ignores a closed output.
    pub fn line(&mut self, text: &str) {
        if self.paced {
            thread::sleep(BEAT);
        }
        let _ = writeln!(self.out, "{}", text.trim_end());
        let _ = self.out.flush();
    }

    /// Text in a color, if colors are on.
    pub fn tinted(&self, tint: Tint, text: &str) -> String {
        if self.colour && tint != Tint::Plain {
            format!("{}{text}\x1b[0m", tint.code())
        } else {
            text.to_owned()
        }
    }

    /// Prints a response: how full the context is according to the guard, and the calls.
    pub fn gauge(&mut self, percent: Option<f64>, stance: &str, what: &str) {
        let figure = percent.map_or_else(|| "   ? %".to_owned(), |p| format!("{p:>5.1} %"));
        let tint = Tint::of_stance(stance);
        let bar = self.tinted(tint, &bar(percent.unwrap_or(0.0)));
        let name = self.tinted(tint, &format!("{stance:<11}"));
        self.line(&format!("{figure} {bar} {name} {what}"));
    }

    /// Blanks as wide as a gauge, for further calls of a response.
    pub fn indent() -> String {
        " ".repeat(7 + 1 + BAR + 1 + 11 + 1)
    }

    /// Prints a message and who says or gets it, cut to `lines` lines.
    pub fn quote(&mut self, who: &str, text: &str, lines: usize) {
        let text =
            if self.folder.is_empty() { text.to_owned() } else { text.replace(&self.folder, "") };
        let wrapped = wrap(&text, lines);
        for (index, line) in wrapped.iter().enumerate() {
            let label = if index == 0 { who } else { "" };
            let label = self.tinted(Tint::Dim, &format!("{label:>10}"));
            self.line(&format!("{label} {line}"));
        }
    }
}

/// A gauge with marks at the default tiers for long windows.
fn bar(percent: f64) -> String {
    let ramp = Settings::default().ramp(u64::MAX);
    let begins = |i: usize| ramp.tiers().iter().any(|tier| tier.context as usize == i);
    let filled = (percent.round().max(0.0) as usize).min(BAR);
    let cell = |i: usize| match i {
        i if i < filled => '█',
        i if begins(i) => '¦',
        _ => '·',
    };
    (0..BAR).map(cell).collect()
}

/// Wraps words to [`QUOTE`] columns, at most `lines` lines. Line breaks stay; `[…]` marks a cut.
fn wrap(text: &str, lines: usize) -> Vec<String> {
    const MORE: &str = " […]";
    let mut out: Vec<String> = Vec::new();
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let mut current = String::new();
        for word in line.split_whitespace() {
            if !current.is_empty() && current.chars().count() + 1 + word.chars().count() > QUOTE {
                out.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        out.push(current);
    }
    if out.len() > lines {
        out.truncate(lines);
        if let Some(last) = out.last_mut() {
            let room = QUOTE - MORE.chars().count();
            *last = last.chars().take(room).collect::<String>().trim_end().to_owned() + MORE;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_the_figure_and_the_tiers() {
        assert_eq!(bar(0.0).chars().filter(|c| *c == '¦').count(), 3);
        assert_eq!(bar(21.2), format!("{}····¦····¦·····", "█".repeat(21)));
        assert_eq!(bar(99.0), "█".repeat(BAR));
    }

    #[test]
    fn quotes_are_cut_and_say_so() {
        assert_eq!(wrap("a b\n\nc", 5), ["a b", "c"]);
        assert_eq!(wrap("a\nb\nc", 2), ["a", "b […]"]);
        let long = "word ".repeat(40);
        assert!(wrap(&long, 2).iter().all(|l| l.chars().count() <= QUOTE));
        assert!(wrap(&long, 2)[1].ends_with("[…]"));
    }

    #[test]
    fn no_escape_codes_without_colour() {
        let print = |colour| {
            let mut out = Vec::new();
            let mut screen = Screen::new(&mut out, colour, false);
            screen.gauge(Some(31.0), "narrow", "Bash ls: denied");
            screen.quote("agent", "hello", 1);
            String::from_utf8(out).unwrap()
        };
        assert!(!print(false).contains('\x1b'));
        assert!(print(true).contains("\x1b[31m"));
    }
}
