//! Holds for the plan of every session.

use proptest::prelude::*;

use super::entry::read;
use extract::entry::{Entry, Extractable, Role};
use extract::plan::{Item, NoGain, plan};
use sessions::settings::ExtractSettings;
use testing::{at, pi};

proptest! {
    /// Every value is extracted or stays, in row order. Nothing that must stay is extracted, and
    /// keeping more never extracts more.
    #[test]
    fn every_value_is_accounted_for(made in pi::sessions(), keep in 0..6u32) {
        let entries = read(&made.bytes);
        let settings = |keep_recent| ExtractSettings {
            keep_recent,
            min_value_length: 100,
            trigger_types: vec!["*".into()],
            ..ExtractSettings::default()
        };
        let now = at("2026-02-20T15:06:40Z");
        let planned = |keep_recent, is_placeholder: bool| {
            let ledger = |_: &Entry, _: &str| is_placeholder;
            plan(&entries, &settings(keep_recent), now, &ledger, &NoGain::new())
        };
        let done = planned(keep, false);
        let values: usize = entries.iter().map(|entry| entry.values.len()).sum();
        prop_assert_eq!(done.items.len() + done.stay.values().sum::<u64>() as usize, values);
        let order = |item: &Item| (item.row, item.span.start);
        prop_assert!(done.items.windows(2).all(|two| order(&two[0]) < order(&two[1])));
        let (all, sent) = done.bytes();
        prop_assert!(sent <= all);
        let more = planned(keep + 1, false);
        prop_assert!(more.items.iter().all(|item| done.items.contains(item)));
        let users = entries.iter().find(|entry| entry.role == Role::User);
        for item in &done.items {
            let entry = &entries[entries.iter().position(|e| e.row == item.row).unwrap()];
            prop_assert!(entry.extractable != Some(Extractable::Never));
            let free = entry.extractable == Some(Extractable::Always);
            let first = users.is_some_and(|user| user.row == item.row);
            let value = entry.values.iter().find(|value| value.key == item.key).unwrap();
            prop_assert!(free || !(first || value.error));
        }
        let nothing = planned(0, true);
        prop_assert!(nothing.items.is_empty());
    }
}
