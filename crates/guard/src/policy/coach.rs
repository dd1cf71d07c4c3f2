//! When the agent gets a note, and the figures in it. They are facts, never a countdown: agents
//! take orders without a source for prompt injection.

use base::shown::{self, group_thousands};
use serde::{Deserialize, Serialize};

use base::clock::Time;
use sessions::gauge::Reading;

/// State at the last note, so that each note is given once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    /// The tier's rank.
    pub rank: usize,
    /// Percent of the deciding gauge.
    pub percent: f64,
    /// Calls of the session so far.
    pub calls: u64,
}

/// A note is repeated after this many percent more, or after this many calls.
const EVERY_PERCENT: f64 = 1.0;
const EVERY_CALLS: u64 = 25;

/// Whether a note is due: the rank rose, or enough percent or calls have passed below the top rank.
/// At the top every denial says it already.
pub fn note_due(told: &Told, now: &Told, top: usize) -> bool {
    if now.rank == 0 {
        return false;
    }
    if now.rank > told.rank {
        return true;
    }
    now.rank < top
        && (now.percent >= told.percent + EVERY_PERCENT
            || now.calls >= told.calls.saturating_add(EVERY_CALLS))
}

/// Tokens of the context: `23 % full (226k of 967k)`. Rounded down, so that no tier seems reached early.
pub fn context_figure(reading: &Reading) -> String {
    let (used, limit) = (shown::tokens(reading.used), shown::tokens(reading.limit));
    format!("{:.0} % full ({used} of {limit})", reading.percent().floor())
}

/// A reading with its source and age: `23.4 % (226,000 of 967,000 tokens, transcript, 3 s old)`.
pub fn figure_in_full(reading: &Reading, unit: &str, now: Time) -> String {
    let age = (now - reading.at).num_seconds().max(0);
    let age = if age == 0 { "now".to_owned() } else { format!("{age} s old") };
    format!(
        "{:.1} % ({} of {} {unit}, {}, {age})",
        shown::tenths(reading.percent()),
        group_thousands(reading.used),
        group_thousands(reading.limit),
        reading.source.name(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessions::gauge::Source;

    #[test]
    fn due_on_entry_then_by_percent_or_calls_and_never_again_at_the_top() {
        let at = |rank, percent, calls| Told { rank, percent, calls };
        let due = |told, now| note_due(&told, &now, 3);
        assert!(!due(Told::default(), at(0, 5.0, 99)));
        assert!(due(Told::default(), at(1, 20.0, 1)));
        assert!(!due(at(1, 20.0, 1), at(1, 20.9, 20)));
        assert!(due(at(1, 20.0, 1), at(1, 21.0, 2)));
        assert!(due(at(1, 20.0, 1), at(1, 20.0, 26)));
        assert!(due(at(1, 20.0, 1), at(2, 25.0, 2)));
        assert!(due(at(2, 29.0, 1), at(3, 30.0, 2)));
        assert!(!due(at(3, 30.0, 1), at(3, 35.0, 99)));
    }

    #[test]
    fn figures() {
        let at: Time = "2026-01-01T00:00:00Z".parse().unwrap();
        let reading = Reading { used: 226_000, limit: 967_000, source: Source::Transcript, at };
        assert_eq!(context_figure(&reading), "23 % full (226k of 967k)");
        let text = figure_in_full(&reading, "tokens", at + chrono::Duration::seconds(3));
        assert_eq!(text, "23.3 % (226,000 of 967,000 tokens, transcript, 3 s old)");
        assert_eq!(group_thousands(7), "7");
        assert_eq!(group_thousands(1_234_567), "1,234,567");
    }
}
