//! What each key does, in one table. `?` shows it.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A part of the screen that has keys of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    /// The list of sessions.
    Sessions,
    /// The rounds of a session.
    Rounds,
    /// A round in full.
    Round,
}

impl Pane {
    /// What it is called on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sessions => "the list of sessions",
            Self::Rounds => "the list of rounds",
            Self::Round => "a round",
        }
    }
}

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    NextMatch,
    PreviousMatch,
    Open,
    Right,
    Left,
    NextPane,
    Help,
    Quit,
    AllProjects,
    Mark,
    Select,
    Range,
    SelectAll,
    Clear,
    Search,
    Tag,
    Index,
    Shrink,
    Drop,
    Keep,
    Extract,
    Split,
    Merge,
    Revive,
    Advise,
    Matrix,
    Mend,
    Copy,
    Make,
    Undo,
    Redo,
    Fold(usize),
}

/// A key, and what it does.
pub struct Binding {
    /// The key.
    pub key: KeyCode,
    /// With Ctrl.
    pub is_ctrl: bool,
    /// The panes that have it.
    pub panes: &'static [Pane],
    /// What it does.
    pub command: Command,
    /// The same in words.
    pub about: &'static str,
}

const ALL: &[Pane] = &[Pane::Sessions, Pane::Rounds, Pane::Round];
const SESSIONS: &[Pane] = &[Pane::Sessions];
const ROUNDS: &[Pane] = &[Pane::Rounds];
const ROUND: &[Pane] = &[Pane::Round];
const OPEN: &[Pane] = &[Pane::Rounds, Pane::Round];

const fn key(
    key: KeyCode,
    panes: &'static [Pane],
    command: Command,
    about: &'static str,
) -> Binding {
    Binding { key, is_ctrl: false, panes, command, about }
}

const fn ctrl(
    letter: char,
    panes: &'static [Pane],
    command: Command,
    about: &'static str,
) -> Binding {
    Binding { key: KeyCode::Char(letter), is_ctrl: true, panes, command, about }
}

/// All keys, in the order in which `?` shows them: keys of the same words on one line.
pub const TABLE: &[Binding] = &[
    key(KeyCode::Up, ALL, Command::Up, "move"),
    key(KeyCode::Down, ALL, Command::Down, "move"),
    key(KeyCode::PageUp, ALL, Command::PageUp, "move by a page, to an end"),
    key(KeyCode::PageDown, ALL, Command::PageDown, "move by a page, to an end"),
    key(KeyCode::Home, ALL, Command::First, "move by a page, to an end"),
    key(KeyCode::End, ALL, Command::Last, "move by a page, to an end"),
    key(KeyCode::Left, ALL, Command::Left, "to another pane"),
    key(KeyCode::Right, ALL, Command::Right, "to another pane"),
    key(KeyCode::Tab, ALL, Command::NextPane, "to another pane"),
    key(KeyCode::Char('q'), ALL, Command::Quit, "quit"),
    ctrl('c', ALL, Command::Quit, "quit"),
    key(KeyCode::Enter, SESSIONS, Command::Open, "open the session"),
    key(
        KeyCode::Char('g'),
        SESSIONS,
        Command::AllProjects,
        "sessions of all projects, or of this one",
    ),
    key(
        KeyCode::Char(' '),
        SESSIONS,
        Command::Mark,
        "mark the session: m in the rounds of another one merges the two",
    ),
    key(KeyCode::Char(' '), ROUNDS, Command::Select, "select the round"),
    key(KeyCode::Char('v'), ROUNDS, Command::Range, "select from here to the next v"),
    key(KeyCode::Char('a'), ROUNDS, Command::SelectAll, "select all rounds shown"),
    key(
        KeyCode::Esc,
        ALL,
        Command::Clear,
        "back: end the selection, then the search, then the plan",
    ),
    key(KeyCode::Char('/'), ROUNDS, Command::Search, "search: list only rounds with the words"),
    key(KeyCode::Char('n'), OPEN, Command::NextMatch, "next or previous match"),
    key(KeyCode::Char('N'), OPEN, Command::PreviousMatch, "next or previous match"),
    key(
        KeyCode::Char('t'),
        ROUNDS,
        Command::Tag,
        "tag the rounds with an engagement, a name for a piece of work",
    ),
    key(
        KeyCode::Char('i'),
        ROUNDS,
        Command::Index,
        "plan: a line of a table stands for each round",
    ),
    key(
        KeyCode::Char('s'),
        ROUNDS,
        Command::Shrink,
        "plan: the rounds stay, without results of tools",
    ),
    key(KeyCode::Char('d'), ROUNDS, Command::Drop, "plan: the rounds are left out"),
    key(KeyCode::Char('k'), ROUNDS, Command::Keep, "plan: the rounds stay as they are"),
    key(KeyCode::Char('x'), ROUNDS, Command::Extract, "plan: move the rounds into a new session"),
    key(KeyCode::Char('S'), ROUNDS, Command::Split, "plan: a new session for each engagement"),
    key(KeyCode::Char('m'), ROUNDS, Command::Merge, "plan: merge with the marked session"),
    key(
        KeyCode::Char('r'),
        ROUNDS,
        Command::Revive,
        "plan: a new session, with early rounds as a table",
    ),
    key(KeyCode::Char('A'), ROUNDS, Command::Advise, "plan: what would shorten the session best"),
    key(KeyCode::Char('M'), ALL, Command::Matrix, "tagged rounds, by engagement and agent"),
    key(KeyCode::Char('w'), ROUNDS, Command::Mend, "what is wrong with the session, and mend it"),
    key(
        KeyCode::Enter,
        ROUNDS,
        Command::Make,
        "carry out the plan; without one, show the round in full",
    ),
    key(KeyCode::Char('u'), ALL, Command::Undo, "undo, redo"),
    key(KeyCode::Char('U'), ALL, Command::Redo, "undo, redo"),
    key(KeyCode::Char('1'), ROUND, Command::Fold(0), "show or hide the user's words"),
    key(KeyCode::Char('2'), ROUND, Command::Fold(1), "the agent's words"),
    key(KeyCode::Char('3'), ROUND, Command::Fold(2), "thinking"),
    key(KeyCode::Char('4'), ROUND, Command::Fold(3), "calls of tools"),
    key(KeyCode::Char('5'), ROUND, Command::Fold(4), "results of tools, and what was attached"),
    key(KeyCode::Char('y'), OPEN, Command::Copy, "copy the round's name, for show"),
    key(KeyCode::Char('?'), ALL, Command::Help, "these keys"),
];

/// What a key does in a pane.
pub fn find(pane: Pane, event: KeyEvent) -> Option<Command> {
    // Escape and a letter typed quickly arrive as Alt and the letter.
    if event.kind == KeyEventKind::Release || event.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    let is_ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    let binding = TABLE.iter().find(|binding| {
        binding.key == event.code && binding.is_ctrl == is_ctrl && binding.panes.contains(&pane)
    });
    binding.map(|binding| binding.command)
}

/// The name of a key.
pub fn name(key: KeyCode, is_ctrl: bool) -> String {
    let name = match key {
        KeyCode::Char(' ') => "Space".to_owned(),
        KeyCode::Char(letter) => letter.to_string(),
        KeyCode::Up => "↑".to_owned(),
        KeyCode::Down => "↓".to_owned(),
        KeyCode::Left => "←".to_owned(),
        KeyCode::Right => "→".to_owned(),
        other => format!("{other:?}"),
    };
    if is_ctrl { format!("Ctrl-{name}") } else { name }
}
