//! The figures as a table for a terminal and as a page.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::Run;
use crate::goals::Goal;

const HEADS: [&str; 11] = [
    "",
    "p50",
    "p90",
    "p99",
    "x true",
    "x empty",
    "KiB",
    "bytes read",
    "calls",
    "files",
    "instructions",
];

/// The cells of every row, the baselines first.
fn cells(run: &Run) -> Vec<[String; 11]> {
    run.rows
        .iter()
        .map(|row| {
            let (t, c) = (&row.timing, &row.calls);
            [
                row.case.title(),
                format!("{:.3}", t.p50_ms),
                format!("{:.3}", t.p90_ms),
                format!("{:.3}", t.p99_ms),
                format!("{:.2}", t.by_true),
                format!("{:.2}", t.by_empty),
                row.peak.resident_kib.to_string(),
                c.bytes_read.to_string(),
                c.system_calls.to_string(),
                c.files_opened.to_string(),
                row.instructions.map_or_else(String::new, |n| n.to_string()),
            ]
        })
        .collect()
}

/// For a terminal.
pub fn table(run: &Run) -> String {
    let rows: Vec<[String; 11]> =
        std::iter::once(HEADS.map(str::to_owned)).chain(cells(run)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// The goals, a line each.
pub fn goals(goals: &[Goal]) -> String {
    let mut out = String::new();
    for goal in goals {
        let verdict = match (goal.held, goal.asserted) {
            (true, _) => "held    ",
            (false, true) => "BROKEN  ",
            (false, false) => "not held",
        };
        let _ = writeln!(out, "{verdict}  {}: {}", goal.what, goal.found);
    }
    out
}

/// The text of `docs/benchmarks.md`.
pub fn document(run: &Run) -> String {
    let mut out = String::from(include_str!("page.md"));
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut tables = row(&HEADS.map(str::to_owned));
    tables.push_str("|---|");
    tables.push_str(&"--:|".repeat(HEADS.len() - 1));
    tables.push('\n');
    for cells in cells(run) {
        tables.push_str(&row(&cells));
    }
    let mut goals = String::from("| goal | found | |\n|---|---|---|\n");
    for goal in &run.goals {
        let verdict = if goal.held { "held" } else { "not held" };
        goals.push_str(&row(&[goal.what.clone(), goal.found.clone(), verdict.into()]));
    }
    for (mark, text) in [
        ("{command}", run.command.as_str()),
        ("{rounds}", &run.rounds.to_string()),
        ("{machine}", &run.machine.to_string().replace('\n', "  \n")),
        ("{table}", &tables),
        ("{goals}", &goals),
    ] {
        out = out.replace(mark, text.trim_end());
    }
    out
}

/// The start of the other benchmark's section, which is kept.
const SURGERY: &str = "<!-- Written by `./bench surgery";

/// Writes the page.
///
/// # Errors
/// The system's.
pub fn write(run: &Run) -> std::io::Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let behind = before.find(SURGERY).map_or("", |at| &before[at..]);
    let own = document(run);
    let gap = if behind.is_empty() { "" } else { "\n" };
    std::fs::write(&path, format!("{own}{gap}{behind}"))?;
    Ok(path)
}
