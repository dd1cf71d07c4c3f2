//! `surgery log`: what surgery has made.

use std::path::Path;

use anyhow::bail;
use serde_json::json;

use super::source::Store;
use crate::cmd::{Exit, err, out, out_json};
use base::env::Env;
use base::shown::minute;
use store::index::{Beside, Export};
use surgery::table::short;

/// Runs the verb.
///
/// # Errors
/// A database that can't be read; a session that nothing was made from.
pub fn run(env: &Env, session: Option<&str>, json: bool) -> anyhow::Result<Exit> {
    let store = Store::open(env)?;
    let mut all = store.index.exports()?;
    all.reverse();
    if let Some(id) = session {
        let made = all.len();
        all.retain(|export| {
            let of = |(_, session): &(String, String)| session.starts_with(id);
            export.id.starts_with(id) || export.detail.sources.iter().any(of)
        });
        if all.is_empty() && made > 0 {
            bail!(
                "surgery has made nothing from {id}, nor {id} itself; without an id, `brain-guard surgery log` lists all that it made ({made})"
            );
        }
    }
    if json {
        out_json(&all.iter().map(entry).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        err("surgery has made nothing yet");
    }
    for export in &all {
        out(line(export));
    }
    Ok(Exit::Done)
}

/// For programs: all but what only `undo` looks at.
fn entry(export: &Export) -> serde_json::Value {
    let Export { id, made, operation, path, bytes, undone, detail, .. } = export;
    let source =
        |(agent, session): &(String, String)| json!({ "agent": agent, "session": session });
    let indexed = |(source, round): &(usize, u32)| {
        let of = detail.sources.get(*source).map(|(_, session)| session);
        json!({ "session": of, "round": round })
    };
    let beside = |file: &Beside| json!({ "path": file.path, "bytes": file.bytes });
    json!({
        "id": id,
        "made": made,
        "operation": operation,
        "path": path,
        "bytes": bytes,
        "undone": undone,
        "state": state(export),
        "sources": detail.sources.iter().map(source).collect::<Vec<_>>(),
        "indexed": detail.index.iter().map(indexed).collect::<Vec<_>>(),
        "companions": detail.companions.iter().map(beside).collect::<Vec<_>>(),
    })
}

/// What has become of it.
fn state(export: &Export) -> &'static str {
    match export.undone {
        Some(_) => "undone",
        None if Path::new(&export.path).exists() => "there",
        None => "gone",
    }
}

fn line(export: &Export) -> String {
    let sources: Vec<&str> = export.detail.sources.iter().map(|(_, id)| short(id)).collect();
    let state = match state(export) {
        "there" => String::new(),
        other => format!(" ({other})"),
    };
    format!(
        "{}  {}  {} of {}{state}\n  {}",
        minute(Some(export.made)),
        short(&export.id),
        export.operation,
        sources.join(" and "),
        export.path
    )
}
