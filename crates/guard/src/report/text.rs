//! The report for a terminal: a table over time with plain bars, and the sums.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::FixedOffset;

use super::{Crossing, Part, Report, Totals, What};
use base::clock::Time;
use base::plain::is_hidden;
use base::shown::{format_duration, group_thousands, tenths};

/// Maximum lines of the table over time, per session.
const LINES: usize = 24;
/// Characters of a full bar.
const BAR: f64 = 30.0;

/// Replaces characters that control a terminal or change the direction of writing, except line
/// breaks and tabs. Tool names and command words come from the agent.
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if !matches!(c, '\n' | '\t') && is_hidden(c) { '\u{fffd}' } else { c })
        .collect()
}

/// The report, with times in `zone`.
pub fn text(report: &Report, zone: FixedOffset) -> String {
    let mut out = format!("{}, {}\n", report.subject.title(), report.project);
    let highest = report.sessions.iter().flat_map(|p| p.tiers.iter().map(|t| t.context));
    let full = highest.fold(report.totals.highest, f64::max).max(1.0);
    for part in &report.sessions {
        let _ = write!(out, "\n{}", session(part, full, zone));
    }
    for boundary in &report.boundaries {
        let _ = write!(out, "\n{}", crossing(boundary, zone));
    }
    if !report.boundaries.is_empty() {
        out.push('\n');
    }
    let _ = write!(out, "\n{}", totals(report, zone));
    clean(out.trim_end())
}

fn clock(at: Time, zone: FixedOffset) -> String {
    at.with_timezone(&zone).format("%H:%M:%S").to_string()
}

fn session(part: &Part, full: f64, zone: FixedOffset) -> String {
    let mut out = format!("session {}", part.session);
    if let (Some(from), Some(to)) = (part.from, part.to) {
        let date = from.with_timezone(&zone).format("%Y-%m-%d %H:%M:%S");
        let _ = write!(out, ", from {date} (UTC{zone}) for {}", format_duration(to - from));
    }
    let tiers: Vec<String> =
        part.tiers.iter().map(|t| format!("{} {:.0} %", t.name, t.context)).collect();
    let limit = part.fill.last().map(|p| format!("limit {} tokens; ", group_thousands(p.limit)));
    let _ = writeln!(out, "\n  {}{}", limit.unwrap_or_default(), tiers.join(", "));
    for missing in &part.missing {
        let _ = writeln!(out, "  {missing}");
    }
    let mut day = part.from.map(|from| from.with_timezone(&zone).date_naive());
    for row in rows(part) {
        let date = row.at.with_timezone(&zone).date_naive();
        if day.replace(date).is_some_and(|before| before != date) {
            let _ = writeln!(out, "  {date}");
        }
        let figure = row.percent.map_or_else(
            || format!("{:>7} {:>9}", "", ""),
            |(percent, tokens)| format!("{percent:>5.1} % {:>9}", group_thousands(tokens)),
        );
        let percent = row.percent.map_or(0.0, |(percent, _)| percent);
        let bar = "#".repeat(((percent / full) * BAR).round().clamp(0.0, BAR) as usize);
        let line = format!(
            "  {}  {figure}  {bar:<30}  {:<11}  {}",
            clock(row.at, zone),
            row.stance,
            row.events
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    for seal in &part.seals {
        let before = seal.before.map_or_else(|| "?".into(), group_thousands);
        let _ = writeln!(
            out,
            "  sealed {} v{} at {}: {before} words before, {} after",
            seal.job,
            seal.version,
            clock(seal.at, zone),
            group_thousands(seal.after)
        );
    }
    out
}

/// One row of the table over time.
struct Row {
    at: Time,
    percent: Option<(f64, u64)>,
    stance: String,
    events: String,
}

/// The session in at most [`LINES`] periods: the last context usage of each, and its events.
fn rows(part: &Part) -> Vec<Row> {
    let mut times: Vec<Time> =
        part.fill.iter().map(|p| p.at).chain(part.events.iter().map(|e| e.at)).collect();
    times.sort();
    times.dedup();
    let size = times.len().div_ceil(LINES).max(1);
    let mut rows = Vec::new();
    for chunk in times.chunks(size) {
        let (Some(from), Some(to)) = (chunk.first(), chunk.last()) else { continue };
        let within = |at: Time| *from <= at && at <= *to;
        let point = part.fill.iter().rev().find(|p| within(p.at));
        let stance = part.stances.iter().rev().find(|b| b.from <= *to && *to <= b.to);
        let capped = |b: &super::Band| if b.cap.is_some() { "*" } else { "" };
        rows.push(Row {
            at: *from,
            percent: point.map(|p| (p.percent, p.tokens)),
            stance: stance.map(|b| format!("{}{}", b.tier, capped(b))).unwrap_or_default(),
            events: counted(part.events.iter().filter(|e| within(e.at)).map(super::Line::label)),
        });
    }
    rows
}

fn counted(names: impl Iterator<Item = String>) -> String {
    let mut order: Vec<String> = Vec::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for name in names {
        if !counts.contains_key(&name) {
            order.push(name.clone());
        }
        *counts.entry(name).or_default() += 1;
    }
    let one = |name: String| match counts.get(&name) {
        Some(count) if *count > 1 => format!("{name} ×{count}"),
        _ => name,
    };
    order.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

fn crossing(boundary: &Crossing, zone: FixedOffset) -> String {
    let short = |id: &str| id.chars().take(8).collect::<String>();
    let to = boundary.to.as_deref().map_or_else(|| "nowhere".into(), short);
    let why = boundary.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let took = boundary
        .seconds
        .map(|s| format!("; {s:.2} s from the turn's end to the first request"))
        .unwrap_or_default();
    format!(
        "boundary {} {} → {to} by {}: {}{why}{took}",
        boundary.opened.with_timezone(&zone).format("%m-%d %H:%M:%S"),
        short(&boundary.from),
        boundary.carrier,
        boundary.step
    )
}

fn plural(number: u64, name: &str) -> String {
    format!("{} {name}{}", group_thousands(number), if number == 1 { "" } else { "s" })
}

fn totals(report: &Report, zone: FixedOffset) -> String {
    let t: &Totals = &report.totals;
    let counted = [
        plural(t.notes, "note"),
        plural(t.denied, "denial"),
        plural(t.stops, "refused turn end"),
        plural(t.seals, "seal"),
        plural(t.overrides, "override"),
        plural(t.faults, "fault"),
    ];
    let mut out = format!(
        "{}, highest context usage {:.1} %; {}\n",
        plural(t.responses, "response"),
        tenths(t.highest),
        counted.join(", ")
    );
    for d in t.denials.iter().filter(|d| d.denied > 0) {
        let _ = writeln!(out, "denied  {} ({}) ×{} at {}", d.tool, d.band, d.denied, d.tier);
    }
    let capped = report.sessions.iter().flat_map(|p| &p.stances);
    let caps: std::collections::BTreeSet<&str> =
        capped.filter_map(|band| band.cap.as_deref()).collect();
    for cap in caps {
        let _ = writeln!(out, "* nothing was blocked, because {cap}");
    }
    let share = report.share().map(|p| format!(" ({p:.2} % of full contexts)")).unwrap_or_default();
    let _ = writeln!(
        out,
        "added   {} bytes of notes and denials, about {} tokens{share}; delivered {} bytes, about {} tokens",
        group_thousands(t.added.bytes),
        group_thousands(t.added.tokens),
        group_thousands(t.added.delivered_bytes),
        group_thousands(t.added.delivered_tokens)
    );
    if t.would_deny > 0 {
        let _ = writeln!(out, "shadow  nothing was blocked; these calls would have been:");
        let all = report.sessions.iter().flat_map(|p| &p.events);
        let would: Vec<_> = all.filter(|event| matches!(event.what, What::WouldDeny(_))).collect();
        for event in would.iter().take(LINES) {
            let What::WouldDeny(call) = &event.what else { continue };
            let fill = event.context.map(|c| format!(" at {:.1} %", tenths(c.percent())));
            let _ = writeln!(
                out,
                "  {}  {} ({}), {}{}",
                clock(event.at, zone),
                call.tool,
                call.band,
                event.tier,
                fill.unwrap_or_default()
            );
        }
        if would.len() > LINES {
            let _ = writeln!(out, "  and {} more: --json lists them all", would.len() - LINES);
        }
    }
    out
}
