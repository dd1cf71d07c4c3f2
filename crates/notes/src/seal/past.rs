//! Data from earlier seals: the age of each entry and the references to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compaction::EntryId;

/// Sessions by which one reference makes an entry younger. Ordering by references alone would keep
/// early entries forever, and admit nothing new.
const SESSIONS_A_REFERENCE: u32 = 3;

/// The age of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Age {
    /// The session of the job that wrote it, counted from 1; 0 if unknown.
    pub born: u32,
    /// How often it was written again, or another entry named its id.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub references: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The ages of a file's entries.
pub type Ages = BTreeMap<EntryId, Age>;

/// Data from earlier seals.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// The session that seals, counted from 1.
    pub session: u32,
    /// The ages as the last seal left them.
    pub ages: &'a Ages,
    /// The last sealed text, to recognize edited entries.
    pub sealed: Option<&'a str>,
}

impl Age {
    /// Rank for removal, in sessions: its birth plus a bonus for each reference. The lowest goes
    /// first.
    pub(super) fn standing(self) -> u32 {
        self.born.saturating_add(self.references.saturating_mul(SESSIONS_A_REFERENCE))
    }

    /// Merges the age of an equivalent entry, which counts as a reference, too.
    pub(super) fn absorb(&mut self, other: Self) {
        self.born = self.born.min(other.born);
        self.references = self.references.saturating_add(other.references).saturating_add(1);
    }
}
