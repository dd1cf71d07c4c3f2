//! The limit: tokens at which the client compacts the conversation by itself. At that size the
//! guard counts the context as full. The formula, its sources and their precedence were measured on
//! client 2.1.330.

mod launch;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use sessions::gauge::{self, Window, WindowSource};

pub use launch::{Launch, LaunchSettings};

/// Tokens that the client keeps free below its window.
pub const BUFFER: u64 = 33_000;

/// Tokens that the client keeps free for an answer before it applies a percentage.
const ANSWER: u64 = 20_000;

/// The client raises smaller windows to this one.
pub const LEAST_WINDOW: u64 = 100_000;

/// One of the client's settings files, lowest precedence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// `~/.claude.json`, where older clients keep what `/config` sets.
    Global,
    /// `~/.claude/settings.json`, where `/autocompact` saves as well.
    User,
    /// `.claude/settings.json` of the project.
    Project,
    /// `.claude/settings.local.json` of the project.
    Local,
    /// The file or JSON that `--settings` names.
    CommandLine,
    /// The administrator's settings.
    Managed,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "~/.claude.json",
            Self::User => "your client settings",
            Self::Project => "the project's .claude/settings.json",
            Self::Local => "the project's .claude/settings.local.json",
            Self::CommandLine => "the settings that --settings names",
            Self::Managed => "the managed client settings",
        })
    }
}

/// What decided the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitSource {
    /// The model's window and nothing else.
    Window,
    /// `CLAUDE_CODE_AUTO_COMPACT_WINDOW`.
    WindowVariable,
    /// `CLAUDE_AUTOCOMPACT_PCT_OVERRIDE`.
    PercentVariable,
    /// `--autocompact`.
    Flag,
    /// `autoCompactWindow` in a settings file.
    Settings(Layer),
    /// A variable that turns auto-compact off.
    OffByVariable,
    /// `autoCompactEnabled` is false in a settings file.
    Off(Layer),
    /// The client reports a limit that none of these explains.
    Client,
}

impl fmt::Display for LimitSource {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Window => f.write_str("the model's window"),
            Self::WindowVariable => f.write_str("CLAUDE_CODE_AUTO_COMPACT_WINDOW"),
            Self::PercentVariable => f.write_str("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"),
            Self::Flag => f.write_str("--autocompact"),
            Self::Settings(layer) => write!(f, "autoCompactWindow in {layer}"),
            Self::OffByVariable => f.write_str("auto-compact is off by a variable"),
            Self::Off(layer) => write!(f, "auto-compact is off in {layer}"),
            Self::Client => f.write_str("the client reports it"),
        }
    }
}

/// The limit in tokens, and what decided it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Tokens.
    pub tokens: u64,
    /// What decided it.
    pub source: LimitSource,
}

/// The client's environment variables. Hooks also get those of the settings' `env` blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct AutoCompact {
    /// `DISABLE_AUTO_COMPACT` or `DISABLE_COMPACT` is on.
    pub disabled: bool,
    /// `CLAUDE_CODE_AUTO_COMPACT_WINDOW`, in tokens.
    pub window: Option<u64>,
    /// `CLAUDE_AUTOCOMPACT_PCT_OVERRIDE`, which can only lower the limit.
    pub percent: Option<f64>,
}

/// The value of `--autocompact`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    /// The model's window, whatever the settings say.
    Auto,
    /// A window of this many tokens.
    Window(u64),
}

impl Flag {
    /// Parses the flag's value. Plain numbers from 100 to 1,000 mean thousands.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "auto" {
            return Some(Self::Auto);
        }
        let tokens = match parse_tokens(text)? {
            thousands @ 100..=1_000 => thousands * 1_000,
            tokens => tokens,
        };
        (tokens >= LEAST_WINDOW).then_some(Self::Window(tokens))
    }
}

/// Parses `150000`, `150k` or `1m`, as the client does.
pub fn parse_tokens(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&text[..text.len() - 1], 1_000),
        b'm' => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|tokens| *tokens > 0)
}

/// The auto-compact keys of one client settings file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerSettings {
    /// `autoCompactEnabled`.
    pub enabled: Option<bool>,
    /// `autoCompactWindow`, preferably that of the session's model.
    pub window: Option<u64>,
}

/// The relevant keys of a settings file. The parser skips the others, which may be megabytes.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Keys {
    auto_compact_enabled: Value,
    auto_compact_window: Value,
    model_settings: Value,
}

impl LayerSettings {
    /// Reads them from a settings file; `None` if it is no JSON object. Like the client, it ignores
    /// strings and windows below 100,000.
    pub fn parse(text: &str, model: Option<&str>) -> Option<Self> {
        let keys: Keys = serde_json::from_str(text).ok()?;
        let window = |of: &Value| of.as_u64().filter(|w| *w >= LEAST_WINDOW);
        let of_model = |id: &str| window(&keys.model_settings[id]["autoCompactWindow"]);
        let own = model.and_then(|id| of_model(id).or_else(|| of_model(gauge::variant(id).0)));
        let enabled = keys.auto_compact_enabled.as_bool();
        Some(Self { enabled, window: own.or_else(|| window(&keys.auto_compact_window)) })
    }
}

/// The merged command line and settings files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Configured {
    /// The file that turns auto-compact off.
    pub off: Option<Layer>,
    /// The configured window, and what set it.
    pub window: Option<(u64, LimitSource)>,
}

impl Configured {
    /// Merges the layers by the client's precedence.
    pub fn merge(flag: Option<Flag>, layers: &[(Layer, LayerSettings)]) -> Self {
        let mut layers = layers.to_vec();
        layers.sort_by_key(|(layer, _)| std::cmp::Reverse(*layer));
        let enabled = layers.iter().find_map(|(layer, of)| Some((*layer, of.enabled?)));
        let set = layers.iter().find_map(|(layer, of)| Some((*layer, of.window?)));
        let window = match flag {
            Some(Flag::Auto) => None,
            Some(Flag::Window(tokens)) => Some((tokens, LimitSource::Flag)),
            None => set.map(|(layer, tokens)| (tokens, LimitSource::Settings(layer))),
        };
        Self { off: enabled.filter(|(_, on)| !on).map(|(layer, _)| layer), window }
    }
}

/// The limit as the client reports it to the plugin's module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientLimit {
    /// Tokens at which it compacts, without a percentage; `None` if it never does.
    pub threshold: Option<u64>,
    /// The window that the threshold belongs to.
    pub window: u64,
}

/// All inputs to the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// The client's variables.
    pub environment: AutoCompact,
    /// Its command line and settings files.
    pub configured: Configured,
    /// The client's own report.
    pub client: Option<ClientLimit>,
}

impl Limits {
    /// The limit for a window. The client's report decides if the window comes from the client,
    /// too. If the user set the window, or it is a guess, the smaller figure decides.
    pub fn for_window(&self, window: &Window) -> Limit {
        let own = self.derived(window.tokens);
        let Some(client) = self.client else { return own };
        let Some(threshold) = client.threshold else {
            let source = if self.is_off() { own.source } else { LimitSource::Client };
            return Limit { tokens: window.tokens, source };
        };
        let lowered = self.lowered(client.window);
        let tokens = lowered.map_or(threshold, |lowered| lowered.min(threshold));
        let is_clients = matches!(
            window.source,
            WindowSource::Agreed | WindowSource::Client | WindowSource::Model
        );
        if tokens == own.tokens || (!is_clients && own.tokens < tokens) {
            return own;
        }
        let source = match lowered {
            Some(lowered) if lowered < threshold => LimitSource::PercentVariable,
            _ => LimitSource::Client,
        };
        Limit { tokens, source }
    }

    fn is_off(&self) -> bool {
        self.environment.disabled || self.configured.off.is_some()
    }

    fn derived(&self, window: u64) -> Limit {
        if self.environment.disabled {
            return Limit { tokens: window, source: LimitSource::OffByVariable };
        }
        if let Some(layer) = self.configured.off {
            return Limit { tokens: window, source: LimitSource::Off(layer) };
        }
        let variable = self.environment.window.map(|tokens| (tokens, LimitSource::WindowVariable));
        let (asked, by) =
            variable.or(self.configured.window).unwrap_or((window, LimitSource::Window));
        let (window, source) = match asked.max(LEAST_WINDOW) {
            asked if asked < window => (asked, by),
            _ => (window, LimitSource::Window),
        };
        let threshold = window.saturating_sub(BUFFER).max(1);
        match self.lowered(window).filter(|lowered| *lowered < threshold) {
            Some(tokens) => Limit { tokens, source: LimitSource::PercentVariable },
            None => Limit { tokens: threshold, source },
        }
    }

    /// The limit by the percentage, if one is set.
    fn lowered(&self, window: u64) -> Option<u64> {
        let percent = self.environment.percent.filter(|p| (1.0..=100.0).contains(p))?;
        Some(((window.saturating_sub(ANSWER) as f64 * percent / 100.0) as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: u64 = 1_000_000;

    fn window(tokens: u64, source: WindowSource) -> Window {
        Window { tokens, source, certain: true }
    }

    fn limit(limits: &Limits) -> u64 {
        limits.for_window(&window(LARGE, WindowSource::Agreed)).tokens
    }

    #[test]
    fn variables_move_the_limit_as_measured() {
        let auto = |window, percent| AutoCompact { window, percent, disabled: false };
        for (tokens, environment, expected) in [
            (LARGE, auto(None, None), 967_000),
            (200_000, auto(None, None), 167_000),
            (200_000, AutoCompact { disabled: true, ..AutoCompact::default() }, 200_000),
            (LARGE, auto(Some(150_000), None), 117_000),
            (LARGE, auto(Some(50_000), None), 67_000),
            (LARGE, auto(Some(2_000_000), None), 967_000),
            (LARGE, auto(None, Some(50.0)), 490_000),
            (LARGE, auto(None, Some(99.0)), 967_000),
            (LARGE, auto(None, Some(0.0)), 967_000),
            (LARGE, auto(Some(150_000), Some(50.0)), 65_000),
            (10, auto(None, None), 1),
        ] {
            let limits = Limits { environment, ..Limits::default() };
            let found = limits.for_window(&window(tokens, WindowSource::Agreed));
            assert_eq!(found.tokens, expected, "{tokens} {environment:?}");
        }
    }

    #[test]
    fn values_are_read_as_the_client_reads_them() {
        for (text, tokens) in [
            ("150000", Some(150_000)),
            ("150k", Some(150_000)),
            ("2m", Some(2_000_000)),
            ("150", Some(150)),
            ("0", None),
            ("lots", None),
            ("", None),
            ("k", None),
            ("99999999999999999999m", None),
        ] {
            assert_eq!(parse_tokens(text), tokens, "{text}");
        }
        for (text, flag) in [
            ("auto", Some(Flag::Auto)),
            ("150k", Some(Flag::Window(150_000))),
            ("150", Some(Flag::Window(150_000))),
            ("1m", Some(Flag::Window(1_000_000))),
            ("50%", None),
            ("50k", None),
        ] {
            assert_eq!(Flag::parse(text), flag, "{text}");
        }
    }

    #[test]
    fn settings_hold_by_the_clients_precedence() {
        let text = r#"{"autoCompactWindow": 160000, "other": [1],
            "modelSettings": {"claude-opus-5-5": {"autoCompactWindow": 130000}}}"#;
        let parse = |model| LayerSettings::parse(text, Some(model)).unwrap().window;
        assert_eq!(parse("claude-opus-5-5[1m]"), Some(130_000));
        assert_eq!(parse("claude-haiku-5-5"), Some(160_000));
        for ignored in [r#"{"autoCompactWindow": "150k"}"#, r#"{"autoCompactWindow": 50000}"#] {
            assert_eq!(LayerSettings::parse(ignored, None), Some(LayerSettings::default()));
        }
        assert_eq!(LayerSettings::parse("no JSON", None), None);
        let at = |window| LayerSettings { window: Some(window), enabled: None };
        let limit = |flag, layers: &[(Layer, LayerSettings)]| {
            let configured = Configured::merge(flag, layers);
            super::tests::limit(&Limits { configured, ..Limits::default() })
        };
        let (user, project, local) = (
            (Layer::User, at(200_000)),
            (Layer::Project, at(150_000)),
            (Layer::Local, at(130_000)),
        );
        assert_eq!(limit(None, &[user, project, local]), 97_000);
        assert_eq!(limit(None, &[local, (Layer::CommandLine, at(160_000))]), 127_000);
        assert_eq!(limit(Some(Flag::Window(200_000)), &[(Layer::Managed, at(140_000))]), 167_000);
        assert_eq!(limit(Some(Flag::Auto), &[user]), 967_000);
        let off = LayerSettings { enabled: Some(false), window: None };
        assert_eq!(limit(Some(Flag::Window(150_000)), &[(Layer::Global, off)]), LARGE);
        let on = LayerSettings { enabled: Some(true), window: None };
        assert_eq!(limit(None, &[(Layer::User, off), (Layer::Local, on)]), 967_000);
    }

    #[test]
    fn a_variable_outranks_the_command_line() {
        let environment = AutoCompact { window: Some(200_000), ..AutoCompact::default() };
        let configured = Configured::merge(Some(Flag::Window(150_000)), &[]);
        let limits = Limits { environment, configured, client: None };
        let found = limits.for_window(&window(LARGE, WindowSource::Agreed));
        assert_eq!(found, Limit { tokens: 167_000, source: LimitSource::WindowVariable });
    }

    #[test]
    fn the_clients_report_counts_with_the_percentage_that_it_leaves_out() {
        let client = Some(ClientLimit { threshold: Some(117_000), window: 150_000 });
        let reported = Limits { client, ..Limits::default() };
        let found = reported.for_window(&window(LARGE, WindowSource::Agreed));
        assert_eq!(found, Limit { tokens: 117_000, source: LimitSource::Client });
        let environment = AutoCompact { percent: Some(50.0), ..AutoCompact::default() };
        let found =
            Limits { environment, ..reported }.for_window(&window(LARGE, WindowSource::Agreed));
        assert_eq!(found, Limit { tokens: 65_000, source: LimitSource::PercentVariable });
        let configured = Configured::merge(Some(Flag::Window(150_000)), &[]);
        let found =
            Limits { configured, ..reported }.for_window(&window(LARGE, WindowSource::Agreed));
        assert_eq!(found.source, LimitSource::Flag, "what explains the figure is named");
        let off = Some(ClientLimit { threshold: None, window: LARGE });
        assert_eq!(limit(&Limits { client: off, ..Limits::default() }), LARGE);
    }

    #[test]
    fn a_window_of_the_users_is_not_raised_by_the_clients_report() {
        let client = Some(ClientLimit { threshold: Some(967_000), window: LARGE });
        let limits = Limits { client, ..Limits::default() };
        assert_eq!(limits.for_window(&window(500_000, WindowSource::Settings)).tokens, 467_000);
        assert_eq!(limits.for_window(&window(200_000, WindowSource::Assumed)).tokens, 167_000);
    }
}
