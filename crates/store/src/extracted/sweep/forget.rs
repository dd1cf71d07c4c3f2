//! Sweeps that do not ask sessions what they need.

use std::collections::BTreeSet;
use std::io;

use super::{Amount, GiveUp, SessionNeeds, sweep};
use crate::blocks::Root;
use crate::extracted::file;
use base::clock::Time;

/// Counts the objects that ledgers name. Removes nothing.
pub fn count_objects(root: &Root) -> io::Result<Amount> {
    let none = BTreeSet::new();
    let give_up = GiveUp::These(&none);
    Ok(sweep(root, Time::MIN_UTC, &mut |_, _| SessionNeeds::Unknown, give_up, true)?.kept)
}

/// Removes all content extracted from these sessions (`agent/id`), and their ledgers, even if
/// placeholders need it. What other sessions' ledgers name stays.
///
/// # Errors
/// As [`sweep()`]; `InvalidData` if a ledger is unreadable, since it may name the same content.
pub fn forget(root: &Root, sessions: &BTreeSet<String>) -> io::Result<()> {
    let give_up = GiveUp::These(sessions);
    let swept = sweep(root, Time::MAX_UTC, &mut |_, _| SessionNeeds::Unknown, give_up, false)?;
    match sessions.iter().find(|name| !swept.forgotten.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let ledgers: Vec<_> = swept.unread.iter().filter(|p| p.ends_with(file::NAME)).collect();
            let why = format!("{name} was not removed; ledgers that can't be read: {ledgers:?}");
            Err(io::Error::new(io::ErrorKind::InvalidData, why))
        }
    }
}
