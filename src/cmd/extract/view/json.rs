//! The same for programs.

use serde_json::{Value, json};

use super::role;
use crate::cmd::extract::planned::{Done, Planned};
use crate::cmd::extract::preview::Preview;
use crate::cmd::extract::source::Source;
use extract::plan::Plan;
use extract::when;

/// A plan.
pub fn plan(source: &Source, planned: &Planned, preview: &Preview, little: bool) -> Value {
    let plan = &planned.plan;
    let items: Vec<Value> = plan
        .items
        .iter()
        .zip(&preview.begins)
        .map(|(item, begins)| {
            json!({
                "line": item.row + 1,
                "entry_id": item.entry,
                "role": role(planned.read.entry(item.row).map(|entry| entry.role)),
                "tool": item.tool.as_deref(),
                "key": item.key.as_str(),
                "trigger": item.trigger.name(),
                "bytes": item.span.end - item.span.start,
                "in_context": item.sent,
                "because": item.why,
                "begins": begins,
            })
        })
        .collect();
    let (bytes, sent) = plan.bytes();
    json!({
        "session": source.session,
        "agent": source.agent,
        "kind": source.kind,
        "file": source.place(),
        "entries": plan.entries,
        "messages": plan.messages,
        "items": items,
        "stay": plan.stay,
        "left": left(plan),
        "bytes": bytes,
        "bytes_in_context": sent,
        "tokens": planned.look.saved,
        "tokens_behind": planned.look.behind,
        "pays_after": when::break_even(planned.look.behind, planned.look.saved),
        "verdict": planned.verdict,
        "little": little,
    })
}

/// What was done.
pub fn done(source: &Source, done: &Done, plan: &Plan) -> Value {
    json!({
        "session": source.session,
        "agent": source.agent,
        "file": source.place(),
        "extracted": done.values > 0,
        "values": done.values,
        "entries": done.entries,
        "bytes": done.bytes,
        "freed": done.freed,
        "left": left(plan),
        "copy": source.file.copied(),
        "redacted": done.redacted,
    })
}

/// Rows that are left alone: lines by what is wrong with them.
fn left(plan: &Plan) -> Value {
    let lines = |rows: &Vec<u64>| rows.iter().map(|row| row + 1).collect::<Vec<_>>();
    plan.left.iter().map(|(why, rows)| (json!(why), lines(rows))).fold(
        json!({}),
        |mut all, (why, lines)| {
            all[why.as_str().unwrap_or_default()] = json!(lines);
            all
        },
    )
}
