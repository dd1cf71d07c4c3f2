//! Formats numbers, sizes, token counts and times for people, and words for a shell.

use chrono::{Local, TimeDelta};

use super::clock::Time;

/// A number with thousands grouped: `12,345`.
pub fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number with its noun: `1 file`, `2 files`.
pub fn count_with_noun(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Bytes: `830 B`, `1.2 KB`, `4.0 MB`, `1.25 GB`.
pub fn size(bytes: u64) -> String {
    let bytes_as = |unit: f64| bytes as f64 / unit;
    match bytes {
        0..=999 => format!("{bytes} B"),
        1_000..=999_949 => format!("{:.1} KB", bytes_as(1e3)),
        999_950..=999_949_999 => format!("{:.1} MB", bytes_as(1e6)),
        _ => format!("{:.2} GB", bytes_as(1e9)),
    }
}

/// Tokens: `830`, `9.9k`, `96k`, `1.2M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..=999 => count.to_string(),
        1_000..=9_949 => format!("{:.1}k", count as f64 / 1e3),
        9_950..=999_499 => format!("{:.0}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// A percentage with one digit, rounded down: a tier begins at its full percent.
pub fn tenths(percent: f64) -> f64 {
    (percent * 10.0).floor() / 10.0
}

/// How long ago something was, in one unit: `20 s`, `5 min`, `3 h`, `1 day`, `4 days`.
pub fn age(passed: TimeDelta) -> String {
    match passed.num_seconds().max(0) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h", seconds / 3_600),
        seconds @ 86_400..172_800 => format!("{} day", seconds / 86_400),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// How long until something, rounded up: `35 s`, `10 min`.
pub fn remaining(left: TimeDelta) -> String {
    let seconds = (left.num_milliseconds().max(0) + 999) / 1_000;
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min", (seconds + 59) / 60) }
}

/// A length of time in its two largest units: `8.0 s`, `3 min 20 s`, `2 h 5 min`, `1 d 4 h`.
pub fn format_duration(time: TimeDelta) -> String {
    let s = time.num_seconds().max(0);
    match (s / 86_400, s / 3_600 % 24, s / 60 % 60, s % 60) {
        (0, 0, 0, _) => format!("{:.1} s", (time.num_milliseconds() as f64 / 1e3).max(0.0)),
        (0, 0, m, s) => format!("{m} min {s} s"),
        (0, h, m, _) => format!("{h} h {m} min"),
        (d, h, _, _) => format!("{d} d {h} h"),
    }
}

/// Quotes a word for a POSIX shell, if it needs quotes.
pub fn shell_quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A time less than twelve hours away as `20:14:05`, another one with its date; by the user's clock.
pub fn clock_time(at: Time, now: Time) -> String {
    let is_near = (at - now).abs() < TimeDelta::hours(12);
    at.with_timezone(&Local)
        .format(if is_near { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" })
        .to_string()
}

/// A time by the user's clock, with its zone: `2026-03-19T11:23+01:00`, or `…Z` in UTC. `format` is
/// chrono's.
pub fn local_time(at: Time, format: &str) -> String {
    let at = at.with_timezone(&Local);
    let zone = at.format("%:z").to_string();
    format!("{}{}", at.format(format), if zone == "+00:00" { "Z" } else { &zone })
}

/// The same to the minute; `-` if the time is not known.
pub fn local_minute(time: Option<Time>) -> String {
    time.map_or_else(|| "-".to_owned(), |at| local_time(at, "%Y-%m-%dT%H:%M"))
}

/// A UTC date and time to the minute, for what is written into sessions; `-` if it is not known.
pub fn format_minute(time: Option<Time>) -> String {
    time.map_or_else(|| "-".to_owned(), |t| t.format("%Y-%m-%dT%H:%MZ").to_string())
}

/// When the tokens saved outweigh the prompt cache that has to be built again.
pub fn breaks_even(requests: u64) -> String {
    match requests {
        0 => "saves at once".to_owned(),
        1 => "breaks even after 1 request".to_owned(),
        _ => format!("breaks even after {} requests", group_thousands(requests)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_said_only_of_a_time_that_is_far() {
        let now: Time = "2026-03-19T23:50:00Z".parse().unwrap();
        assert_eq!(clock_time(now + TimeDelta::minutes(30), now), "00:20:00");
        assert_eq!(clock_time(now + TimeDelta::hours(13), now), "2026-03-20 12:50:00");
    }

    #[test]
    fn what_is_left_is_rounded_up() {
        let said = |ms| remaining(TimeDelta::milliseconds(ms));
        assert_eq!([said(-5), said(34_001), said(599_900)], ["0 s", "35 s", "10 min"]);
    }

    #[test]
    fn sizes_and_tokens_change_their_unit_where_they_would_be_rounded_up() {
        let sizes = [(999, "999 B"), (1_000, "1.0 KB"), (999_949, "999.9 KB"), (999_950, "1.0 MB")];
        for (bytes, told) in sizes.into_iter().chain([(2_500_000_000, "2.50 GB")]) {
            assert_eq!(size(bytes), told);
        }
        let counts = [(830, "830"), (9_949, "9.9k"), (9_950, "10k"), (999_500, "1.0M")];
        for (count, told) in counts {
            assert_eq!(tokens(count), told);
        }
        assert_eq!(
            [group_thousands(7), group_thousands(1_234), group_thousands(1_234_567)],
            ["7", "1,234", "1,234,567"]
        );
        assert_eq!(
            [count_with_noun(1, "file", "files"), count_with_noun(0, "file", "files")],
            ["1 file", "0 files"]
        );
    }

    #[test]
    fn times_are_told_in_their_largest_units() {
        for (minutes, told) in [
            (-3, "0 s"),
            (1, "60 s"),
            (59, "59 min"),
            (61, "1 h"),
            (1_500, "1 day"),
            (4_400, "3 days"),
        ] {
            assert_eq!(age(TimeDelta::minutes(minutes)), told);
        }
        for (seconds, told) in
            [(8, "8.0 s"), (200, "3 min 20 s"), (7_500, "2 h 5 min"), (100_800, "1 d 4 h")]
        {
            assert_eq!(format_duration(TimeDelta::seconds(seconds)), told);
        }
    }

    #[test]
    fn words_for_a_shell() {
        for (text, told) in
            [("a/b-c", "a/b-c"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'")]
        {
            assert_eq!(shell_quote(text), told);
        }
    }
}
