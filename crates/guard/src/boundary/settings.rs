//! The settings under `boundary`: how a boundary is performed, and how often.

use serde::{Deserialize, Serialize};

use base::env::{self, Env};
use base::switch::Switch;

/// Which carrier executes a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CarrierChoice {
    /// The best one that works here.
    #[default]
    Auto,
    /// In process, by the plugin's module.
    Mod,
    /// Keys into the client's tmux pane.
    Tmux,
    /// Keys into the client's X11 window.
    X11,
    /// The user types `/clear`.
    Manual,
}

/// The boundary between two sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct BoundarySettings {
    /// What performs the boundary.
    pub carrier: CarrierChoice,
    /// Whether carriers may use the chords that `install` put into the client's `keybindings.json`.
    pub chords: Switch,
    /// Seconds of warning while someone is at the terminal.
    pub attended_notice_seconds: u64,
    /// Minutes after a human prompt during which a person counts as present.
    pub attended_minutes: u64,
    /// Minimum seconds between two boundaries of a job.
    pub min_interval_seconds: u64,
    /// Maximum boundaries of a job in an hour.
    pub max_per_hour: u64,
    /// Times that are no settings.
    #[serde(skip)]
    pub times: Times,
}

/// The times and figures of a boundary that nobody tunes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Times {
    /// Seconds without a key press or pointer movement before the x11 carrier may bring the
    /// client's window to the front.
    pub x11_idle_seconds: u64,
    /// Maximum seconds to wait for background agents.
    pub agents_wait_seconds: u64,
    /// Seconds each step of a boundary may take before it counts as failed.
    pub step_seconds: u64,
    /// Seconds a carrier retries a refused step (another window in front, a dialog). After that the
    /// boundary is given up and the session goes on without blocks.
    pub give_up_seconds: u64,
    /// Seconds to wait before each retry when the first request of a new session gets no answer.
    /// After the last retry the user has to continue.
    pub retry_seconds: Vec<u64>,
    /// Below this many words, notes with an empty section say little: the seal asks once.
    pub little_words: usize,
}

impl Times {
    /// The times, or those of a test.
    pub fn of(env: &Env) -> Self {
        let tests = env.get(env::TEST_CONSTANTS);
        tests.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

impl Default for Times {
    fn default() -> Self {
        Self {
            x11_idle_seconds: 30,
            agents_wait_seconds: 600,
            step_seconds: 20,
            give_up_seconds: 600,
            retry_seconds: vec![5, 20, 60, 300, 900, 3600],
            little_words: 20,
        }
    }
}

impl Default for BoundarySettings {
    fn default() -> Self {
        Self {
            carrier: CarrierChoice::Auto,
            chords: Switch::On,
            attended_notice_seconds: 60,
            attended_minutes: 10,
            min_interval_seconds: 120,
            max_per_hour: 12,
            times: Times::default(),
        }
    }
}
