//! Wakes the module, which looks for small files: a command in another terminal raises no event in
//! it.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::cmd::selector;
use base::atomic;
use base::clock::Time;
use base::env::{self, Env};
use base::shown::shell_quote;
use guard::hook::facts::Facts;

/// Lets the module ask what to do now, and what its strip asks the user.
///
/// # Errors
/// What the system says.
pub fn module(facts: &Facts) -> io::Result<()> {
    write(facts, "agreed", &json!({"at": facts.now}))
}

/// Lets the module bring its strip up to date, also in a turn.
///
/// # Errors
/// What the system says.
pub fn strip(facts: &Facts) -> io::Result<()> {
    write(facts, "strip", &json!({"at": facts.now}))
}

/// Lets the module of every running session bring its strip up to date. If the write fails, that
/// strip follows a little later.
pub fn all_strips(env: &Env, now: Time) {
    let Ok(here) = selector::places(env, Path::new("/")) else { return };
    for found in selector::running(&here) {
        let _ = selector::facts(env, now, &found).map(|facts| strip(&facts));
    }
}

/// Lets the module open the viewer above the client's pane. Returns `false` outside tmux.
///
/// # Errors
/// What the system says.
pub fn open_viewer(facts: &Facts) -> io::Result<bool> {
    let Some(popup) = popup(facts) else { return Ok(false) };
    write(facts, "agreed", &json!({"popup": popup, "at": facts.now}))?;
    Ok(true)
}

fn write(facts: &Facts, kind: &str, word: &Value) -> io::Result<()> {
    let path = facts.places.snapshots().join(format!("{}.{kind}", facts.id));
    atomic::write_unsynced(&path, word.to_string().as_bytes())
}

/// Variables that the viewer needs as this client has them: tmux gives a popup those of its server.
const VARIABLES: [&str; 7] = [
    "HOME",
    "PATH",
    "NO_COLOR",
    "CLAUDE_CONFIG_DIR",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
];

/// The command that opens the viewer; `None` outside tmux.
fn popup(facts: &Facts) -> Option<Vec<String>> {
    let pane = facts.env.get("TMUX_PANE").filter(|_| facts.env.get("TMUX").is_some())?;
    let program = facts.env.program()?;
    let view = format!(
        "{} view || {{ printf '\\nEnter closes this'; read -r _; }}",
        shell_quote(&program.to_string_lossy())
    );
    let folder = facts.places.project.to_string_lossy();
    // The module lets no process run for as long as a person may look.
    let words = ["sh", "-c", "\"$@\" >/dev/null 2>&1 &", "sh", "tmux", "display-popup", "-E"];
    let place = ["-t", &pane, "-w", "95%", "-h", "90%", "-d", &folder];
    let session = format!("{}={}", env::SESSION_ID, facts.id);
    let set = |name: &&str| Some(format!("{name}={}", facts.env.get(name)?));
    let variables = VARIABLES.iter().filter_map(set).chain([session]);
    let words = words.into_iter().chain(place).map(str::to_owned);
    let words = words.chain(variables.flat_map(|variable| ["-e".to_owned(), variable]));
    Some(words.chain(["sh", "-c", &view].map(str::to_owned)).collect())
}
