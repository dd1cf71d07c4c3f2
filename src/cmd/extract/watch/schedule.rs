//! When watching looks: the settings' interval and cron expression against what ran last. Pure;
//! the zone is the user's, who writes cron expressions in it.

use std::str::FromStr as _;

use chrono::{TimeDelta, TimeZone};
use croner::Cron;

use base::clock::Time;
use sessions::settings::ExtractSettings;

/// When the next look is. `last` is the one before; without one, `began` is when watching did.
/// `None` where the expression never comes true again.
pub fn next_look<Z: TimeZone>(
    settings: &ExtractSettings,
    last: Option<Time>,
    began: Time,
    zone: &Z,
) -> Option<Time> {
    match &settings.auto_cron {
        Some(expression) => next(expression, last.unwrap_or(began), zone),
        None => Some(last.map_or(began, |last| last + interval(settings))),
    }
}

/// Between two looks.
fn interval(settings: &ExtractSettings) -> TimeDelta {
    TimeDelta::try_seconds(settings.scan_interval_seconds as i64).unwrap_or(TimeDelta::MAX)
}

/// The first time of a cron expression behind `after`; `None` for one that has none.
fn next<Z: TimeZone>(expression: &str, after: Time, zone: &Z) -> Option<Time> {
    let cron = Cron::from_str(expression).ok()?;
    let found = cron.find_next_occurrence(&after.with_timezone(zone), false).ok()?;
    Some(found.to_utc())
}

#[cfg(test)]
mod tests {
    use chrono::{FixedOffset, Utc};

    use super::*;

    fn at(text: &str) -> Time {
        text.parse().unwrap()
    }

    fn cron(auto: &str) -> ExtractSettings {
        ExtractSettings { auto_cron: Some(auto.into()), ..ExtractSettings::default() }
    }

    #[test]
    fn the_first_look_is_at_once_and_the_next_an_interval_later() {
        let settings = ExtractSettings { scan_interval_seconds: 45, ..ExtractSettings::default() };
        let began = at("2026-02-20T10:00:00Z");
        assert_eq!(next_look(&settings, None, began, &Utc), Some(began));
        let last = at("2026-02-20T10:00:10Z");
        let next = next_look(&settings, Some(last), began, &Utc);
        assert_eq!(next, Some(at("2026-02-20T10:00:55Z")));
    }

    #[test]
    fn a_cron_expression_goes_before_the_interval() {
        let began = at("2026-02-20T10:01:30Z");
        let every_two = cron("*/2 * * * *");
        assert_eq!(next_look(&every_two, None, began, &Utc), Some(at("2026-02-20T10:02:00Z")));
        // The time of the last look itself is over.
        let last = at("2026-02-20T10:02:00Z");
        let next = next_look(&every_two, Some(last), began, &Utc);
        assert_eq!(next, Some(at("2026-02-20T10:04:00Z")));
        // What was slept through is due.
        let asleep = at("2026-02-19T10:02:00Z");
        assert!(next_look(&every_two, Some(asleep), began, &Utc) < Some(began));
    }

    #[test]
    fn expressions_are_of_the_users_zone() {
        let began = at("2026-02-20T10:00:00Z");
        let morning = cron("30 6 * * *");
        let east = FixedOffset::east_opt(5 * 3600 + 1800).unwrap();
        assert_eq!(next_look(&morning, None, began, &east), Some(at("2026-02-21T01:00:00Z")));
        assert_eq!(next_look(&morning, None, began, &Utc), Some(at("2026-02-21T06:30:00Z")));
    }

    #[test]
    fn what_never_comes_is_never_due() {
        let now = at("2026-02-20T10:00:00Z");
        for expression in ["0 0 30 2 *", "no cron", ""] {
            assert_eq!(next_look(&cron(expression), None, now, &Utc), None, "{expression}");
        }
    }
}
