//! The client's state file of an onboarded user, and its environment.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::KEY;

pub const API_KEY: &str = "ANTHROPIC_API_KEY";

/// Keeps the client from opening a dialog at its start. It recognizes an approved key by its last
/// 20 characters.
pub fn client_state(project: &Path, key: Option<&str>) -> Value {
    let last20 = key.map(|key| key.get(key.len().saturating_sub(20)..).unwrap_or(key));
    json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": last20.into_iter().collect::<Vec<_>>(), "rejected": []},
        "hasSeenAutoDefaultNudge": true,
        "projects": {project.display().to_string(): {"hasTrustDialogAccepted": true}},
    })
}

/// Builds the client's environment, which takes only PATH from the environment of the test.
pub fn environment(root: &Path, url: &str) -> BTreeMap<String, String> {
    let folder = |name: &str| root.join(name).display().to_string();
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    let pairs = [
        ("HOME", folder("home")),
        ("PATH", path),
        ("SHELL", "/bin/bash".to_owned()),
        ("USER", "tester".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TERM", "xterm-256color".to_owned()),
        ("XDG_STATE_HOME", folder("state")),
        ("CLAUDE_CODE_TMPDIR", folder("tmp")),
        ("E2E_SPY", folder("spy")),
        ("ANTHROPIC_BASE_URL", url.to_owned()),
        (API_KEY, KEY.to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ("DISABLE_TELEMETRY", "1".to_owned()),
        ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        ("GIT_ALLOW_PROTOCOL", "file".to_owned()),
        ("IS_SANDBOX", "1".to_owned()),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
