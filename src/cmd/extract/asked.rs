//! Reads the user's extraction settings strictly. A wrong key is an error, because its default
//! might extract or remove what the user wants to keep.

use anyhow::{anyhow, bail};

use base::env::Env;
use base::paths::{Places, project_root};
use guard::hook::facts::read_settings;
use guard::settings::file::Fault;
use sessions::settings::ExtractSettings;

/// Reads the settings before something is extracted or removed.
///
/// # Errors
/// Each fault on a line with its fix, and that nothing is done until it is fixed.
pub fn settings(env: &Env) -> anyhow::Result<ExtractSettings> {
    load_valid(env).map_err(|faults| {
        anyhow!("{faults}\nnothing is extracted or removed until these settings are fixed")
    })
}

/// Reads the settings for a caller that can continue with its older ones.
///
/// # Errors
/// Each fault on a line with its fix.
pub fn load_valid(env: &Env) -> anyhow::Result<ExtractSettings> {
    let project = project_root(env, &env.cwd().unwrap_or_default());
    let Some(places) = Places::for_project(env, &project) else {
        return Ok(ExtractSettings::default());
    };
    let (settings, wrong) = read_settings(&places, env);
    // A project's settings do not apply to extraction, so their faults do not matter here.
    let of_project = places.project_settings().display().to_string();
    let ours = |fault: &&Fault| fault.path != of_project;
    let faults = wrong.iter().filter(ours).map(|fault| format!("{fault}; {}", fault.way_out));
    let faults: Vec<String> = faults.collect();
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(settings.extract)
}
