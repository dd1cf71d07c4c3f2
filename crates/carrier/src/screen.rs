//! Reads the client's screen: the prompt box at the bottom, and whether a turn runs. The input is
//! the text of the screen with its colors (`capture-pane -e`).
//!
//! Seen with the clients 2.1.250 and 2.1.329, dark and light theme:
//! - The box is between the last two rules. Its text starts with `❯`, or with `!` in shell mode.
//!   The rule above a long draft says `─── ↑ 36 more ───`, and then the mark is hidden. Rules of
//!   other views are faint.
//! - `❯` has no color when idle and is grey while a turn or a shell command runs.
//!   `esc to interrupt` below the box says so too, but gives way to a draft.
//! - A grey suggestion is faint except for its first character, at the cursor.
//! - Dialogs draw `❯` before their choices, never right below a rule.

use super::terminal::PromptBox;

/// What a screen shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// The prompt box.
    pub prompt: PromptBox,
    /// A turn runs, or may run.
    pub busy: bool,
    /// A draft is stashed; the line above the box says so.
    pub stashed: bool,
}

/// One character of the screen, and how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    ch: char,
    look: Look,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    faint: bool,
    inverse: bool,
    /// The foreground is not the terminal's default.
    coloured: bool,
}

impl Screen {
    /// Reads a captured screen, with or without escape sequences. Without them a suggestion counts
    /// as text, and a box with text as busy.
    pub fn read(captured: &str) -> Self {
        let lines = cells(captured);
        Self::find(&lines).unwrap_or(Self { prompt: PromptBox::None, busy: true, stashed: false })
    }

    fn find(lines: &[Vec<Cell>]) -> Option<Self> {
        let end = lines.iter().rposition(|line| is_rule(line))?;
        let start = lines[..end].iter().rposition(|line| is_rule(line))?;
        let choice = |line: &Vec<Cell>| text(line).trim_start().starts_with('❯');
        let faint = |line: &[Cell]| line.first().is_some_and(|cell| cell.look.faint);
        if faint(&lines[start]) || faint(&lines[end]) || lines[end + 1..].iter().any(choice) {
            return None;
        }
        let inside = &lines[start + 1..end];
        let mark = inside.first()?.first().copied();
        let scrolled = text(&lines[start]).contains('↑');
        let mark = match mark {
            Some(cell) if matches!(cell.ch, '❯' | '!') => Some(cell),
            _ if scrolled => None,
            _ => return None,
        };
        let prompt = typed(inside, mark);
        let interruptible = lines[end + 1..].iter().any(|l| text(l).contains("esc to interrupt"));
        // Shell mode has its own color. Without any colors, text in the box counts as busy.
        let lamp = mark.is_some_and(|cell| {
            let plain = lines[end].first().is_some_and(|rule| !rule.look.coloured);
            cell.ch == '❯' && !cell.look.coloured && !(plain && prompt != PromptBox::Empty)
        });
        // `draft stashed` with 2.1.329, `› stashed` before.
        let stashed =
            lines[..start].last().is_some_and(|l| text(l).trim_end().ends_with("stashed"));
        Some(Self { prompt, busy: interruptible || !lamp, stashed })
    }
}

/// The text between the rules, without its mark, margin and suggestion.
fn typed(inside: &[Vec<Cell>], mark: Option<Cell>) -> PromptBox {
    let shell = mark.is_some_and(|cell| cell.ch == '!');
    let lines: Vec<String> = inside
        .iter()
        .map(|line| {
            // The mark and its space are as wide as the margin of the lines below.
            let line = line.get(2..).unwrap_or_default();
            let own = |(at, cell): (usize, &Cell)| {
                let cursor_on_suggestion =
                    cell.look.inverse && line.get(at + 1).is_some_and(|next| next.look.faint);
                (!cell.look.faint && !cursor_on_suggestion).then_some(cell.ch)
            };
            let kept: String = line.iter().enumerate().filter_map(own).collect();
            kept.trim_end().to_owned()
        })
        .collect();
    let held = lines.join("\n").trim_end().to_owned();
    match (shell, held.is_empty()) {
        (true, _) => PromptBox::Holds(format!("!{held}")),
        (false, true) => PromptBox::Empty,
        (false, false) => PromptBox::Holds(held),
    }
}

/// Whether a line is a rule, perhaps with a word in it.
fn is_rule(line: &[Cell]) -> bool {
    let shown = text(line);
    let shown = shown.trim_end();
    shown.starts_with("───") && shown.ends_with('─')
}

fn text(line: &[Cell]) -> String {
    line.iter().map(|cell| cell.ch).collect()
}

/// Removes the escape sequences. A look lasts until it is changed, across lines.
fn cells(captured: &str) -> Vec<Vec<Cell>> {
    let mut look = Look::default();
    let mut read = |line: &str| {
        let mut found = Vec::new();
        let mut rest = line.chars();
        while let Some(ch) = rest.next() {
            if ch != '\u{1b}' {
                found.push(Cell { ch, look });
            } else if rest.as_str().starts_with('[') {
                let sequence: String =
                    rest.by_ref().skip(1).take_while(|c| !c.is_ascii_alphabetic()).collect();
                look = changed(look, &sequence);
            } else {
                // Selects a character set: skip two more characters.
                rest.next();
                rest.next();
            }
        }
        found
    };
    captured.lines().map(&mut read).collect()
}

/// The look after the parameters of one `ESC [ … m`.
fn changed(mut look: Look, parameters: &str) -> Look {
    let mut codes = parameters.split(';').map(|p| p.split(':').next().unwrap_or_default());
    while let Some(code) = codes.next() {
        match code {
            "" | "0" => look = Look::default(),
            "2" => look.faint = true,
            "22" => look.faint = false,
            "7" => look.inverse = true,
            "27" => look.inverse = false,
            "39" => look.coloured = false,
            "38" | "48" | "58" => {
                look.coloured |= code == "38";
                let skipped = match codes.next() {
                    Some("5") => 1,
                    Some("2") => 3,
                    _ => 0,
                };
                codes.by_ref().take(skipped).for_each(drop);
            }
            _ => {
                let number: u8 = code.parse().unwrap_or_default();
                look.coloured |= matches!(number, 30..=37 | 90..=97);
            }
        }
    }
    look
}

#[cfg(test)]
mod tests;
