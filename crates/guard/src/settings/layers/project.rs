//! Limits a project's settings. They come with a checkout, so they may only tighten; only the
//! user may loosen the guard or have it run something.

use serde_json::{Map, Value};

use crate::policy::ramp::Tier;
use crate::settings::Settings;

/// Keys that only the user may set.
const USER_ONLY: [&[&str]; 9] = [
    &["mode"],
    &["shadow"],
    &["headless"],
    &["context", "window"],
    &["boundary"],
    &["when"],
    &["surgery"],
    &["extract"],
    &["strip"],
];

/// Why a project may not set this; `None` if it may.
pub(super) fn forbid_loosening(
    settings: &Settings,
    path: &[&str],
    value: &Value,
) -> Option<&'static str> {
    const USER: &str = "can be set only in your own settings";
    if value.as_object().is_some_and(Map::is_empty) {
        return None;
    }
    // serde also accepts a list for a struct and {"off": null} for "off", so a key above or
    // below a user's key may set that one, too.
    if USER_ONLY.iter().any(|own| own.starts_with(path) || path.starts_with(own)) {
        return Some(USER);
    }
    if let Some(why) = forbid_text(path, value) {
        return Some(why);
    }
    match path {
        ["file" | "coach" | "phases"]
        | ["file", "shape"]
        | ["profile" | "tiers", _]
        | ["bands" | "phases", _, _]
        | ["phases", "names"] => Some("is not written like this in a project's settings"),
        ["profile"] if value != "auto" => Some("may only tighten in a project's settings"),
        ["bands", ..] if value != "read" => {
            Some("may only be `read`, which is blocked first, in a project's settings")
        }
        ["phases", "reflection_steps"] => lowers(value, settings.phases.reflection_steps),
        ["phases", "names", name, "reflection_steps"] => lowers(value, settings.phases.steps(name)),
        ["file", "words"] => raises(value, settings.file.words),
        ["coach", "shell_chars"] => raises(value, settings.coach.shell_chars as u64),
        ["coach", "reread_lines"] => raises(value, settings.coach.reread_lines),
        ["tiers", _, "context"] if value.as_f64().is_none_or(|at| at < LEAST_CONTEXT) => {
            Some("must be at least 10 in a project's settings")
        }
        ["tiers", _, "file"] if value.as_f64().is_none_or(|at| at < LEAST_FILE) => {
            Some("must be at least 50 in a project's settings")
        }
        ["tiers", name, gauge @ ("context" | "file")] => {
            let ramp = settings.ramp(1_000_000);
            let place = |t: &Tier| if *gauge == "context" { t.context } else { t.file };
            let at = value.as_f64().unwrap_or(f64::INFINITY);
            match ramp.tiers().iter().find(|t| t.name == *name) {
                Some(tier) if at <= place(tier) => None,
                Some(_) => Some("may only be lowered in a project's settings"),
                // A tier above the last one would become the only one that requires a seal.
                None if ramp.tiers().last().is_some_and(|last| at < place(last)) => None,
                None => Some("of a project's own tier must lie below the last one"),
            }
        }
        ["tiers", name, "blocks"] => {
            let ramp = settings.ramp(1_000_000);
            let there = ramp.tiers().iter().any(|t| t.name == *name);
            there.then_some("of an existing tier can be set only in your own settings")
        }
        ["tiers", _, "off"] if value != false => Some(USER),
        _ => None,
    }
}

/// The lowest thresholds for a project's tiers, in percent. Lower ones would block a session from
/// its start, and the ramp would shift up.
const LEAST_CONTEXT: f64 = 10.0;
const LEAST_FILE: f64 = 50.0;

/// Why a project may not set this text. The agent and the user would read it as the guard's own
/// words.
fn forbid_text(path: &[&str], value: &Value) -> Option<&'static str> {
    const TEXT: &str = "is text for the agent, which can be set only in your own settings";
    const NAME: &str = "has a name that is not letters, digits, blanks or `-_.,&/*()'`, 60 at most";
    if path.iter().any(|part| !is_name(part)) {
        return Some(NAME);
    }
    let text = |key: &str, of: &Value| of.get(key).is_some_and(|text| text != "");
    match path {
        ["phases", "names", _, "coach"] => Some(TEXT),
        ["file", "shape", "sections"] => {
            let sections = value.as_array().map(Vec::as_slice).unwrap_or_default();
            if sections.iter().any(|section| text("prompt", section)) {
                return Some(TEXT);
            }
            let names = sections.iter().flat_map(|section| {
                let aliases = section["aliases"].as_array().into_iter().flatten();
                aliases.chain([&section["name"]]).filter_map(Value::as_str)
            });
            names.into_iter().any(|name| !is_name(name)).then_some(NAME)
        }
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || " -_.,&/*()'".contains(c);
    text.chars().count() <= 60 && text.chars().all(plain)
}

/// Why a project may not raise a number.
fn raises(value: &Value, current: u64) -> Option<&'static str> {
    let higher = value.as_u64().is_none_or(|asked| asked > current);
    higher.then_some("may only be lowered in a project's settings")
}

/// Why a project may not lower a number.
fn lowers(value: &Value, current: u64) -> Option<&'static str> {
    let lower = value.as_u64().is_none_or(|asked| asked < current);
    lower.then_some("may only be raised in a project's settings")
}
