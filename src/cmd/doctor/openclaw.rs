//! Whether `OpenClaw` uses our plugin as its context engine. Where it leaves an engine out for a
//! turn, only its log says so.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Finding, World};
use crate::cmd::import;
use base::atomic;
use base::shown::local_minute;

const ENGINE: &str = "brain-guard";

/// Where its logs are, unless its settings name a file.
const LOGS: &str = "/tmp/openclaw";

/// How much of the end of a log is read.
const TAIL: u64 = 4 * 1024 * 1024;

/// Nothing if `OpenClaw` has no such plugin.
pub fn look(world: &World) -> Vec<Finding> {
    let folder = import::openclaw(world.env);
    folder.and_then(|folder| look_in(&folder)).into_iter().collect()
}

fn look_in(folder: &Path) -> Option<Finding> {
    let config = atomic::read_text(&folder.join("openclaw.json")).ok()??;
    let Ok(config) = serde_json::from_str::<Value>(&config) else {
        let seen =
            "openclaw.json is not plain JSON, so it is not known whether OpenClaw uses the plugin";
        let way = "run `openclaw config get plugins.slots.contextEngine`";
        return config.contains(ENGINE).then(|| Finding::note(seen, way));
    };
    let plugins = &config["plugins"];
    if plugins["entries"][ENGINE]["enabled"] != true {
        return None;
    }
    let engine = plugins["slots"]["contextEngine"].as_str().unwrap_or("legacy");
    if engine != ENGINE {
        return Some(Finding::note(
            format!("OpenClaw's context engine is {engine}, so nothing is masked there"),
            format!("run `openclaw config set plugins.slots.contextEngine {ENGINE}`"),
        ));
    }
    let log = config["logging"]["file"].as_str().map(PathBuf::from).or_else(newest_log);
    let left_out = log.and_then(|log| Some((last_left_out(&log).ok()??, log)));
    Some(match left_out {
        None => Finding::ok("OpenClaw uses the plugin as its context engine"),
        Some((why, log)) => Finding::note(
            format!("OpenClaw left the plugin out, and its model got everything: {why}"),
            format!("update brain-guard; {} has each such turn", log.display()),
        ),
    })
}

fn newest_log() -> Option<PathBuf> {
    let is_log = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("openclaw-") && path.extension().is_some_and(|end| end == "log")
    };
    let all = fs::read_dir(LOGS).ok()?.flatten().map(|entry| entry.path()).filter(is_log);
    all.max_by_key(|path| path.metadata().and_then(|meta| meta.modified()).ok())
}

/// When and why a turn ran without the plugin the last time, by `OpenClaw`'s log: a JSON object on
/// each line.
fn last_left_out(log: &Path) -> io::Result<Option<String>> {
    let mut file = import::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().rev().filter(|line| line.contains(" degraded to "));
    let mut entries = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let beginning = format!("Context engine \"{ENGINE}\" degraded to ");
    Ok(entries.find_map(|entry| {
        let (_, told) = entry["message"].as_str()?.split_once(&beginning)?;
        let (_, why) = told.split_once(": ")?;
        let why = why.split(". ").next()?;
        let at = entry["time"].as_str().and_then(|time| time.parse().ok());
        Some(format!("{why} ({})", local_minute(at)))
    }))
}
