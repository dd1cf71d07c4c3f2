//! What a carrier that presses keys can do and see in the client's terminal. The protocols in
//! `keyboard` use these traits. `tmux` implements both, `x11` cannot read the screen.

use std::fmt;

/// One key with or without Ctrl. Enter is never pressed, because it approves an open permission
/// dialog unread, and neither is Escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stroke {
    /// Whether Ctrl is held.
    pub ctrl: bool,
    /// The key's character, in lower-case ASCII.
    pub key: char,
}

impl Stroke {
    /// Ctrl plus a key.
    pub const fn ctrl(key: char) -> Self {
        Self { ctrl: true, key }
    }
}

impl fmt::Display for Stroke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl { write!(f, "ctrl+{}", self.key) } else { write!(f, "{}", self.key) }
    }
}

/// Why a terminal cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It may work soon: a dialog, copy mode, another window in front, a held key.
    #[error("{0}")]
    Later(String),
    /// This terminal cannot be used: it is gone, or not the client's.
    #[error("{0}")]
    Never(String),
}

impl Refusal {
    /// [`Refusal::Later`] with a reason.
    pub fn later(why: impl Into<String>) -> Self {
        Self::Later(why.into())
    }

    /// [`Refusal::Never`] with a reason.
    pub fn never(why: impl Into<String>) -> Self {
        Self::Never(why.into())
    }
}

/// What the prompt box at the bottom of the screen shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptBox {
    /// There is none: a dialog, another view, another program.
    None,
    /// It is empty, or shows only the client's grey suggestion.
    Empty,
    /// The text in it, with the line breaks of the box.
    Holds(String),
}

/// A terminal that runs the client.
pub trait Terminal {
    /// Proves that keys sent now reach this client and nothing else: the terminal is the client's
    /// own, it takes keys, and no mode or lock is in front of it.
    fn prove(&mut self) -> Result<(), Refusal>;

    /// Whether no turn runs and no dialog is open, as far as it shows without touching anything.
    /// Looks twice, 100 ms apart.
    fn idle(&mut self) -> Result<bool, Refusal>;

    /// The same terminal, if its screen can be read.
    fn readable(&mut self) -> Option<&mut dyn Readable> {
        None
    }

    /// Presses the keys of one chord, each after a proof. The last key is the one that acts: it is
    /// pressed only if `commit`, called right before, returns true. The result says whether it was.
    ///
    /// # Errors
    /// A proof failed before the last key. The keys pressed so far do nothing by themselves.
    fn chord(
        &mut self,
        strokes: &[Stroke],
        commit: &mut dyn FnMut() -> bool,
    ) -> Result<bool, Refusal>;

    /// Shows a line to whoever looks at the terminal, if it can.
    fn notice(&mut self, _text: &str, _seconds: u64) {}
}

/// A terminal whose screen can be read, so that text can be typed and read back.
pub trait Readable: Terminal {
    /// Reads the prompt box from the screen.
    fn prompt_box(&mut self) -> Result<PromptBox, Refusal>;

    /// Whether the client's only slot for a stashed draft is taken. Stashing another draft loses
    /// the first (clients 2.1.250 and 2.1.329).
    fn stash_taken(&mut self) -> Result<bool, Refusal>;

    /// Types ASCII text as keys, each after a proof.
    ///
    /// # Errors
    /// A proof failed; part of the text may be in the box.
    fn type_text(&mut self, text: &str) -> Result<(), Refusal>;
}
