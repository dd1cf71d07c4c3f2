//! Sums up what the guard added to the context, from the journal.

use serde::Serialize;

use super::{Line, What};

/// A number of texts and their size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sum {
    /// Texts.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Sum {
    fn add(&mut self, bytes: usize) {
        self.count += 1;
        self.bytes += bytes as u64;
    }
}

/// The texts that entered a session's context, by kind. Deliveries are the work's own notes and
/// counted separately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Added {
    /// Notes about tiers, the session's situation, and results of verbs.
    pub notes: Sum,
    /// Reasons of denied calls.
    pub denials: Sum,
    /// Lines added to a partly read file or a shortened output.
    pub partial: Sum,
    /// Reasons why a turn could not end.
    pub stops: Sum,
    /// Delivered sealed files.
    pub delivered: Sum,
}

impl Added {
    /// Bytes of the guard's own texts, without the deliveries.
    pub fn bytes(&self) -> u64 {
        [self.notes, self.denials, self.partial, self.stops].iter().map(|sum| sum.bytes).sum()
    }

    /// The same in tokens, by the session's bytes per token.
    pub fn tokens(&self, bytes_per_token: f64) -> u64 {
        (self.bytes() as f64 / bytes_per_token.max(1.0)).ceil() as u64
    }
}

/// Sums up the lines by kind.
pub fn added<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Added {
    let mut added = Added::default();
    for line in lines {
        if let What::Delivered { bytes } = line.what {
            added.delivered.add(usize::try_from(bytes).unwrap_or(usize::MAX));
            continue;
        }
        if line.to_agent.is_empty() {
            continue;
        }
        let sum = match &line.what {
            What::Deny(_) => &mut added.denials,
            What::Partial(_) | What::Cut(_) => &mut added.partial,
            What::Stop => &mut added.stops,
            _ => &mut added.notes,
        };
        sum.add(line.to_agent.len());
    }
    added
}

#[cfg(test)]
mod tests {
    use super::super::Call;
    use super::*;

    #[test]
    fn by_kind_and_what_was_not_said_is_not_counted() {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        let line = |what, said: &str| Line { to_agent: said.into(), ..Line::new(at, what) };
        let lines = [
            line(What::Note { event: "PostToolBatch".into() }, "12345"),
            line(What::Note { event: "Stop".into() }, ""),
            line(What::Deny(Call::default()), "123"),
            line(What::Deny(Call::default()), "1234"),
            line(What::Pass(Call::default()), ""),
            line(What::WouldDeny(Call::default()), ""),
            line(What::Partial(Call::default()), "12"),
            line(What::Stop, "1"),
            line(What::Delivered { bytes: 9_000 }, ""),
        ];
        let added = added(&lines);
        let sums = [added.notes, added.denials, added.partial, added.stops, added.delivered];
        let expected = [(1, 5), (2, 7), (1, 2), (1, 1), (1, 9_000)];
        assert_eq!(sums.map(|s| (s.count, s.bytes)), expected);
        assert_eq!((added.bytes(), added.tokens(4.0)), (15, 4));
    }
}
