//! Sweeps that ask no session what it needs.

use std::collections::BTreeSet;
use std::io;

use super::{Amount, GiveUp, Held, sweep};
use crate::blocks::Root;
use crate::extracted::file;
use base::clock::Time;

/// Objects that ledgers name: nothing is asked, and nothing goes.
///
/// # Errors
/// What the system says.
pub fn held(root: &Root) -> io::Result<Amount> {
    let none = BTreeSet::new();
    let give_up = GiveUp::These(&none);
    Ok(sweep(root, Time::MIN_UTC, &mut |_, _| Held::Unknown, give_up, true)?.kept)
}

/// Removes all that was extracted of these sessions (`agent/id`) with their ledgers, even where
/// placeholders need it. What other sessions' ledgers name stays.
///
/// # Errors
/// As [`sweep()`]; `InvalidData` where a ledger can't be read, since it may name the same.
pub fn forget(root: &Root, sessions: &BTreeSet<String>) -> io::Result<()> {
    let give_up = GiveUp::These(sessions);
    let swept = sweep(root, Time::MAX_UTC, &mut |_, _| Held::Unknown, give_up, false)?;
    match sessions.iter().find(|name| !swept.forgotten.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let ledgers: Vec<_> = swept.unread.iter().filter(|p| p.ends_with(file::NAME)).collect();
            let why = format!("{name} was not removed; ledgers that can't be read: {ledgers:?}");
            Err(io::Error::new(io::ErrorKind::InvalidData, why))
        }
    }
}
