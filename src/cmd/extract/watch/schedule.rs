//! Computes the next check from the interval or cron expression and the last one. Cron expressions
//! are in the user's time zone.

use std::str::FromStr as _;

use chrono::{TimeDelta, TimeZone};
use croner::Cron;

use base::clock::Time;
use sessions::settings::ExtractSettings;

/// The next check after `last`, or after the start `began` if there was none. `None` if the cron
/// expression never matches again.
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

/// The time between two checks.
fn interval(settings: &ExtractSettings) -> TimeDelta {
    TimeDelta::try_seconds(settings.scan_interval_seconds as i64).unwrap_or(TimeDelta::MAX)
}

/// The first match of a cron expression after `after`; `None` if there is none.
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
        // The time of the last check itself does not match again.
        let last = at("2026-02-20T10:02:00Z");
        let next = next_look(&every_two, Some(last), began, &Utc);
        assert_eq!(next, Some(at("2026-02-20T10:04:00Z")));
        // A missed time is due.
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
