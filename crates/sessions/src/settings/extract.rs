//! What to extract from session files, and when: the settings under `extract`. docs/extraction.md
//! explains them.

mod check;

use chrono::Duration;
use serde::{Deserialize, Serialize};

use base::env::{self, Env};

pub use self::check::{InvalidRetention, Trigger, UnknownTrigger, triggers};

/// When the watcher extracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Acts {
    /// When the prompt cache has expired anyway, or when the extraction breaks even soon.
    #[default]
    Cache,
    /// At every scan of the file, whatever it saves.
    Interval,
}

/// Extraction. User settings only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ExtractSettings {
    /// Whether the watcher extracts.
    pub enabled: bool,
    /// How many of the conversation's last messages stay.
    pub keep_recent: u32,
    /// The least characters of a value that is extracted.
    pub min_value_length: u32,
    /// What to extract: `thinking`, `tool_result`, `tool_call`, `user`, `assistant`, `*`, or
    /// several with `|`.
    pub trigger_types: Vec<String>,
    /// Seconds between two scans of a file, 10 to 3600.
    pub scan_interval_seconds: u64,
    /// How long after its last use `extract gc --forget` keeps content that no placeholder needs:
    /// `24h`, `30m`, `7d`, or `off`.
    pub retention: String,
    /// Whether the call that asked for a restore stays as it is.
    pub keep_purge_control_calls: bool,
    /// Seconds for which restored values are not extracted again.
    pub keep_after_restore_seconds: u64,
    /// When to scan, as a cron expression, instead of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_cron: Option<String>,
    /// Tools whose calls and results stay, as globs.
    pub protect: Vec<String>,
    /// How many of the agent's last turns stay whole.
    pub protect_turns: u32,
    /// When the watcher extracts.
    pub when: Acts,
    /// Whether the plugin's module offers the agent tools, such as `purge_control`.
    pub mcp: bool,
    /// What is no setting, because nobody tunes it.
    #[serde(skip)]
    pub fixed: Fixed,
}

/// What nobody tunes. Tests do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Fixed {
    /// Whether a value that occurs again later, and a read of a file that was read again later, are
    /// extracted before they are old enough.
    pub dedupe: bool,
    /// Whether results that are errors stay.
    pub keep_errors: bool,
    /// Bytes that an extraction must save before the watcher writes a file; 0: any.
    pub min_saving: u64,
    /// Turns within which an extraction must break even while the prompt cache is warm.
    pub break_even_turns: u32,
    /// Seconds that the prompt cache lives.
    pub cache_seconds: u64,
}

impl Fixed {
    /// The constants, or those of a test.
    pub fn of(env: &Env) -> Self {
        let tests = env.get(env::TEST_CONSTANTS);
        tests.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

impl Default for Fixed {
    fn default() -> Self {
        Self {
            dedupe: true,
            keep_errors: true,
            min_saving: 10_000,
            break_even_turns: 10,
            cache_seconds: 300,
        }
    }
}

impl Default for ExtractSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            keep_recent: 3,
            min_value_length: 500,
            trigger_types: vec!["thinking".into(), "tool_result".into(), "tool_call".into()],
            scan_interval_seconds: 30,
            retention: "off".into(),
            keep_purge_control_calls: false,
            keep_after_restore_seconds: 600,
            auto_cron: None,
            protect: Vec::new(),
            protect_turns: 1,
            when: Acts::default(),
            mcp: false,
            fixed: Fixed::default(),
        }
    }
}

impl ExtractSettings {
    /// What to extract, in the order of [`Trigger::ALL`]. Unknown words are skipped: they were
    /// reported when the settings were read.
    pub fn triggers(&self) -> Vec<Trigger> {
        let all: Vec<_> =
            self.trigger_types.iter().filter_map(|word| triggers(word).ok()).collect();
        let asked = |trigger: &Trigger| all.iter().any(|some| some.contains(trigger));
        Trigger::ALL.into_iter().filter(asked).collect()
    }

    /// How long to keep content that no placeholder needs; `None` for always.
    pub fn kept_for(&self) -> Result<Option<Duration>, InvalidRetention> {
        check::retention(&self.retention)
    }
}
