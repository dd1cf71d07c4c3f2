//! What a carrier that types into the client's terminal can do and see there.
//! The protocols in `keyboard` are written over this; `tmux` and `x11` implement it.

use std::fmt;

/// One key with or without Ctrl. Nothing else is ever pressed: no Enter (with a
/// permission dialog open it approves what nobody read), no Escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stroke {
    /// With Ctrl held.
    pub ctrl: bool,
    /// The key's character, lower case, of ASCII.
    pub key: char,
}

impl Stroke {
    /// Ctrl and a key.
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
    /// It may work in a moment: a dialog, copy mode, another window in front, a held key.
    #[error("{0}")]
    Later(String),
    /// This terminal is no way at all: gone, or not the client's.
    #[error("{0}")]
    Never(String),
}

impl Refusal {
    /// [`Refusal::Later`] from words.
    pub fn later(why: impl Into<String>) -> Self {
        Self::Later(why.into())
    }

    /// [`Refusal::Never`] from words.
    pub fn never(why: impl Into<String>) -> Self {
        Self::Never(why.into())
    }
}

/// What the prompt box at the screen's foot shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptBox {
    /// There is none: a dialog, another view, another program.
    None,
    /// Nothing was typed, or only the client's greyed suggestion is there.
    Empty,
    /// The text in it, as the box broke it into lines.
    Holds(String),
}

/// A terminal with the client in it.
pub trait Terminal {
    /// Proves that keys sent now reach this client and nothing else: the
    /// terminal is the client's own, it takes keys, no mode or lock stands in
    /// front of it.
    ///
    /// # Errors
    /// What could not be proven.
    fn prove(&mut self) -> Result<(), Refusal>;

    /// Whether no turn runs and no dialog is open, as far as can be seen without
    /// touching anything; looked at twice, 100 ms apart.
    ///
    /// # Errors
    /// The terminal can't be looked at.
    fn idle(&mut self) -> Result<bool, Refusal>;

    /// Reads the prompt box.
    ///
    /// # Errors
    /// The screen can't be read.
    fn prompt_box(&mut self) -> Result<PromptBox, Refusal>;

    /// Whether the client's one place for a stashed draft is taken: stashing
    /// another loses the first (seen with clients 2.1.250 and 2.1.329). A terminal
    /// that can't tell says no.
    ///
    /// # Errors
    /// The screen can't be read.
    fn stash_taken(&mut self) -> Result<bool, Refusal> {
        Ok(false)
    }

    /// Presses the keys of one chord, each after a proof. `commit` is asked
    /// right before the last one, which is the one that acts; `false` from it
    /// leaves that one out.
    ///
    /// # Errors
    /// A proof failed before the last key: what was pressed until then does
    /// nothing by itself. `Ok(false)`: `commit` said no.
    fn chord(
        &mut self,
        strokes: &[Stroke],
        commit: &mut dyn FnMut() -> bool,
    ) -> Result<bool, Refusal>;

    /// Types lower-case ASCII text as keys, each after a proof.
    ///
    /// # Errors
    /// A proof failed; part of the text may stand in the box.
    fn type_text(&mut self, text: &str) -> Result<(), Refusal>;

    /// Pastes text of any length in one bracketed paste.
    ///
    /// # Errors
    /// A proof failed, or another program's text got in the way; nothing or
    /// something else may stand in the box then.
    fn paste(&mut self, text: &str) -> Result<(), Refusal>;

    /// Shows a line to whoever looks at the terminal, where it can.
    fn notice(&mut self, text: &str, seconds: u64);
}
