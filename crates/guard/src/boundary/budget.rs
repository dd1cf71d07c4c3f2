//! How often a job may cross: nothing in the client brakes a loop of clears
//! (seen with client 2.1.329), so we do.

use chrono::Duration;

use super::BoundarySettings;
use base::clock::Time;

/// A spent budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// When the next boundary may be.
    pub until: Time,
    /// Why not now.
    pub why: String,
}

/// Whether a boundary may begin now, by the times of the job's earlier ones.
///
/// # Errors
/// What spent it and until when.
pub fn check(earlier: &[Time], now: Time, settings: &BoundarySettings) -> Result<(), Spent> {
    let interval = Duration::seconds(settings.min_interval_seconds.min(86_400) as i64);
    // A time still to come was written by a clock that was wrong then, and tells nothing.
    let past = || earlier.iter().filter(|at| **at <= now);
    if let Some(last) = past().max()
        && now - *last < interval
    {
        return Err(Spent {
            until: *last + interval,
            why: format!(
                "the last boundary of this job was {} s ago and boundary.min_interval_seconds is {}",
                (now - *last).num_seconds().max(0),
                settings.min_interval_seconds
            ),
        });
    }
    let hour = Duration::hours(1);
    let mut within: Vec<Time> = past().copied().filter(|t| now - *t < hour).collect();
    within.sort();
    let allowed = settings.max_per_hour as usize;
    if within.len() >= allowed {
        let oldest =
            within.get(within.len().saturating_sub(allowed.max(1))).copied().unwrap_or(now);
        return Err(Spent {
            until: oldest + hour,
            why: format!(
                "this job crossed {} boundaries within an hour and boundary.max_per_hour is {allowed}",
                within.len()
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
        assert_eq!(check(&[ago(1)], now, &settings).unwrap_err().until, ago(-1));
        assert_eq!(check(&[ago(5), ago(50), ago(70)], now, &settings).unwrap_err().until, ago(-10));
        assert_eq!(check(&[ago(5), ago(61), ago(70)], now, &settings), Ok(()));
        assert_eq!(
            check(&[ago(-600), ago(-600_000)], now, &settings),
            Ok(()),
            "the clock was set back"
        );
    }
}
