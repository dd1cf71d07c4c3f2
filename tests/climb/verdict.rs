//! What the guard must do with a call, written down from the README and computed from the usage figures that the
//! mock gave out. Nothing here asks brain-guard.

/// Tokens at which the client compacts: a window of 1,000,000 less its own buffer.
const LIMIT: f64 = 967_000.0;

/// From here on new files can't be read (README: 25 % of a long context).
const BLOCK_READS: f64 = 25.0;

/// From here on only the compaction file can be changed (README: 30 %).
pub const NARROW: f64 = 30.0;

/// Closer to an edge than this, the output tokens decide, which the client counts in its own way.
const EDGE: f64 = 0.05;

/// Words of the compaction file below which its own tiers (70, 85 and 100 % of 2,000) block nothing.
pub const FREE_WORDS: usize = 1_600;

/// Tokens that are `percent` of the limit.
pub fn tokens(percent: f64) -> u64 {
    (percent / 100.0 * LIMIT) as u64
}

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Read,
    /// A file that this session has read or written before.
    ReadAgain,
    /// Write, run a command, start an agent: blocked at the top alone.
    Work,
    Question,
    /// The compaction file, or the agent's own verbs.
    Notes,
}

/// What holds when a call is made.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Context usage in percent.
    pub percent: f64,
    /// The notes are sealed, and the boundary waits for the turn's end.
    pub sealed: bool,
    /// The person pressed Escape or took the override.
    pub lifted: bool,
    /// A person is there.
    pub attended: bool,
    /// Words of the compaction file.
    pub words: usize,
}

/// Whether the call must be denied; `None` where an edge is too close to say.
pub fn is_denied(class: Class, at: Moment) -> Option<bool> {
    if class == Class::Notes || at.lifted {
        return Some(false);
    }
    let near = |edge: f64| (at.percent - edge).abs() < EDGE;
    if near(BLOCK_READS) || near(NARROW) || at.words >= FREE_WORDS {
        return None;
    }
    let top = at.percent >= NARROW;
    Some(match class {
        Class::Question => !at.attended && (top || at.sealed),
        Class::Read => at.sealed || at.percent >= BLOCK_READS,
        Class::ReadAgain | Class::Work => at.sealed || top,
        Class::Notes => false,
    })
}
