//! Maximum sizes of a sealed file.

use serde::{Deserialize, Serialize};

use crate::compaction::{Role, Section};

/// Sizes that the seal enforces: words of the whole file, and shares of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The limit of the compaction file in words.
    pub theta_words: usize,
    /// The share of it that the seal shrinks a file to.
    pub target: f64,
    /// The share at which a seal fails, because the file would block tools.
    pub block: f64,
    /// Maximum share for the summary of earlier sessions.
    pub summary_slice: f64,
    /// Maximum share for the commits, which do not count as words of the file.
    pub git_slice: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { theta_words: 2000, target: 0.40, block: 0.85, summary_slice: 0.25, git_slice: 0.15 }
    }
}

impl Limits {
    /// The words a seal aims for.
    pub fn target_words(&self) -> usize {
        self.share(self.target)
    }

    /// The number of words from which a seal fails.
    pub fn block_words(&self) -> usize {
        (self.theta_words as f64 * self.block - 1e-6).ceil().max(1.0) as usize
    }

    /// Maximum words of the summary.
    pub fn summary_words(&self) -> usize {
        self.share(self.summary_slice)
    }

    /// Maximum words of the commits.
    pub fn git_words(&self) -> usize {
        self.share(self.git_slice)
    }

    /// Maximum words of a section, if it has one: its own slice, else that of its role.
    pub fn slice(&self, section: &Section) -> Option<usize> {
        section.slice.map(|share| self.share(share)).or(match section.role {
            Role::Summary => Some(self.summary_words()),
            Role::Git => Some(self.git_words()),
            Role::Forward | Role::Threads | Role::Risks | Role::Insight | Role::Custom => None,
        })
    }

    fn share(&self, share: f64) -> usize {
        (self.theta_words as f64 * share + 1e-6).floor().max(0.0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_documented_words() {
        let limits = Limits::default();
        let words = (
            limits.target_words(),
            limits.block_words(),
            limits.summary_words(),
            limits.git_words(),
        );
        assert_eq!(words, (800, 1700, 500, 300));
        assert_eq!(Limits { theta_words: 3, ..limits }.block_words(), 3);
        assert_eq!(Limits { block: f64::NAN, ..limits }.block_words(), 1);
    }
}
