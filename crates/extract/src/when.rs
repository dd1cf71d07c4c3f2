//! Whether an extraction is worth it: an edit loses the prompt cache after it and rewrites the
//! file. It must save enough, and the cache must have expired or the edit break even within a
//! number of turns.

use chrono::Duration;

use base::clock::Time;
use sessions::cost::{self, Cache, Lifetime};
use sessions::settings::{Acts, ExtractSettings};

/// What is known about a session when it is scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// When its last row was written, if that is known.
    pub last: Option<Time>,
    /// How many values are extracted.
    pub values: u64,
    /// Bytes that leave the file.
    pub bytes: u64,
    /// Tokens of the context after the first change.
    pub behind: u64,
    /// Tokens that leave the context.
    pub saved: u64,
    /// The prompt cache, by the last response.
    pub cache: Cache,
}

/// Why the watcher extracts, or waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The cache has expired.
    Cold,
    /// It breaks even within that many turns.
    Pays(u32),
    /// It would break even only after that many turns; `None`: never.
    Waits(Option<u32>),
    /// Nothing in the context changes, and neither does the cache.
    Nothing,
    /// It saves too little to write a file.
    Little,
    /// The settings say: at every scan.
    Interval,
}

/// Turns after which the edit breaks even; `None`: never.
pub fn break_even(look: &Look) -> Option<u32> {
    let turns = cost::break_even(look.behind, look.saved, look.cache)?;
    Some(u32::try_from(turns).unwrap_or(u32::MAX))
}

/// Whether the saving is too little to write a file, unless the settings say: at every scan.
pub fn saves_too_little(look: &Look, settings: &ExtractSettings) -> bool {
    settings.when != Acts::Interval && look.values > 0 && look.bytes < settings.fixed.min_saving
}

/// Whether to extract now.
pub fn verdict(look: &Look, settings: &ExtractSettings, now: Time) -> Verdict {
    if saves_too_little(look, settings) {
        return Verdict::Little;
    }
    if look.saved == 0 && look.behind == 0 {
        return Verdict::Nothing;
    }
    if settings.when == Acts::Interval {
        return Verdict::Interval;
    }
    if cold(look, settings, now) {
        return Verdict::Cold;
    }
    match break_even(look) {
        Some(turns) if turns <= settings.fixed.break_even_turns => Verdict::Pays(turns),
        waits => Verdict::Waits(waits),
    }
}

/// Whether the prompt cache has expired.
pub fn cold(look: &Look, settings: &ExtractSettings, now: Time) -> bool {
    let lives = i64::try_from(settings.fixed.cache_seconds).ok().and_then(Duration::try_seconds);
    // The setting is for sessions whose rows do not say it.
    let lives = lives.map(|lives| match look.cache.lifetime {
        Lifetime::Hour => lives.max(Lifetime::Hour.time()),
        Lifetime::Minutes => lives,
    });
    // If the time is unknown, assume a warm cache. A time further ahead than one lifetime comes
    // from a wrong clock: do not wait for that cache.
    let cold = |age: Duration, lives: Duration| age >= lives || -age > lives;
    look.last.is_some_and(|last| lives.is_some_and(|lives| cold(now - last, lives)))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use sessions::settings::Fixed;

    use super::*;

    fn fixed(fixed: Fixed) -> ExtractSettings {
        ExtractSettings { fixed, ..ExtractSettings::default() }
    }

    fn at(seconds: i64) -> Time {
        DateTime::from_timestamp(1_771_581_600 + seconds, 0).unwrap()
    }

    #[test]
    fn an_edit_pays_after_a_number_of_turns() {
        let turns = |behind, saved| break_even(&of(behind, saved));
        assert_eq!(turns(80_000, 40_000), Some(12));
        assert_eq!(turns(100_000, 10_000), Some(104));
        assert_eq!(turns(100, 100), Some(0));
        assert_eq!(turns(0, 100), Some(0), "counted a little differently");
        assert_eq!(turns(100, 0), None);
        assert_eq!(turns(u64::MAX, 1), Some(u32::MAX));
        let hour = Look { cache: lives(Lifetime::Hour), ..of(80_000, 40_000) };
        assert_eq!(break_even(&hour), Some(19));
    }

    #[test]
    fn a_cache_of_an_hour_is_warm_for_an_hour() {
        let settings = ExtractSettings::default();
        let look = |ago: i64, lifetime| {
            let look = Look { last: Some(at(-ago)), cache: lives(lifetime), ..of(80_000, 40_000) };
            cold(&look, &settings, at(0))
        };
        assert!(look(300, Lifetime::Minutes) && !look(3_599, Lifetime::Hour));
        assert!(look(3_600, Lifetime::Hour));
    }

    fn lives(lifetime: Lifetime) -> Cache {
        Cache { lifetime, ..Cache::default() }
    }

    fn nothing() -> Look {
        let cache = Cache::default();
        Look { last: None, values: 0, bytes: 0, behind: 0, saved: 0, cache }
    }

    /// Enough values, with an unknown time of the last row.
    fn of(behind: u64, saved: u64) -> Look {
        Look { behind, saved, values: 9, bytes: 90_000, ..nothing() }
    }

    #[test]
    fn little_is_not_worth_a_file_written_anew() {
        let settings = fixed(Fixed { min_saving: 5_000, ..Fixed::default() });
        let look = |bytes| Look { last: Some(at(-900)), bytes, ..of(80_000, 1_250) };
        assert_eq!(verdict(&look(4_999), &settings, at(0)), Verdict::Little);
        assert_eq!(verdict(&look(5_000), &settings, at(0)), Verdict::Cold);
        let file_only = Look { behind: 0, saved: 0, ..look(4_999) };
        assert_eq!(verdict(&file_only, &settings, at(0)), Verdict::Little);
        let often = ExtractSettings { when: Acts::Interval, ..settings.clone() };
        assert_eq!(verdict(&look(4_999), &often, at(0)), Verdict::Interval);
        let none = nothing();
        assert_eq!(verdict(&none, &settings, at(0)), Verdict::Nothing);
        let any = fixed(Fixed { min_saving: 0, ..Fixed::default() });
        assert_eq!(verdict(&look(0), &any, at(0)), Verdict::Cold);
    }

    #[test]
    fn it_acts_when_the_cache_is_cold_or_when_it_pays() {
        let settings = ExtractSettings::default();
        let look = |ago: i64, behind, saved| Look { last: Some(at(-ago)), ..of(behind, saved) };
        let verdict = |look: Look| verdict(&look, &settings, at(0));
        assert_eq!(verdict(look(300, 1_000, 1)), Verdict::Cold, "at that second");
        assert_eq!(verdict(look(299, 80_000, 40_000)), Verdict::Waits(Some(12)));
        assert_eq!(verdict(look(299, 80_000, 50_000)), Verdict::Pays(7));
        assert_eq!(
            verdict(look(-60, 80_000, 40_000)),
            Verdict::Waits(Some(12)),
            "a clock is wrong"
        );
        assert_eq!(verdict(look(-300, 80_000, 40_000)), Verdict::Waits(Some(12)));
        assert_eq!(verdict(look(-301, 80_000, 40_000)), Verdict::Cold, "a clock is very wrong");
        assert_eq!(verdict(look(10, 80_000, 0)), Verdict::Waits(None));
        assert_eq!(verdict(look(900, 0, 0)), Verdict::Nothing);
        assert_eq!(verdict(of(9, 1)), Verdict::Waits(Some(92)), "nobody knows when");
        assert_eq!(verdict(of(9, 9)), Verdict::Pays(0));
    }

    #[test]
    fn at_every_look_where_the_settings_say_so() {
        let settings = ExtractSettings { when: Acts::Interval, ..ExtractSettings::default() };
        let look = of(80_000, 1);
        assert_eq!(verdict(&look, &settings, at(1)), Verdict::Interval);
        let nothing = of(0, 0);
        assert_eq!(verdict(&nothing, &settings, at(1)), Verdict::Nothing);
    }

    /// An extraction that breaks even after 12 turns needs a setting of at least 12.
    #[test]
    fn the_number_of_turns_is_the_settings() {
        let look = Look { last: Some(at(0)), ..of(80_000, 40_000) };
        for (turns, pays) in [(11, false), (12, true), (u32::MAX, true)] {
            let settings = fixed(Fixed { break_even_turns: turns, ..Fixed::default() });
            let verdict = verdict(&look, &settings, at(1));
            assert_eq!(verdict == Verdict::Pays(12), pays, "{turns}");
        }
    }
}
