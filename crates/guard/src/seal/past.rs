//! What earlier seals left for this one: how old each entry is, and how often it was referred to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compaction::EntryId;

/// How many sessions younger a reference makes an entry. An order by references alone would
/// keep whatever was named early for good, and let nothing new in.
const SESSIONS_A_REFERENCE: u32 = 3;

/// What is known of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Age {
    /// The session of the job it was born in, counted from 1; 0 where nobody knows.
    pub born: u32,
    /// How often it was written again, or named by its id in another entry.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub references: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The ages of a file's entries.
pub type Ages = BTreeMap<EntryId, Age>;

/// What earlier seals left for this one.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// The session that seals, counted from 1.
    pub session: u32,
    /// The ages as the last seal left them.
    pub ages: &'a Ages,
    /// The last sealed text, to know an edited entry by.
    pub sealed: Option<&'a str>,
}

impl Age {
    /// When it would have been born, had nobody referred to it since. The least falls out first.
    pub(super) fn standing(self) -> u32 {
        self.born.saturating_add(self.references.saturating_mul(SESSIONS_A_REFERENCE))
    }

    /// Takes over from an entry that says the same: that one was a reference too.
    pub(super) fn absorb(&mut self, other: Self) {
        self.born = self.born.min(other.born);
        self.references = self.references.saturating_add(other.references).saturating_add(1);
    }
}
