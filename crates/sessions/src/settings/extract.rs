//! What is extracted from session files, and when: the settings under `extract`.
//! docs/extraction.md explains them.

mod check;

use chrono::Duration;
use serde::{Deserialize, Serialize};

pub use self::check::{InvalidRetention, Trigger, UnknownTrigger, triggers};

/// A rule of its own for some values (`trigger_rules`): the first one that takes a value says what
/// holds for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TriggerRule {
    /// What it takes, as in `trigger_types`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Of whose messages: `user`, `assistant`, `tool`, or several with `|`; none: of anybody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Of which tools, as a glob; none: of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Characters from which on it takes a value, in the place of `min_value_length`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// Messages that stay, in the place of the setting's `keep_recent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_recent: Option<u32>,
    /// Characters of a value's beginning that stay, in the place of the setting's `keep_chars`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_chars: Option<u32>,
}

/// When watching acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Acts {
    /// When the prompt cache has expired anyway, or when it pays soon.
    #[default]
    Cache,
    /// At every look at the file.
    Interval,
}

/// What is put in a value's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Placeholder {
    /// With beginning and end, size, tool, and how to restore it.
    #[default]
    Full,
    /// `[[extracted-ID]]` alone.
    Plain,
}

/// Extraction. User settings only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ExtractSettings {
    /// Whether watching acts.
    pub enabled: bool,
    /// Messages of the conversation that stay, counted from its end.
    pub keep_recent: u32,
    /// Characters from which on a value is extracted.
    pub min_value_length: u32,
    /// What is extracted: `thinking`, `tool_result`, `tool_call`, `user`, `assistant`, `*`, or
    /// several with `|`.
    pub trigger_types: Vec<String>,
    /// Rules in the place of `trigger_types`: the first one that takes a value counts.
    pub trigger_rules: Vec<TriggerRule>,
    /// A value that stands again later in the conversation, and what a tool read of a file that
    /// was read again later, go before they are old enough.
    pub dedupe: bool,
    /// Seconds between two looks at a file, 10 to 3600.
    pub scan_interval_seconds: u64,
    /// For how long after its last use `extract gc --forget` keeps content that no placeholder
    /// needs: `24h`, `30m`, `7d`, or `off`.
    pub retention: String,
    /// The call that asked for a restore stays as it is.
    #[serde(alias = "keep_restore_calls", alias = "keep_restore_remote_calls")]
    pub keep_purge_control_calls: bool,
    /// Seconds for which what was restored is not extracted again.
    pub keep_after_restore_seconds: u64,
    /// When to look, as a cron expression, in the place of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_cron: Option<String>,
    /// Taken and passed over: nothing is removed on a schedule.
    #[serde(skip_serializing)]
    pub retention_cron: Option<String>,
    /// Taken and passed over: what ran when is kept in the store.
    #[serde(skip_serializing)]
    pub last_run_at: Option<String>,
    /// As `last_run_at`.
    #[serde(skip_serializing)]
    pub last_retention_run_at: Option<String>,
    /// Tools whose calls and results stay, as globs.
    pub protect: Vec<String>,
    /// Turns of the agent that stay whole, counted from the end.
    pub protect_turns: u32,
    /// Results that are errors stay.
    pub keep_errors: bool,
    /// What is put in a value's place.
    pub placeholder: Placeholder,
    /// Characters of a value's beginning that its placeholder shows, up to 10000; of its end it
    /// shows half as many, and 80 at most.
    pub keep_chars: u32,
    /// Bytes that an extraction has to save for watching to write a file; 0: any.
    pub min_saving: u64,
    /// When watching acts.
    pub when: Acts,
    /// Turns within which an extraction has to pay, where the prompt cache is warm.
    pub break_even_turns: u32,
    /// Seconds that the prompt cache lives.
    pub cache_seconds: u64,
    /// The plugin offers the agent tool (`brain-guard mcp`).
    pub mcp: bool,
}

impl Default for ExtractSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            keep_recent: 3,
            min_value_length: 500,
            trigger_types: vec!["thinking".into(), "tool_result".into()],
            trigger_rules: Vec::new(),
            dedupe: true,
            scan_interval_seconds: 30,
            retention: "off".into(),
            keep_purge_control_calls: false,
            keep_after_restore_seconds: 600,
            auto_cron: None,
            retention_cron: None,
            last_run_at: None,
            last_retention_run_at: None,
            protect: Vec::new(),
            protect_turns: 1,
            keep_errors: true,
            placeholder: Placeholder::default(),
            keep_chars: 160,
            min_saving: 10_000,
            when: Acts::default(),
            break_even_turns: 10,
            cache_seconds: 300,
            mcp: false,
        }
    }
}

impl ExtractSettings {
    /// What is extracted, in the order of [`Trigger::ALL`]; words that mean nothing are passed
    /// over, as the settings were looked at when they were read.
    pub fn triggers(&self) -> Vec<Trigger> {
        let all: Vec<_> =
            self.trigger_types.iter().filter_map(|word| triggers(word).ok()).collect();
        let asked = |trigger: &Trigger| all.iter().any(|some| some.contains(trigger));
        Trigger::ALL.into_iter().filter(asked).collect()
    }

    /// How long content is kept that no placeholder needs; `None` for always.
    pub fn kept_for(&self) -> Result<Option<Duration>, InvalidRetention> {
        check::retention(&self.retention)
    }
}
