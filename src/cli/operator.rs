//! The verbs for the operator only: lift the guard, start or delay a boundary.

use base::when;
use chrono::Duration;
use clap::Args;

use super::SessionSelector;

/// Reads `90s`, `30m`, `1h 30m`; a bare number is minutes.
///
/// # Errors
/// No such time, or one that is not between a second and seven days.
pub fn duration(text: &str) -> Result<Duration, String> {
    let minutes = text.parse().ok().and_then(Duration::try_minutes);
    let Some(duration) = minutes.or_else(|| when::duration(text)) else {
        return Err("write 90s, 30m, 2h or 1d; a bare number is minutes".to_owned());
    };
    if !(Duration::seconds(1)..=Duration::days(7)).contains(&duration) {
        return Err("out of range: from 1s to seven days (7d)".to_owned());
    }
    Ok(duration)
}

/// For how long the guard is off.
#[derive(Debug, Clone, Default, Args)]
#[group(required = true, multiple = false)]
pub struct OverrideSpan {
    /// A time: 90s, 30m, 2h; a bare number is minutes
    #[arg(value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// A number of tool calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub calls: Option<u64>,
    /// Until the session is cleared
    #[arg(long)]
    pub until_clear: bool,
    /// End it now
    #[arg(long)]
    pub off: bool,
}

/// In which session the guard is off, and for how long.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  brain-guard override 30m\n  brain-guard override --calls 20\n  brain-guard override --until-clear\n  brain-guard override --off\nAt the client's prompt: /brain-guard:override 30m"
)]
pub struct OverrideArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// For how long
    #[command(flatten)]
    pub span: OverrideSpan,
}

/// Which session's boundary to start.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  brain-guard now\nAt the client's prompt: /brain-guard:now")]
pub struct NowArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
}

/// Which session to keep, and for how long.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Example:\n  brain-guard later 1h\nAt the client's prompt: /brain-guard:later 1h"
)]
pub struct LaterArgs {
    /// Which session
    #[command(flatten)]
    pub selector: SessionSelector,
    /// For how long: 90s, 30m, 2h; a bare number is minutes [default: 30m]
    #[arg(value_parser = duration)]
    pub time: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("90s").unwrap(), Duration::seconds(90));
        assert_eq!(duration("30m").unwrap(), Duration::minutes(30));
        assert_eq!(duration("2h").unwrap(), Duration::hours(2));
        assert_eq!(duration("5").unwrap(), Duration::minutes(5));
        assert_eq!(duration("1h 30m").unwrap(), Duration::minutes(90));
        for bad in ["", "m", "-5m", "0s", "9999h", "8d", "99999999999999999999h", "5µ"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
