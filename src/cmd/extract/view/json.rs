//! The output of the extraction verbs as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use super::{DoneReport, PlanReport, role};
use crate::cmd::extract::source::Kind;
use extract::plan::Plan;
use extract::rules::{Goes, Stays};
use extract::when::Verdict;

/// A value to extract.
#[derive(Serialize)]
struct Value<'a> {
    line: u64,
    entry_id: &'a str,
    role: &'static str,
    tool: Option<&'a str>,
    key: &'a str,
    trigger: &'static str,
    bytes: usize,
    in_context: bool,
    because: Goes,
    begins: &'a str,
}

#[derive(Serialize)]
struct PlanFields<'a> {
    session: &'a str,
    agent: &'a str,
    kind: Kind,
    file: PathBuf,
    entries: u64,
    messages: u64,
    items: Vec<Value<'a>>,
    stay: &'a BTreeMap<Stays, u64>,
    left: BTreeMap<Stays, Vec<u64>>,
    bytes: u64,
    bytes_in_context: u64,
    tokens: u64,
    tokens_behind: u64,
    tokens_now: u64,
    tokens_after: u64,
    pays_after: Option<u64>,
    verdict: Verdict,
    little: bool,
}

impl Serialize for PlanReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { source, planned, preview, cost, little, .. } = self;
        let plan = &planned.plan;
        let items = plan.items.iter().zip(&preview.begins).map(|(item, begins)| Value {
            line: item.row + 1,
            entry_id: &item.entry,
            role: role(planned.read.entry(item.row).map(|entry| entry.role)),
            tool: item.tool.as_deref(),
            key: item.key.as_str(),
            trigger: item.trigger.name(),
            bytes: item.span.end - item.span.start,
            in_context: item.sent,
            because: item.why,
            begins,
        });
        let (bytes, bytes_in_context) = plan.bytes();
        let look = &planned.look;
        let fields = PlanFields {
            session: &source.session,
            agent: &source.agent,
            kind: source.kind,
            file: source.place(),
            entries: plan.entries,
            messages: plan.messages,
            items: items.collect(),
            stay: &plan.stay,
            left: left(plan),
            bytes,
            bytes_in_context,
            tokens: look.saved,
            tokens_behind: look.behind,
            tokens_now: cost.before,
            tokens_after: cost.after,
            pays_after: cost.pays_after(),
            verdict: planned.verdict,
            little: *little,
        };
        fields.serialize(serializer)
    }
}

#[derive(Serialize)]
struct DoneFields<'a> {
    session: &'a str,
    agent: &'a str,
    file: PathBuf,
    extracted: bool,
    values: u64,
    entries: u64,
    bytes: u64,
    freed: u64,
    left: BTreeMap<Stays, Vec<u64>>,
    redacted: u64,
}

impl Serialize for DoneReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { source, done, plan } = self;
        let fields = DoneFields {
            session: &source.session,
            agent: &source.agent,
            file: source.place(),
            extracted: done.values > 0,
            values: done.values,
            entries: done.entries,
            bytes: done.bytes,
            freed: done.freed,
            left: left(plan),
            redacted: done.redacted,
        };
        fields.serialize(serializer)
    }
}

/// Skipped line numbers, by their fault.
fn left(plan: &Plan) -> BTreeMap<Stays, Vec<u64>> {
    plan.left.iter().map(|(why, rows)| (*why, rows.iter().map(|row| row + 1).collect())).collect()
}
