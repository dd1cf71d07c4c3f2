//! The expected verdict on a call, by the rules of the README and the usage figures of the mock.
//! It is computed without brain-guard.

/// Tokens at which the client compacts: a window of 1,000,000 minus the client's buffer.
const LIMIT: f64 = 967_000.0;

/// From here on, new files cannot be read (README: 25 % of a long context).
const BLOCK_READS: f64 = 25.0;

/// From here on, only the notes can be edited (README: 30 %).
pub const NARROW: f64 = 30.0;

/// Closer to an edge than this, the verdict depends on how the client counts output tokens.
const EDGE: f64 = 0.05;

/// Below this many words, the tiers of the compaction file (70, 85 and 100 % of 2,000) block
/// nothing.
pub const FREE_WORDS: usize = 1_600;

/// Converts percent of the limit to tokens.
pub fn tokens(percent: f64) -> u64 {
    (percent / 100.0 * LIMIT) as u64
}

/// The effect of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Read,
    /// Reads a file that this session has read or written before.
    ReadAgain,
    /// Writes, runs a command or starts an agent: blocked only at the top tier.
    Work,
    Question,
    /// Changes the compaction file or runs a verb of the agent.
    Notes,
}

/// The state at the time of a call.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Context usage in percent.
    pub percent: f64,
    /// The notes are sealed, and the boundary waits for the turn's end.
    pub sealed: bool,
    /// The person pressed Escape or set the override.
    pub lifted: bool,
    pub attended: bool,
    /// Words of the compaction file.
    pub words: usize,
}

/// Whether the call must be denied; `None` too close to an edge.
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
