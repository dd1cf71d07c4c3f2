//! When watching looks, and when retention is due: the settings' interval and cron expressions
//! against what ran last. Pure; the zone is the user's, who writes cron expressions in it.

use std::str::FromStr as _;

use chrono::{TimeDelta, TimeZone};
use croner::Cron;

use crate::clock::Time;
use crate::settings::ExtractSettings;

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

/// When content is swept next: the first time of the expression behind the last sweep, however
/// long ago that is; at once where there was none. `None` where it never comes true again.
pub fn next_sweep<Z: TimeZone>(
    settings: &ExtractSettings,
    last: Option<Time>,
    now: Time,
    zone: &Z,
) -> Option<Time> {
    last.map_or(Some(now), |last| next(&settings.retention_cron, last.min(now), zone))
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

    #[test]
    fn retention_is_due_where_it_never_ran_and_where_its_time_has_come() {
        let settings = ExtractSettings::default();
        let now = at("2026-02-20T13:00:00Z");
        let due = |last: Option<&str>| next_sweep(&settings, last.map(at), now, &Utc).unwrap();
        assert_eq!(due(None), now);
        assert_eq!(due(Some("2026-02-20T12:00:01Z")), at("2026-02-20T18:00:00Z"));
        assert!(due(Some("2026-02-20T11:59:59Z")) <= now);
        assert!(due(Some("2026-01-01T00:00:00Z")) <= now);
        // A clock that was wrong doesn't put it off for years.
        assert_eq!(due(Some("2030-01-01T00:00:00Z")), at("2026-02-20T18:00:00Z"));
    }
}
