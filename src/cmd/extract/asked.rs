//! The user's settings of extraction for what runs by itself or removes something: there a
//! wrong key is no key that is left out. A default in its place may extract, or remove, what
//! the user wanted kept.

use anyhow::{anyhow, bail};

use base::env::Env;
use base::paths::{Places, project_root};
use guard::hook::facts::read_settings;
use guard::settings::layers::Diagnostic;
use sessions::settings::ExtractSettings;

/// The settings.
///
/// # Errors
/// What is wrong in them, each on a line, with the way out; and that nothing is done until then.
pub fn settings(env: &Env) -> anyhow::Result<ExtractSettings> {
    sound(env).map_err(|faults| {
        anyhow!("{faults}\nnothing is extracted, and nothing removed, until that is mended")
    })
}

/// The settings, for who goes on by older ones.
///
/// # Errors
/// What is wrong in them, each on a line, with the way out.
pub fn sound(env: &Env) -> anyhow::Result<ExtractSettings> {
    let project = project_root(env, &env.cwd().unwrap_or_default());
    let Some(places) = Places::of(env, &project) else { return Ok(ExtractSettings::default()) };
    let (settings, wrong) = read_settings(&places, env);
    // A project says nothing of extraction, so nothing it says wrongly is a fault here.
    let of_project = places.project_settings().display().to_string();
    let ours = |fault: &&Diagnostic| {
        fault.source != of_project && (fault.key.is_empty() || fault.key.starts_with("extract"))
    };
    let faults: Vec<String> = wrong
        .iter()
        .filter(ours)
        .map(|fault| format!("{}; {}", fault.fault(), fault.way_out))
        .collect();
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(settings.extract)
}
