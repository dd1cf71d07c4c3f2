//! Limits how often a job has a boundary. The client does not stop a loop of clears (seen with
//! client 2.1.329).

use chrono::Duration;

use super::BoundarySettings;
use base::clock::Time;
use base::shown::count_with_noun;

/// When the session may be cleared, if the job's last boundary was less than the interval ago.
/// `earlier` holds the start times of the job's boundaries.
pub fn not_before(earlier: &[Time], now: Time, settings: &BoundarySettings) -> Option<Time> {
    let interval = Duration::seconds(settings.min_interval_seconds.min(86_400) as i64);
    let last = past(earlier, now).max()?;
    Some(last + interval).filter(|until| *until > now)
}

/// A time in the future comes from a clock that was wrong, so it does not count.
fn past(earlier: &[Time], now: Time) -> impl Iterator<Item = Time> {
    earlier.iter().copied().filter(move |at| *at <= now)
}

/// Why no boundary may begin now, for a message; `None` if one may.
pub fn spent(earlier: &[Time], now: Time, settings: &BoundarySettings) -> Option<String> {
    let hour = Duration::hours(1);
    let mut within: Vec<Time> = past(earlier, now).filter(|t| now - *t < hour).collect();
    within.sort();
    let allowed = settings.max_per_hour as usize;
    let in_the_way = within.len().checked_sub(allowed)?;
    let next = within.get(in_the_way).map_or_else(String::new, |oldest| {
        let next = (*oldest + hour).with_timezone(&chrono::Local);
        format!(", so the next one may begin at {}", next.format("%H:%M"))
    });
    let had = count_with_noun(within.len(), "boundary", "boundaries");
    Some(format!(
        "this job had {had} in the last hour; `boundary.max_per_hour` allows {allowed}{next}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_and_hour() {
        let now: Time = "2026-01-01T12:00:00Z".parse().unwrap();
        let ago = |minutes: i64| now - Duration::minutes(minutes);
        let settings = BoundarySettings { max_per_hour: 2, ..BoundarySettings::default() };
        assert_eq!(spent(&[], now, &settings), None);
        assert_eq!(not_before(&[ago(1)], now, &settings), Some(ago(-1)));
        assert_eq!(not_before(&[ago(2), ago(-9)], now, &settings), None);
        let next = ago(-10).with_timezone(&chrono::Local).format("%H:%M").to_string();
        assert!(spent(&[ago(5), ago(50), ago(70)], now, &settings).unwrap().ends_with(&next));
        assert_eq!(spent(&[ago(5), ago(61), ago(70)], now, &settings), None);
        let later = [ago(-600), ago(-600_000)];
        assert_eq!(spent(&later, now, &settings), None, "the clock was set back");
    }
}
