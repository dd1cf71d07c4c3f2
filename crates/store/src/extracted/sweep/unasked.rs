//! Sweeps that ask no session what it needs.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::{Amount, GiveUp, Held, Named, Sessions, sweep};
use crate::blocks::Root;
use crate::extracted::{Ledger, file};
use base::clock::Time;

/// Objects that ledgers name: nothing is asked, and nothing goes.
///
/// # Errors
/// What the system says.
pub fn held(root: &Root, now: Time) -> io::Result<Amount> {
    /// Says of no session what it needs.
    struct Unasked;
    impl Sessions for Unasked {
        fn held(&mut self, _: &Path, _: &Ledger) -> Held {
            Held::Unknown
        }
        fn named(&mut self, _: &str, _: &Path) -> Named {
            Named::Yes(PathBuf::new())
        }
        fn others(&mut self, _: &HashSet<&str>) -> Named {
            Named::Yes(PathBuf::new())
        }
    }
    Ok(sweep(root, now, Time::MIN_UTC, &mut Unasked, GiveUp::None, true)?.kept)
}

/// Removes all that was extracted of these sessions (`agent/id`) with their ledgers, even where
/// placeholders need it. What other sessions' ledgers name stays.
///
/// # Errors
/// As [`sweep()`]; `InvalidData` where a ledger can't be read, since it may name the same.
pub fn forget(root: &Root, now: Time, sessions: &BTreeSet<String>) -> io::Result<()> {
    /// Needs all that is not given up, and what no ledger names.
    struct Others;
    impl Sessions for Others {
        fn held(&mut self, _: &Path, _: &Ledger) -> Held {
            Held::Unknown
        }
        fn named(&mut self, _: &str, _: &Path) -> Named {
            Named::No
        }
        fn others(&mut self, _: &HashSet<&str>) -> Named {
            Named::Yes(PathBuf::new())
        }
    }
    let swept = sweep(root, now, Time::MAX_UTC, &mut Others, GiveUp::These(sessions), false)?;
    match sessions.iter().find(|name| !swept.forgotten.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let ledgers: Vec<_> = swept.unread.iter().filter(|p| p.ends_with(file::NAME)).collect();
            let why = format!("{name} was not removed; ledgers that can't be read: {ledgers:?}");
            Err(io::Error::new(io::ErrorKind::InvalidData, why))
        }
    }
}
