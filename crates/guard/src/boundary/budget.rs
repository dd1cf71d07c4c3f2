//! Limits how often a job has a boundary. The client does not stop a loop of clears (seen with
//! client 2.1.329).

use chrono::Duration;

use super::BoundarySettings;
use base::clock::Time;
use base::shown::count_with_noun;

/// The setting's name, which a reason for lifted blocks gives.
pub const LIMIT: &str = "boundary.max_per_hour";

/// The budget is used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// When the next boundary is allowed.
    pub until: Time,
    /// The reason, for a message.
    pub why: String,
}

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

/// Checks whether a boundary may begin now.
pub fn check(earlier: &[Time], now: Time, settings: &BoundarySettings) -> Result<(), Spent> {
    let hour = Duration::hours(1);
    let mut within: Vec<Time> = past(earlier, now).filter(|t| now - *t < hour).collect();
    within.sort();
    let allowed = settings.max_per_hour as usize;
    if within.len() >= allowed {
        let oldest =
            within.get(within.len().saturating_sub(allowed.max(1))).copied().unwrap_or(now);
        return Err(Spent {
            until: oldest + hour,
            why: format!(
                "this job had {} in the last hour; `{LIMIT}` allows {allowed}",
                count_with_noun(within.len(), "boundary", "boundaries")
            ),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_and_hour() {
        let now: Time = "2026-01-01T12:00:00Z".parse().unwrap();
        let ago = |minutes: i64| now - Duration::minutes(minutes);
        let settings = BoundarySettings { max_per_hour: 2, ..BoundarySettings::default() };
        assert_eq!(check(&[], now, &settings), Ok(()));
        assert_eq!(not_before(&[ago(1)], now, &settings), Some(ago(-1)));
        assert_eq!(not_before(&[ago(2), ago(-9)], now, &settings), None);
        assert_eq!(check(&[ago(5), ago(50), ago(70)], now, &settings).unwrap_err().until, ago(-10));
        assert_eq!(check(&[ago(5), ago(61), ago(70)], now, &settings), Ok(()));
        assert_eq!(
            check(&[ago(-600), ago(-600_000)], now, &settings),
            Ok(()),
            "the clock was set back"
        );
    }
}
