//! What an edit of the history saves, and when it breaks even. An edit invalidates the prompt cache
//! from there on: the next request writes that part again, which costs more than reading it.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::{model, span};
use base::clock::Time;

/// How long the session's prompt cache lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Lifetime {
    /// Five minutes, the API's default.
    #[default]
    #[serde(rename = "5m")]
    Minutes,
    /// An hour.
    #[serde(rename = "1h")]
    Hour,
}

impl Lifetime {
    /// The lifetime as a duration.
    pub fn time(self) -> TimeDelta {
        match self {
            Self::Minutes => TimeDelta::minutes(5),
            Self::Hour => TimeDelta::hours(1),
        }
    }

    /// Price of a cache write, relative to plain input.
    fn write(self) -> f64 {
        match self {
            Self::Minutes => 1.25,
            Self::Hour => 2.0,
        }
    }

    /// The lifetime that a response asked for, by its row; `None` if the row does not say.
    pub fn of_row(line: &[u8]) -> Option<Self> {
        let message = span::find(line, "message")?;
        let usage = span::find(message, "usage").filter(|json| json.starts_with(b"{"))?;
        let written = |name| {
            let json = span::find(span::find(usage, "cache_creation")?, name)?;
            str::from_utf8(json).ok()?.parse().ok().filter(|tokens: &u64| *tokens > 0)
        };
        if written("ephemeral_1h_input_tokens").is_some() {
            return Some(Self::Hour);
        }
        if written("ephemeral_5m_input_tokens").is_some() {
            return Some(Self::Minutes);
        }
        // A response that only read from the cache wrote nothing.
        match span::find(line, "promptCacheRequested")? {
            b"\"1h\"" => Some(Self::Hour),
            b"\"5m\"" => Some(Self::Minutes),
            _ => None,
        }
    }

    /// Whether the cache of a session that was last used at `last` has expired.
    pub fn over(self, last: Option<Time>, now: Time) -> bool {
        last.is_none_or(|last| now - last > self.time())
    }
}

/// What is known about the session's prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cache {
    /// How long it lives.
    pub lifetime: Lifetime,
    /// Price of a read, in thousandths of plain input.
    pub read: u16,
}

impl Default for Cache {
    fn default() -> Self {
        Self { lifetime: Lifetime::default(), read: model::READ }
    }
}

impl Cache {
    /// By the last rows that say something; `rows` begins with the last one.
    pub fn of_rows<'a>(rows: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        let name = |line| {
            let name = span::find(span::find(line, "message")?, "model")?;
            span::plain(name).filter(|name| *name != model::SYNTHETIC)
        };
        let read = rows.clone().find_map(name).map(model::read_price);
        let lifetime = rows.into_iter().find_map(Lifetime::of_row).unwrap_or_default();
        Self { lifetime, read: read.unwrap_or(model::READ) }
    }
}

/// What an operation costs and frees, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Tokens in the context beside rounds (system prompt, tools), if they are known. `before` and
    /// `after` include them.
    pub base: Option<u64>,
    /// Tokens in the context of the source; of several sources, of the largest.
    pub before: u64,
    /// Tokens in the context of the successor.
    pub after: u64,
    /// The part of `before` after the first change: it is no longer in the cache.
    pub behind: u64,
    /// The prompt cache.
    pub cache: Cache,
    /// Whether the cache has expired anyway.
    pub cold: bool,
}

impl Cost {
    /// Tokens that are no longer in the context.
    pub fn freed(&self) -> u64 {
        self.before.saturating_sub(self.after)
    }

    /// After how many requests the edit breaks even; 0 if the cache has expired anyway.
    pub fn pays_after(&self) -> Option<u64> {
        let behind = if self.cold { 0 } else { self.behind };
        break_even(behind, self.freed(), self.cache)
    }
}

/// After how many requests the saved tokens outweigh the lost cache; 0: with the first, `None`:
/// never.
///
/// Of T tokens after the edit S are removed; w is the price of a write, r of a read. The first
/// request costs w·(T−S) instead of r·T, each later one r·S less. That breaks even after (w−r)/r ·
/// (T−S)/S requests.
pub fn break_even(behind: u64, freed: u64, cache: Cache) -> Option<u64> {
    if freed == 0 {
        return None;
    }
    let left = behind.saturating_sub(freed) as f64;
    let read = f64::from(cache.read) / 1_000.0;
    let price = (cache.lifetime.write() - read) / read;
    Some((price * left / freed as f64).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cost(before: u64, after: u64, behind: u64) -> Cost {
        Cost { base: Some(0), before, after, behind, cache: Cache::default(), cold: false }
    }

    #[test]
    fn half_of_what_lies_behind_pays_after_a_dozen_requests() {
        assert_eq!(cost(100_000, 60_000, 80_000).pays_after(), Some(12), "11.5");
        assert_eq!(cost(412_000, 96_000, 412_000).pays_after(), Some(4), "3.5");
        assert_eq!(cost(100, 100, 100).pays_after(), None, "nothing is freed");
        assert_eq!(cost(100, 120, 100).pays_after(), None, "it grows");
        assert_eq!(cost(100, 50, 50).pays_after(), Some(0), "nothing is left behind the edit");
        let of = |lifetime, read| {
            let cache = Cache { lifetime, read };
            Cost { cache, ..cost(100_000, 60_000, 80_000) }
        };
        let hour = of(Lifetime::Hour, 100);
        assert_eq!(hour.pays_after(), Some(19));
        assert_eq!(Cost { cold: true, ..hour }.pays_after(), Some(0));
        assert_eq!(of(Lifetime::Minutes, 25).pays_after(), Some(49), "what is cheap to read stays");
    }

    #[test]
    fn a_cache_lives_as_long_as_the_rows_say() {
        let now: Time = "2026-03-19T10:00:00Z".parse().unwrap();
        let ago = |minutes| Some(now - TimeDelta::minutes(minutes));
        assert!(!Lifetime::Minutes.over(ago(5), now) && Lifetime::Minutes.over(ago(6), now));
        assert!(!Lifetime::Hour.over(ago(60), now) && Lifetime::Hour.over(ago(61), now));
        assert!(Lifetime::Hour.over(None, now));
    }

    #[test]
    fn a_response_says_how_long_its_cache_lives() {
        let row = |hour: u32, minutes: u32, more: &str| {
            let line = format!(
                r#"{{"message":{{"role":"assistant","usage":{{"input_tokens":7,"cache_creation":{{"ephemeral_5m_input_tokens":{minutes},"ephemeral_1h_input_tokens":{hour}}}}}}}{more}}}"#
            );
            Lifetime::of_row(line.as_bytes())
        };
        assert_eq!(row(900, 0, ""), Some(Lifetime::Hour));
        assert_eq!(row(0, 900, r#","promptCacheRequested":"1h""#), Some(Lifetime::Minutes));
        assert_eq!(row(0, 0, r#","promptCacheRequested":"1h""#), Some(Lifetime::Hour));
        assert_eq!(row(0, 0, r#","promptCacheRequested":"5m""#), Some(Lifetime::Minutes));
        assert_eq!(row(0, 0, ""), None);
        // The usage of a subagent, in a tool result.
        let result = br#"{"message":{"role":"user"},"toolUseResult":{"usage":{"cache_creation":{"ephemeral_1h_input_tokens":9}}}}"#;
        assert_eq!(Lifetime::of_row(result), None);
    }

    #[test]
    fn the_last_model_says_what_a_read_costs() {
        let row =
            |model: &str| format!(r#"{{"message":{{"model":"{model}","role":"assistant"}}}}"#);
        let rows = ["<synthetic>", "claude-fable-5-1", "claude-opus-4-8"].map(row);
        let read = |from: usize| Cache::of_rows(rows[from..].iter().map(String::as_bytes)).read;
        assert_eq!([read(0), read(2), read(3)], [25, 100, 100]);
    }

    proptest! {
        /// Summed request by request, the edit breaks even where the formula says.
        #[test]
        fn the_formula_is_the_sum(behind in 1_u64..1_000_000, part in 1_u64..1_000) {
            let freed = (behind * part / 1_000).max(1);
            let cost = cost(behind, behind - freed, behind);
            let turns = cost.pays_after().unwrap();
            prop_assume!(turns < 10_000);
            let left = (behind - freed) as f64;
            // What is saved after the lost cache was written again and read n times.
            let saved = |n: u64| n as f64 * 0.1 * freed as f64 - (1.25 - 0.1) * left;
            prop_assert!(saved(turns) >= -1e-6);
            prop_assert!(turns == 0 || saved(turns - 1) < 1e-6);
        }
    }
}
