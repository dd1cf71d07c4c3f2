//! The fault corpus: bad input of every kind against the real binary. Each case is a trap that
//! broke a similar tool (`README.md` here lists them by letter). Every answer is checked for a
//! clean exit, its time, and false blocks.

mod api;
mod carry_over;
mod case;
mod clear;
mod clock;
mod compaction;
mod control;
mod counts;
mod daemons;
mod deadlocks;
mod disk;
mod file;
mod hysteresis;
mod parallel;
mod payloads;
mod places;
mod scene;
mod sessions;
mod settings;
mod subagents;
mod tail;
mod tally;
mod transcript;
mod window;

use tally::Tally;

/// A test for each group of cases.
macro_rules! corpus {
    ($($group:ident)+) => {
        $(#[test]
        fn $group() {
            let mut tally = Tally::new();
            let played = $group::CASES.iter().map(|case| (case.0, tally.play(case)));
            let failed: Vec<_> = played.filter(|(_, well)| !well).map(|(name, _)| name).collect();
            assert!(failed.is_empty(), "{failed:#?}");
        })+
    };
}

corpus! {
    api carry_over clear clock compaction control counts daemons deadlocks disk file hysteresis parallel payloads places sessions settings subagents tail transcript window
}
