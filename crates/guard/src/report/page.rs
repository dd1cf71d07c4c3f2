//! The report as one self-contained HTML file: no network, font or library. All foreign text is
//! escaped. The file also embeds the whole report as JSON.

use std::fmt::Write as _;

use chrono::FixedOffset;

use super::html::{escape, local};
use super::lanes::{self, LANES};
use super::plot::{self, Frame, Value};
use super::scale::Scale;
use super::tables::tables;
use super::{Part, Report};
use crate::policy::ramp::Tier;
use base::plain::is_hidden;
use base::shown::{format_duration, group_thousands, tenths};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Escapes JSON so that it can neither end its HTML element nor change the direction of writing.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(c, '<' | '>' | '&') || is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The page, with times in `zone`.
///
/// # Errors
/// If the report cannot be serialized, for which no case is known.
pub fn page(report: &Report, zone: FixedOffset) -> serde_json::Result<String> {
    let title = escape(&report.subject.title());
    let json = inert(&serde_json::to_string(report)?);
    let body = [head(report, zone), plots(report, zone), tables(report, zone)].concat();
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
<meta name=\"generator\" content=\"brain-guard {}\">\n<title>{title} · brain-guard report</title>\n\
<style>\n{STYLE}</style>\n</head>\n<body>\n{body}<div id=\"tip\" role=\"status\" hidden></div>\n\
<script type=\"application/json\" id=\"report\">{json}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        report.guard
    ))
}

fn head(report: &Report, zone: FixedOffset) -> String {
    let times = report.times();
    let span = match (times.first(), times.last()) {
        (Some(from), Some(to)) => {
            format!(
                "{} to {} ({})",
                local(*from, zone),
                local(*to, zone),
                format_duration(*to - *from)
            )
        }
        _ => "no time is known".into(),
    };
    let t = &report.totals;
    let sessions = match report.sessions.len() {
        1 => "one session".to_owned(),
        n => format!("{n} sessions"),
    };
    let mut out = format!(
        "<h1>{}</h1>\n<p>{} · {sessions} · {span} · made {} · times are UTC{zone}</p>\n",
        escape(&report.subject.title()),
        escape(&report.project),
        local(report.made, zone)
    );
    for part in &report.sessions {
        for missing in &part.missing {
            let _ = writeln!(out, "<p>{}</p>", escape(missing));
        }
    }
    if t.would_deny > 0 {
        let _ = writeln!(
            out,
            "<div class=\"card shadow\"><p>Shadow mode: nothing was blocked; <b>{}</b> would have been (marked in the plot, listed below).</p></div>",
            calls(t.would_deny)
        );
    }
    let crossed = report.boundaries.iter().filter(|b| b.to.is_some()).count();
    let share = report
        .share()
        .map(|percent| format!("{percent:.2} % of full contexts"))
        .unwrap_or_default();
    let delivered = if t.added.delivered_bytes > 0 {
        format!("; delivered {}", group_thousands(t.added.delivered_tokens))
    } else {
        String::new()
    };
    out.push_str("<dl class=\"tiles\">");
    for (id, name, value, small) in [
        ("responses", "responses", group_thousands(t.responses), String::new()),
        ("highest", "highest context usage", format!("{:.1} %", tenths(t.highest)), String::new()),
        ("denied", "denied", group_thousands(t.denied), turn_ends(t.stops)),
        ("noted", "notes", group_thousands(t.notes), String::new()),
        ("sealed", "seals", group_thousands(t.seals), String::new()),
        ("crossed", "boundaries", crossed.to_string(), String::new()),
        (
            "added",
            "tokens added",
            format!("≈ {}", group_thousands(t.added.tokens)),
            format!("{share}{delivered}"),
        ),
        ("faults", "faults", group_thousands(t.faults), String::new()),
    ] {
        let small =
            if small.is_empty() { String::new() } else { format!("<small>{small}</small>") };
        let _ = write!(out, "<div><dt>{name}</dt><dd id=\"total-{id}\">{value}{small}</dd></div>");
    }
    out + "</dl>\n"
}

fn calls(number: u64) -> String {
    if number == 1 { "one call".into() } else { format!("{} calls", group_thousands(number)) }
}

fn turn_ends(number: u64) -> String {
    match number {
        0 => String::new(),
        1 => "and one turn's end".into(),
        n => format!("and {n} turn ends"),
    }
}

fn plots(report: &Report, zone: FixedOffset) -> String {
    let times = report.times();
    if times.is_empty() {
        return String::new();
    }
    let scale = Scale::new(&times);
    let parts = &report.sessions;
    let top = |tier: fn(&Tier) -> f64| {
        parts.iter().flat_map(|p| p.tiers.iter().map(tier)).fold(0.0, f64::max)
    };
    let frame = Frame::new(
        "fill",
        "context, in percent of the limit",
        260.0,
        report.totals.highest.max(top(|t| t.context)),
    );
    let fill: Vec<Vec<Value>> = parts.iter().map(|part| fills(part, zone)).collect();
    let mut out = format!(
        "<figure><figcaption>Context, in percent of the limit; dashed: the tiers</figcaption><div class=\"frame\">{}{}",
        frame.gutter(),
        plot::plot(&frame, &scale, parts, &fill, |tier| tier.context)
    );
    if parts.iter().any(|part| !part.stances.is_empty()) {
        let strip = lanes::strip(&scale, parts, |at| local(at, zone));
        let _ = write!(out, "<span>stance</span>{strip}");
    }
    for lane in &LANES {
        if let Some(drawn) = lane.draw(&scale, report, |at| local(at, zone)) {
            let _ = write!(out, "<span>{}</span>{drawn}", lane.label);
        }
    }
    let axis = plot::axis(&scale, zone);
    let _ = writeln!(out, "<span></span>{axis}</div></figure>");
    let words: Vec<Vec<Value>> = parts.iter().map(|part| file(part, zone)).collect();
    let highest = words.iter().flatten().map(|v| v.percent).fold(0.0, f64::max);
    if words.iter().any(|values| !values.is_empty()) {
        let frame = Frame::new("words", "words of the compaction file", 130.0, highest.max(100.0));
        let _ = writeln!(
            out,
            "<figure><figcaption>Compaction file, in percent of its words; dashed: the tiers</figcaption><div class=\"frame\">{}{}<span></span>{axis}</div></figure>",
            frame.gutter(),
            plot::plot(&frame, &scale, parts, &words, |tier| tier.file)
        );
    }
    out
}

fn fills(part: &Part, zone: FixedOffset) -> Vec<Value> {
    let value = |p: &super::Point| {
        let what = if p.compacted { "after the client's compaction" } else { "" };
        let model = p.model.as_deref().unwrap_or(what);
        let figure =
            format!("{} of {} tokens", group_thousands(p.tokens), group_thousands(p.limit));
        Value {
            at: p.at,
            percent: p.percent,
            figure: (p.tokens, p.limit),
            tip: format!("{:.1} %\n{figure}\n{} {model}", tenths(p.percent), local(p.at, zone)),
        }
    };
    part.fill.iter().map(value).collect()
}

fn file(part: &Part, zone: FixedOffset) -> Vec<Value> {
    let value = |w: &super::Words| Value {
        at: w.at,
        percent: w.percent,
        figure: (w.words, w.limit),
        tip: format!(
            "{:.0} %\n{} of {} words\n{}",
            w.percent,
            group_thousands(w.words),
            group_thousands(w.limit),
            local(w.at, zone)
        ),
    };
    part.words.iter().map(value).collect()
}
