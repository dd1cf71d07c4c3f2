//! Times as people write them: in any zone, as a round, or as how long ago.

use chrono::{DateTime, Days, Duration, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime};
use serde::{Deserialize, Serialize};

use crate::clock::Time;

/// A time that somebody wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The time. Without a zone it was read as UTC.
    pub at: Time,
    /// Whether a zone was written. If not, tell the user that UTC was assumed.
    pub zoned: bool,
    /// Whether it was a date only: [`Moment::at`] is its first moment.
    pub day: bool,
}

impl Moment {
    /// The end of a span that ends at this moment: a date counts as the whole day.
    pub fn end(self) -> Time {
        let next = self.day.then(|| self.at.checked_add_days(Days::new(1))).flatten();
        next.unwrap_or(self.at)
    }
}

/// Where to cut a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// At a time.
    At(Moment),
    /// Where a round begins.
    Round(u32),
}

impl From<Time> for When {
    fn from(at: Time) -> Self {
        Self::At(Moment { at, zoned: true, day: false })
    }
}

/// Why a text is not a [`When`]. The message says what to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWhen {
    /// It begins like a round.
    #[error("{0:?} is not a round; write round:16 (the first round is 1)")]
    Round(String),
    /// It is before the earliest time that can be represented.
    #[error("{0:?} is too long ago")]
    TooLongAgo(String),
    /// It has any other form.
    #[error(
        "{0:?} is not a time; write 2026-03-19T10:23Z, 2026-03-19T11:23+01:00, 2026-03-19, \
         round:16, or how long ago: 2h, 3d"
    )]
    Time(String),
}

/// Reads a time (`parse_time`), a round (`round:16`), or how long ago (`2h`, `1d 6h`, `90m ago`).
pub fn parse(text: &str, now: Time) -> Result<When, InvalidWhen> {
    let text = text.trim();
    if let Some(round) = text.strip_prefix("round").map(|r| r.trim_start_matches([':', ' ', '='])) {
        let seq = round.parse::<u32>().ok().filter(|seq| *seq > 0);
        return seq.map(When::Round).ok_or_else(|| InvalidWhen::Round(text.to_owned()));
    }
    if let Some(ago) = duration(text.strip_suffix("ago").unwrap_or(text)) {
        let at = now.checked_sub_signed(ago);
        return at.map(When::from).ok_or_else(|| InvalidWhen::TooLongAgo(text.to_owned()));
    }
    time(text).map(When::At)
}

/// Reads a date (`2026-03-19`) or a time (`2026-03-19T10:23`, with seconds and a space for the `T`
/// allowed). The zone is `Z`, `UTC` or an offset (`+01:00`); without one it is UTC.
pub fn time(text: &str) -> Result<Moment, InvalidWhen> {
    let text = text.trim();
    match find(text) {
        Some(Found { start: 0, end, moment: Some(moment) }) if end == text.len() => Ok(moment),
        _ => Err(InvalidWhen::Time(text.to_owned())),
    }
}

/// A part of a text that starts like a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Its time; `None` if there is no such time.
    pub moment: Option<Moment>,
}

/// Finds the first part of a text that starts like a date (`2026-03-`).
pub fn find(text: &str) -> Option<Found> {
    let bytes = text.as_bytes();
    let digits = |at: usize, n: usize| {
        bytes.get(at..at + n).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let begins = |at: &usize| {
        let fresh = *at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        fresh && digits(*at, 4) && bytes.get(at + 4) == Some(&b'-') && digits(at + 5, 1)
    };
    let start = (0..bytes.len()).find(begins)?;
    let (length, moment) = read(&text[start..]);
    Some(Found { start, end: start + length, moment })
}

/// Reads the time at the start of a text; returns its length and its value.
fn read(text: &str) -> (usize, Option<Moment>) {
    let day_length = run(text, |c| c.is_ascii_digit() || c == '-');
    let day = NaiveDate::parse_from_str(&text[..day_length], "%Y-%m-%d").ok();
    let mut length = day_length;
    let rest = &text[length..];
    let clock =
        rest.strip_prefix(['T', 't', ' ']).filter(|r| r.starts_with(|c: char| c.is_ascii_digit()));
    let mut clock_time = None;
    if let Some(clock) = clock {
        let clock_length = run(clock, |c| c.is_ascii_digit() || matches!(c, ':' | '.'));
        // A full stop ends the sentence and does not belong to the time.
        let written = clock[..clock_length].trim_end_matches(['.', ':']);
        // A bare number after a space need not be a time.
        if written.contains(':') || !rest.starts_with(' ') {
            let formats = ["%H:%M:%S%.f", "%H:%M"];
            let parsed = formats.iter().find_map(|f| NaiveTime::parse_from_str(written, f).ok());
            clock_time = Some(parsed);
            length += 1 + written.len();
        }
    }
    let zone = if clock_time.is_some() { zone(&text[length..]) } else { None };
    length += zone.map_or(0, |(written, _)| written);
    let moment = day.zip(clock_time.unwrap_or(Some(NaiveTime::MIN))).and_then(|(day, clock)| {
        let offset = zone.map_or(FixedOffset::east_opt(0), |(_, offset)| offset)?;
        let at: DateTime<FixedOffset> =
            NaiveDateTime::new(day, clock).and_local_timezone(offset).single()?;
        Some(Moment { at: at.to_utc(), zoned: zone.is_some(), day: clock_time.is_none() })
    });
    (length, moment)
}

/// Reads the zone at the start of a text; returns its length, and its offset if that is valid.
fn zone(text: &str) -> Option<(usize, Option<FixedOffset>)> {
    let trimmed = text.strip_prefix(' ').unwrap_or(text);
    let blank = text.len() - trimmed.len();
    for name in ["Z", "z", "UTC", "GMT"] {
        let behind = trimmed.strip_prefix(name);
        if behind.is_some_and(|b| !b.starts_with(|c: char| c.is_ascii_alphanumeric())) {
            return Some((blank + name.len(), FixedOffset::east_opt(0)));
        }
    }
    let west = trimmed.starts_with('-');
    let written = trimmed.strip_prefix(['+', '-'])?;
    let length = run(written, |c| c.is_ascii_digit() || c == ':');
    // `10:00-2026-03-20` is two times.
    let digits: String = written[..length].chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = match digits.len() {
        _ if written[length..].starts_with('-') => return None,
        2 => (digits.as_str(), "0"),
        4 => digits.split_at(2),
        _ => return None,
    };
    let minutes = minutes.parse::<i32>().ok().filter(|m| *m < 60);
    let east = hours.parse::<i32>().ok().zip(minutes).map(|(h, m)| (h * 60 + m) * 60);
    let offset = east.and_then(|s| FixedOffset::east_opt(if west { -s } else { s }));
    Some((blank + 1 + length, offset))
}

fn run(text: &str, counts: impl Fn(char) -> bool) -> usize {
    text.find(|c| !counts(c)).unwrap_or(text.len())
}

/// Reads a duration in one or more units: `90s`, `30m`, `2 hours`, `1d 12h`, `2w`. `None` if it is
/// not one, or too long to count.
pub fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut sum = Duration::zero();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = run(rest, |c| c.is_ascii_digit());
        let number: i64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].trim_start();
        let letters = run(unit, |c| c.is_ascii_alphabetic());
        let part = match &unit[..letters] {
            "s" | "sec" | "second" | "seconds" => Duration::try_seconds(number),
            "m" | "min" | "minute" | "minutes" => Duration::try_minutes(number),
            "h" | "hour" | "hours" => Duration::try_hours(number),
            "d" | "day" | "days" => Duration::try_days(number),
            "w" | "week" | "weeks" => Duration::try_weeks(number),
            _ => None,
        };
        sum = sum.checked_add(&part?)?;
        rest = unit[letters..].trim_start();
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        time(text).unwrap().at
    }

    #[test]
    fn times_in_any_zone_are_one_time() {
        let utc = DateTime::parse_from_rfc3339("2026-03-19T10:23:00Z").unwrap().to_utc();
        for text in [
            "2026-03-19T10:23Z",
            "2026-03-19T10:23:00.000Z",
            "2026-03-19 10:23",
            " 2026-03-19t10:23:00 ",
            "2026-03-19T11:23+01:00",
            "2026-03-19 11:23 +0100",
            "2026-03-19T05:23-05",
            "2026-03-19T15:53:00+05:30",
            "2026-03-19 10:23 UTC",
        ] {
            assert_eq!(time(text).map(|m| m.at), Ok(utc), "{text}");
        }
        assert!(time("2026-03-19T10:23+00:00").unwrap().zoned);
        assert!(!time("2026-03-19T10:23").unwrap().zoned);
        let day = time("2026-03-19").unwrap();
        assert_eq!((day.at, day.end()), (at("2026-03-19T00:00Z"), at("2026-03-20T00:00Z")));
        assert_eq!(at("2026-03-19T10:23:45.678Z").timestamp_subsec_millis(), 678);
    }

    #[test]
    fn what_is_no_time_is_said_to_be_none() {
        for text in [
            "",
            "yesterday",
            "2026-02-30",
            "2026-3-",
            "2026-03-19T25:00Z",
            "2026-03-19T10",
            "2026-03-19T10:23 CET",
            "2026-03-19T10:23+25:00",
            "2026-03-19T10:23+01:75",
            "2026-03-19T10:23Z later",
            "19.3.2026",
            "10:23",
        ] {
            let error = time(text).unwrap_err();
            assert_eq!(error, InvalidWhen::Time(text.to_owned()));
            let shown = format!("{text:?} is not a time; write 2026-03-19T10:23Z, ");
            assert!(error.to_string().starts_with(&shown), "{error}");
        }
    }

    #[test]
    fn rounds_and_how_long_ago() {
        let now = at("2026-03-20T12:00Z");
        let before = |text: &str| match parse(text, now).unwrap() {
            When::At(moment) => moment.at,
            When::Round(_) => panic!("a round"),
        };
        assert_eq!(before("2h"), at("2026-03-20T10:00Z"));
        assert_eq!(before("1d 6h ago"), at("2026-03-19T06:00Z"));
        assert_eq!(before("90 minutes ago"), at("2026-03-20T10:30Z"));
        assert_eq!(before("1w"), at("2026-03-13T12:00Z"));
        assert_eq!(before("2026-03-19"), at("2026-03-19"));
        assert_eq!(parse("round:16", now), Ok(When::Round(16)));
        assert_eq!(parse("round 016", now), Ok(When::Round(16)));
        for text in ["round:", "round:0", "round:x", "2x", "h", "ago", "99999999999999w", "16"] {
            assert!(parse(text, now).is_err(), "{text}");
        }
        assert_eq!(parse("999999999d", now), Err(InvalidWhen::TooLongAgo("999999999d".to_owned())));
    }

    #[test]
    fn a_time_is_found_in_a_text() {
        let found = |text: &'static str| {
            let found = find(text).unwrap();
            (&text[found.start..found.end], found.moment.is_some())
        };
        assert_eq!(found("design: 2026-03-19 10:00 → 2026-03-20"), ("2026-03-19 10:00", true));
        assert_eq!(found("2026-03-19 10:00-2026-03-20"), ("2026-03-19 10:00", true));
        assert_eq!(found("on 2026-03-19."), ("2026-03-19", true));
        assert_eq!(found("2026-03-19 3 rounds"), ("2026-03-19", true));
        assert_eq!(found("2026-13-19 x"), ("2026-13-19", false));
        assert_eq!(found("(2026-03-19T10:00Z – 2026-03-20)"), ("2026-03-19T10:00Z", true));
        assert_eq!(find("v2026-03-19 and 12026-03"), None);
    }
}
