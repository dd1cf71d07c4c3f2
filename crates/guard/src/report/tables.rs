//! The page's tables: sessions, denials, boundaries, seals, and all events.

use std::fmt::Write as _;

use chrono::FixedOffset;

use super::html::{escape, local};
use super::{Report, What};
use base::clock::Time;
use base::shown::{group_thousands, tenths};

/// A table with a heading, or nothing if it has no rows. Cells are HTML. A column whose name begins
/// with `#` holds numbers.
fn table(heading: &str, id: &str, columns: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut out = if heading.is_empty() { String::new() } else { format!("<h2>{heading}</h2>\n") };
    let _ = write!(out, "<div class=\"card\"><table id=\"{id}\"><thead><tr>");
    let class = |column: &str| if column.starts_with('#') { " class=\"number\"" } else { "" };
    for column in columns {
        let _ = write!(out, "<th{}>{}</th>", class(column), column.trim_start_matches('#'));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (cell, column) in row.iter().zip(columns) {
            let _ = write!(out, "<td{}>{cell}</td>", class(column));
        }
        out.push_str("</tr>\n");
    }
    out + "</tbody></table></div>\n"
}

/// All tables.
pub(super) fn tables(report: &Report, zone: FixedOffset) -> String {
    let at = |time: Option<Time>| time.map_or_else(|| "–".to_owned(), |t| local(t, zone));
    let short = |id: &str| escape(&id.chars().take(8).collect::<String>());
    let sessions: Vec<Vec<String>> = report
        .sessions
        .iter()
        .map(|p| {
            let models: std::collections::BTreeSet<&str> =
                p.fill.iter().filter_map(|p| p.model.as_deref()).collect();
            let models: Vec<&str> = models.into_iter().collect();
            let limit = p.fill.last().map_or_else(|| "–".to_owned(), |p| group_thousands(p.limit));
            vec![
                format!("<span title=\"{}\">{}</span>", escape(&p.session), short(&p.session)),
                at(p.from),
                at(p.to),
                escape(&models.join(", ")),
                limit,
                group_thousands(p.totals.responses),
                format!("{:.1} %", tenths(p.totals.highest)),
                group_thousands(p.totals.added.tokens),
            ]
        })
        .collect();
    let denials: Vec<Vec<String>> = report
        .totals
        .denials
        .iter()
        .map(|d| {
            vec![
                escape(&d.tool),
                escape(&d.band),
                escape(&d.tier),
                group_thousands(d.denied),
                group_thousands(d.would_deny),
            ]
        })
        .collect();
    let boundaries: Vec<Vec<String>> = report
        .boundaries
        .iter()
        .map(|b| {
            let to = b.to.as_deref().map_or_else(|| "–".to_owned(), short);
            let seconds = b.seconds.map_or_else(|| "–".to_owned(), |s| format!("{s:.2} s"));
            let why = b.why.as_ref().map(|w| format!(": {w}")).unwrap_or_default();
            vec![
                local(b.opened, zone),
                escape(&b.job),
                format!("{} → {to}", short(&b.from)),
                escape(&b.carrier),
                escape(&format!("{}{why}", b.step)),
                seconds,
            ]
        })
        .collect();
    let seals: Vec<Vec<String>> = report
        .sessions
        .iter()
        .flat_map(|p| &p.seals)
        .map(|s| {
            let before = s.before.map_or_else(|| "–".to_owned(), group_thousands);
            vec![
                local(s.at, zone),
                escape(&s.job),
                s.version.to_string(),
                before,
                group_thousands(s.after),
            ]
        })
        .collect();
    let mut out = table(
        "Sessions",
        "sessions",
        &["session", "from", "to", "model", "#limit", "#responses", "#highest", "#added"],
        &sessions,
    );
    let columns = ["tool", "band", "tier", "#denied", "#would be"];
    let shown = if report.totals.would_deny > 0 { 5 } else { 4 };
    out += &table("Denials", "denied", &columns[..shown], &denials);
    out += &table(
        "Boundaries",
        "crossings",
        &["opened", "job", "sessions", "carrier", "came to", "#turn's end to first request"],
        &boundaries,
    );
    out += &table(
        "Seals",
        "versions",
        &["sealed", "job", "#version", "#words before", "#words"],
        &seals,
    );
    out + &events(report, zone)
}

fn events(report: &Report, zone: FixedOffset) -> String {
    let rows: Vec<Vec<String>> = report
        .sessions
        .iter()
        .flat_map(|part| &part.events)
        .map(|e| {
            let whole = e.text();
            let text: String = whole.chars().take(400).collect();
            let cut = if text.len() < whole.len() { " …" } else { "" };
            let context =
                e.context.map(|c| format!("{:.1} %", tenths(c.percent()))).unwrap_or_default();
            let about = match (&e.cap, &e.what) {
                (Some(cap), What::WouldDeny(_)) => format!("{cap}. "),
                _ => String::new(),
            };
            vec![
                local(e.at, zone),
                escape(&e.label()),
                escape(&e.tier),
                context,
                escape(&format!("{about}{text}{cut}")),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<details><summary>Everything, in order ({})</summary>{}</details>\n",
        rows.len(),
        table("", "events", &["at", "what", "tier", "#context", "text"], &rows)
    )
}
