//! How full something is, and how far to trust the figure. There are two gauges: the context
//! (tokens) and the compaction file (words).

use serde::{Deserialize, Serialize};

use base::clock::Time;

/// Where a reading comes from, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The mod asked the client during this call.
    Mod,
    /// The last main-loop row with usage in the transcript.
    Transcript,
    /// The transcript, with more than 1 % of the limit estimated from later rows.
    Estimated,
    /// Words counted in the file.
    File,
}

impl Source {
    /// The word messages use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mod => "mod",
            Self::Transcript => "transcript",
            Self::Estimated => "estimated",
            Self::File => "file",
        }
    }
}

/// One measurement: `used` of `limit`, in the gauge's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Tokens or words in use.
    pub used: u64,
    /// Tokens or words that count as full.
    pub limit: u64,
    /// Where `used` comes from.
    pub source: Source,
    /// When the figure was true.
    pub at: Time,
}

impl Reading {
    /// How full, in percent of the limit; 0 if the limit is 0.
    pub fn percent(&self) -> f64 {
        if self.limit == 0 { 0.0 } else { self.used as f64 * 100.0 / self.limit as f64 }
    }
}

/// How the window's size became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowSource {
    /// The user's settings say so.
    Settings,
    /// The environment forbids long windows, or the model was requested with one (`[1m]`).
    Environment,
    /// Our table of models, and the client agrees.
    Agreed,
    /// The client says so of a model we know.
    Client,
    /// Our table of models alone.
    Model,
    /// More was used than the believed window holds, so the next larger size counts.
    Observed,
    /// Nothing is known: the smallest window in use.
    Assumed,
}

/// A context window and how sure of it we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Size in tokens.
    pub tokens: u64,
    /// How it became known.
    pub source: WindowSource,
    /// Whether it may be relied on.
    pub certain: bool,
}

/// What is known about the window at one call.
#[derive(Debug, Clone, Copy, Default)]
pub struct WindowFacts<'a> {
    /// `context.window` of the settings.
    pub setting: Option<u64>,
    /// The model's id as the transcript, an event or the mod names it.
    pub model: Option<&'a str>,
    /// The window the client itself reports for this session.
    pub reported: Option<u64>,
    /// `CLAUDE_CODE_DISABLE_1M_CONTEXT` is on.
    pub long_disabled: bool,
    /// A window that turned out larger than believed in this session.
    pub observed: Option<u64>,
    /// Tokens in use.
    pub used: u64,
}

/// The largest window in use. A higher figure is not context usage: it is a sum over many requests,
/// or damage.
pub const LARGEST: u64 = 2_000_000;

/// The smallest window accepted from a client's report: the client keeps 33,000 tokens free and
/// accepts no compaction window below this.
const LEAST_REPORTED: u64 = 100_000;

const SMALL: u64 = 200_000;
const LARGE: u64 = 1_000_000;
const KNOWN_WINDOWS: [u64; 3] = [SMALL, LARGE, LARGEST];

/// A model's id without the mark of its long variant, and whether it had the mark. The client
/// accepts the mark in upper and lower case.
pub fn variant(id: &str) -> (&str, bool) {
    let cut = id.len().saturating_sub("[1m]".len());
    match id.get(cut..) {
        Some(mark) if mark.eq_ignore_ascii_case("[1m]") => (&id[..cut], true),
        _ => (id, false),
    }
}

/// Window by model id, as client 2.1.329 reports it.
fn by_model(id: &str) -> Option<u64> {
    let (name, long) = variant(id);
    let name = name.rsplit(['/', '.']).find(|part| part.starts_with("claude-")).unwrap_or(name);
    let family = |list: &[&str]| {
        list.iter().any(|f| {
            name.strip_prefix(f).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@']))
        })
    };
    if family(&["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-2"])
        || family(&["claude-opus-4-8"])
    {
        Some(LARGE)
    } else if family(&["claude-sonnet-4-6", "claude-sonnet-4-5"]) {
        Some(if long { LARGE } else { SMALL })
    } else {
        None
    }
}

/// Decides the window from what is known. An unknown model gets 200k, because the client reports
/// 1,000,000 for every unknown id.
pub fn window(facts: &WindowFacts) -> Window {
    use WindowSource::{Agreed, Client};
    let believed = believed(facts);
    let observed = facts.observed.filter(|_| !matches!(believed.source, Agreed | Client));
    let least = facts.used.max(observed.unwrap_or(0));
    if least <= believed.tokens {
        return believed;
    }
    let tokens = KNOWN_WINDOWS.into_iter().find(|w| *w >= least).unwrap_or(least);
    Window { tokens, source: WindowSource::Observed, certain: false }
}

fn believed(facts: &WindowFacts) -> Window {
    let known = |tokens, source| Window { tokens, source, certain: true };
    if let Some(tokens) = facts.setting {
        return known(tokens, WindowSource::Settings);
    }
    let reported = facts.reported.filter(|tokens| *tokens >= LEAST_REPORTED);
    match (facts.model.and_then(by_model), reported) {
        (Some(table), Some(reported)) if table == reported => known(table, WindowSource::Agreed),
        (Some(_), Some(reported)) => known(reported, WindowSource::Client),
        (Some(_), None) if facts.long_disabled => known(SMALL, WindowSource::Environment),
        (Some(table), None) => known(table, WindowSource::Model),
        (None, _) if !facts.long_disabled && facts.model.is_some_and(|m| variant(m).1) => {
            Window { tokens: LARGE, source: WindowSource::Environment, certain: false }
        }
        (None, _) => Window { tokens: SMALL, source: WindowSource::Assumed, certain: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(model: Option<&str>, reported: Option<u64>, used: u64) -> Window {
        window(&WindowFacts { model, reported, used, ..WindowFacts::default() })
    }

    #[test]
    fn windows() {
        use WindowSource::{Agreed, Assumed, Client, Environment, Model, Observed};
        for (model, reported, used, tokens, source) in [
            (Some("claude-opus-5-5"), Some(LARGE), 0, LARGE, Agreed),
            (Some("claude-opus-5-5"), Some(SMALL), 0, SMALL, Client),
            (Some("claude-opus-5-5"), None, 0, LARGE, Model),
            (Some("claude-sonnet-4-5-20250929"), None, 0, SMALL, Model),
            (Some("claude-sonnet-4-6[1m]"), None, 0, LARGE, Model),
            (Some("us.anthropic.claude-opus-4-8"), None, 0, LARGE, Model),
            (Some("claude-opus-4-80"), Some(LARGE), 0, SMALL, Assumed),
            (Some("my-model"), Some(LARGE), 0, SMALL, Assumed),
            (Some("my-model"), Some(LARGE), 250_000, LARGE, Observed),
            (Some("claude-opus-5[1m]"), None, 0, LARGE, Environment),
            (None, None, 10, SMALL, Assumed),
            (None, None, 3_000_000, 3_000_000, Observed),
        ] {
            let got = facts(model, reported, used);
            assert_eq!((got.tokens, got.source), (tokens, source), "{model:?} {reported:?} {used}");
        }
    }

    #[test]
    fn nonsense_is_not_believed_and_what_was_seen_is() {
        assert_eq!(facts(Some("claude-opus-5-5"), Some(8_192), 150_000).tokens, LARGE);
        assert_eq!(facts(Some("my-model[1M]"), None, 0).tokens, LARGE);
        let seen = |model, reported| {
            let observed = Some(LARGE);
            window(&WindowFacts { model, reported, observed, used: 9, ..WindowFacts::default() })
        };
        assert_eq!(seen(Some("my-model"), None).source, WindowSource::Observed);
        assert_eq!(seen(Some("my-model"), None).tokens, LARGE);
        assert_eq!(seen(Some("claude-opus-5-5"), Some(SMALL)).tokens, SMALL, "the client knows");
    }

    #[test]
    fn settings_and_environment() {
        let base = WindowFacts { model: Some("claude-opus-5-5"), ..WindowFacts::default() };
        let set = window(&WindowFacts { setting: Some(500_000), ..base });
        assert_eq!((set.tokens, set.certain), (500_000, true));
        let off = window(&WindowFacts { long_disabled: true, ..base });
        assert_eq!(off.tokens, SMALL);
        let asked = WindowFacts { model: Some("my-model[1m]"), long_disabled: true, ..base };
        assert_eq!(window(&asked).tokens, SMALL);
    }

    #[test]
    fn an_empty_limit_reads_empty() {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        let reading = Reading { used: 5, limit: 0, source: Source::File, at };
        assert!(reading.percent().abs() < f64::EPSILON);
    }
}
