//! What lies above the panes: an input, a question, or a text.

use std::cell::Cell;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::message::{self, How};
use sessions::operation::{Fate, Operation, Order};

/// What an input is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The words of a search.
    Search,
    /// The engagement of a tag.
    Tag,
    /// The engagement of a session of its own.
    Extract,
}

/// The rounds that an input is about, as they were when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The name of their session.
    pub session: String,
    /// Their numbers.
    pub rounds: Vec<u32>,
}

/// What is made if the user confirms it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// A plan for the session of that name.
    Make {
        /// The session.
        name: String,
        /// The plan.
        order: Order,
        /// Whether a client has that session open.
        is_open: bool,
    },
    /// A sound session of a broken one.
    Mend {
        /// The broken one.
        name: String,
    },
}

/// Whether an operation makes more than one session.
fn makes_several(operation: &Operation) -> bool {
    match operation {
        Operation::Split(_) => true,
        Operation::Edit(fates) => fates.values().any(|fate| matches!(fate, Fate::Engagement(_))),
        Operation::CompressBefore(_)
        | Operation::CompressEngagement(_)
        | Operation::ExtractEngagement(_)
        | Operation::Merge { .. }
        | Operation::Extract(_) => false,
    }
}

/// The key that also opens what is new.
const WINDOWS: (&str, &str) = ("w", "yes; each new session opens in a tmux window of its own");

impl Question {
    /// The question in words.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Make { .. } => "Carry out the plan? This session keeps its rounds",
            Self::Mend { .. } => "Mend the session?",
        }
    }

    /// Whether a key answers it.
    fn has(&self, key: &str) -> bool {
        self.keys().iter().any(|(known, _)| *known == key)
    }

    /// The keys that answer it.
    pub fn keys(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            // A running client can't go on in two sessions.
            Self::Make { order, is_open, .. } if !is_open || makes_several(&order.operation) => {
                &[("Enter", "yes"), WINDOWS, ("Esc", "not now")]
            }
            Self::Make { .. } => &[
                ("Enter", "yes"),
                ("h", "yes; the client that has the session open goes on in the new one"),
                WINDOWS,
                ("Esc", "not now"),
            ],
            Self::Mend { .. } => {
                &[("Enter", "create a sound session; this one stays as it is"), ("Esc", "not now")]
            }
        }
    }
}

/// A popup.
#[derive(Debug)]
pub enum Popup {
    /// A line that is typed.
    Input {
        /// What it is for.
        purpose: Purpose,
        /// Which rounds it is about.
        about: About,
        /// The same in words.
        title: String,
        /// What was typed.
        text: String,
        /// Names that Tab completes.
        names: Vec<String>,
    },
    /// What will be made, and the keys that make it.
    Confirm {
        /// What it is about.
        question: Question,
        /// What will be made.
        lines: Vec<String>,
    },
    /// The matrix, to pick a cell.
    Cells {
        /// The cells.
        cells: Vec<message::Cell>,
        /// The one under the cursor.
        at: usize,
        /// The first one that is shown; drawing corrects it.
        top: Cell<usize>,
    },
    /// A text to read.
    Text {
        /// Its title.
        title: String,
        /// Its lines.
        lines: Vec<String>,
        /// The first line that is shown; drawing corrects it.
        top: Cell<usize>,
    },
}

/// What a key in a popup comes to.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It stays open.
    Open,
    /// It is closed.
    Closed,
    /// A line was entered.
    Entered(Purpose, About, String),
    /// Something is to be made.
    Chosen(Question, How),
    /// The rounds of this cell are to be selected.
    Picked(message::Cell),
    /// It is closed, and the key is for what is below it.
    Passed,
}

impl Popup {
    /// Handles a key.
    pub fn key(&mut self, event: KeyEvent) -> Outcome {
        if event.kind == KeyEventKind::Release {
            return Outcome::Open;
        }
        if event.modifiers.contains(KeyModifiers::ALT) {
            return Outcome::Open;
        }
        let is_ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        if event.code == KeyCode::Esc || (is_ctrl && event.code == KeyCode::Char('c')) {
            return Outcome::Closed;
        }
        match self {
            Self::Input { purpose, about, text, names, .. } => match event.code {
                KeyCode::Enter => {
                    return Outcome::Entered(*purpose, about.clone(), text.trim().to_owned());
                }
                KeyCode::Backspace => {
                    text.pop();
                }
                KeyCode::Char('u') if is_ctrl => text.clear(),
                KeyCode::Char(letter) if !is_ctrl => text.push(letter),
                KeyCode::Tab => {
                    // Again, it takes the next one.
                    let next = match names.iter().position(|name| name == text) {
                        Some(at) => names.get((at + 1) % names.len()),
                        None => names.iter().find(|name| name.starts_with(&*text)),
                    };
                    if let Some(name) = next {
                        text.clone_from(name);
                    }
                }
                _ => {}
            },
            Self::Confirm { question, .. } => match event.code {
                KeyCode::Enter => return Outcome::Chosen(question.clone(), How::Stay),
                KeyCode::Char('h') if question.has("h") => {
                    return Outcome::Chosen(question.clone(), How::Running);
                }
                KeyCode::Char('w') if question.has("w") => {
                    return Outcome::Chosen(question.clone(), How::Windows);
                }
                KeyCode::Char('n' | 'q') => return Outcome::Closed,
                _ => {}
            },
            Self::Cells { cells, at, .. } => match event.code {
                KeyCode::Up => *at = at.saturating_sub(1),
                KeyCode::Down => *at = (*at + 1).min(cells.len().saturating_sub(1)),
                KeyCode::Enter => {
                    let cell = cells.get(*at).cloned();
                    return cell.map_or(Outcome::Closed, Outcome::Picked);
                }
                KeyCode::Char('q' | 'M') => return Outcome::Closed,
                _ => {}
            },
            Self::Text { top, .. } => match event.code {
                KeyCode::Up => top.set(top.get().saturating_sub(1)),
                KeyCode::Down => top.set(top.get() + 1),
                KeyCode::PageUp => top.set(top.get().saturating_sub(10)),
                KeyCode::PageDown => top.set(top.get() + 10),
                KeyCode::Enter | KeyCode::Char('q' | '?') => return Outcome::Closed,
                _ => return Outcome::Passed,
            },
        }
        Outcome::Open
    }

    /// Its keys, for the last line of the screen.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Input { .. } => "Enter accepts   Ctrl-u clears   Esc closes",
            Self::Confirm { .. } => "Esc: not now",
            Self::Cells { .. } => "Enter selects the rounds   Esc closes",
            Self::Text { .. } => "↑ ↓ PageUp PageDown move   Esc closes",
        }
    }

    /// A text to read.
    pub fn text(title: &str, lines: Vec<String>) -> Self {
        Self::Text { title: format!("{title} (Esc closes)"), lines, top: Cell::new(0) }
    }

    /// Adds pasted text to an input.
    pub fn paste(&mut self, pasted: &str) {
        if let Self::Input { text, .. } = self {
            text.push_str(&base::plain::line(pasted, 200));
        }
    }
}
