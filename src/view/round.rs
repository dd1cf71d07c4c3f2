//! A round in full: its text, with parts of it folded, wrapped to the pane.

use std::cell::RefCell;
use std::rc::Rc;

use ratatui::text::Span;

use base::shown::count_with_noun;

/// The headings of what each fold hides.
const PARTS: [&[&str]; 5] = [
    &["## User", "## Summary"],
    &["## Assistant"],
    &["### Thinking"],
    &["### Tool call"],
    &["### Tool result", "## Client", "## Attached", "### Part of the message"],
];

/// The page of a round.
#[derive(Debug, Default)]
pub struct Page {
    /// Its session and number; `None` until one is there.
    pub of: Option<(String, u32)>,
    lines: Vec<Line>,
    /// The first line that is shown.
    pub top: usize,
    folded: [bool; PARTS.len()],
    /// The shown lines as they were wrapped last, and to how many columns.
    wrapped: RefCell<Option<(usize, Rc<[String]>)>>,
}

/// A line of a page.
#[derive(Debug)]
struct Line {
    text: String,
    /// The part it belongs to.
    part: Option<usize>,
    is_heading: bool,
}

impl Page {
    /// Takes a text.
    pub fn update(&mut self, session: String, seq: u32, text: &str) {
        let of = Some((session, seq));
        if self.of != of {
            self.top = 0;
        }
        (self.of, self.lines) = (of, parts(&base::plain::block(text, usize::MAX)));
        self.wrapped.take();
    }

    /// Folds a part, or unfolds it.
    pub fn fold(&mut self, part: usize) {
        if let Some(folded) = self.folded.get_mut(part) {
            *folded = !*folded;
            self.wrapped.take();
        }
    }

    /// The lines that are not folded. Of a folded part, the heading stays, with the number of lines
    /// below it.
    fn shown(&self) -> Vec<String> {
        let mut shown: Vec<String> = Vec::new();
        let mut lines = self.lines.iter().peekable();
        while let Some(line) = lines.next() {
            if !line.part.is_some_and(|part| self.folded[part]) {
                shown.push(line.text.clone());
                continue;
            }
            let mut hidden = 0;
            while let Some(below) = lines.next_if(|next| next.part == line.part && !next.is_heading)
            {
                hidden += usize::from(!below.text.is_empty());
            }
            shown.push(format!("{} ({})", line.text, count_with_noun(hidden, "line", "lines")));
            shown.push(String::new());
        }
        shown
    }

    /// The same in lines of at most that many columns.
    pub fn wrapped(&self, width: usize) -> Rc<[String]> {
        if let Some((of, lines)) = &*self.wrapped.borrow()
            && *of == width
        {
            return Rc::clone(lines);
        }
        let lines: Rc<[String]> =
            self.shown().iter().flat_map(|line| wrap(line, width.max(8))).collect();
        self.wrapped.replace(Some((width, Rc::clone(&lines))));
        lines
    }

    /// How many lines there are to scroll through.
    pub fn count(&self) -> usize {
        match &*self.wrapped.borrow() {
            Some((_, lines)) => lines.len(),
            None => self.lines.len(),
        }
    }
}

/// The lines of a page, each with its part. A heading in a fence is somebody's text.
fn parts(text: &str) -> Vec<Line> {
    let (mut part, mut fence) = (None, None);
    let line = |line: &str| {
        let begins = heading(line).filter(|_| fence.is_none());
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => {
                fence = Some("`".repeat(line.len() - line.trim_start_matches('`').len()));
            }
            None => part = begins.or(part),
        }
        Line { text: line.to_owned(), part, is_heading: begins.is_some() }
    };
    text.lines().map(line).collect()
}

fn heading(line: &str) -> Option<usize> {
    PARTS.iter().position(|headings| headings.iter().any(|heading| line.starts_with(heading)))
}

/// A line in pieces of at most that many columns, broken at blanks where there are any.
pub fn wrap(line: &str, width: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut columns = 0;
    for word in line.split_inclusive(' ') {
        let word_columns = Span::raw(word).width();
        if columns > 0 && columns + word_columns > width {
            pieces.push(std::mem::take(&mut piece));
            columns = 0;
        }
        if word_columns <= width {
            piece.push_str(word);
            columns += word_columns;
            continue;
        }
        for c in word.chars() {
            let c_columns = Span::raw(c.to_string()).width();
            if columns + c_columns > width {
                pieces.push(std::mem::take(&mut piece));
                columns = 0;
            }
            piece.push(c);
            columns += c_columns;
        }
    }
    pieces.push(piece);
    pieces
}
