//! The figures as a table for a terminal and as a section of the page.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::figures::{Row, Size};
use crate::run::Run;

/// A benchmark's section of the page; a comment at its start says what writes it.
pub struct Section {
    /// The comment, which starts with [`BEGINS`].
    pub mark: &'static str,
    /// The text, with placeholders for the figures.
    pub text: &'static str,
}

/// The start of every section.
const BEGINS: &str = "<!-- Written by `./bench";

const HEADS: [&str; 7] = ["", "p50 ms", "least", "most", "MB/s", "peak MiB", "instructions"];

fn cells(row: &Row) -> [String; 7] {
    let digits = usize::from(row.p50_ms < 100.0);
    [
        format!("{}, {} MB", row.name, row.size),
        format!("{:.digits$}", row.p50_ms),
        format!("{:.digits$}", row.least_ms),
        format!("{:.digits$}", row.most_ms),
        // Searches read no session.
        if row.name.starts_with("search") {
            String::new()
        } else {
            format!("{:.0}", row.speed / 1e6)
        },
        format!("{:.1}", row.peak_kib as f64 / 1024.0),
        row.instructions.map_or_else(String::new, |n| n.to_string()),
    ]
}

/// For a terminal: the table, then the goals.
pub fn terminal(run: &Run) -> String {
    let mut out = String::new();
    for size in &run.sizes {
        let _ = writeln!(out, "{}; {} rounds of measuring", told(size), size.times);
    }
    let rows: Vec<_> =
        std::iter::once(HEADS.map(str::to_owned)).chain(run.rows.iter().map(cells)).collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    out.push('\n');
    for row in &rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out.push('\n');
    for goal in &run.goals {
        let verdict = match (goal.held, goal.asserted) {
            (true, _) => "held    ",
            (false, true) => "BROKEN  ",
            (false, false) => "not held",
        };
        let _ = writeln!(out, "{verdict}  {}: {}", goal.what, goal.found);
    }
    out
}

/// The section of `docs/benchmarks.md`.
fn section(run: &Run, of: &Section) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut tables = line(&HEADS.map(str::to_owned));
    tables.push_str("|---|");
    tables.push_str(&"--:|".repeat(HEADS.len() - 1));
    tables.push('\n');
    let mut about = String::new();
    for row in &run.rows {
        tables.push_str(&line(&cells(row)));
        let known = about.contains(&format!("- *{}*:", row.name));
        if !row.about.is_empty() && !known {
            let _ = writeln!(about, "- *{}*: {}.", row.name, row.about);
        }
    }
    let mut goals = String::from("| goal | found | |\n|---|---|---|\n");
    for goal in &run.goals {
        let verdict = if goal.held { "held" } else { "not held" };
        goals.push_str(&line(&[goal.what.clone(), goal.found.clone(), verdict.into()]));
    }
    let mut sizes = String::new();
    for size in &run.sizes {
        let _ = writeln!(sizes, "- {}; each program {} times.", told(size), size.times);
    }
    let mut out = String::from(of.text);
    for (mark, text) in [
        ("{command}", run.command.as_str()),
        ("{machine}", &run.machine.to_string().replace('\n', "  \n")),
        ("{sizes}", &sizes),
        ("{table}", &tables),
        ("{about}", &about),
        ("{goals}", &goals),
    ] {
        out = out.replace(mark, text.trim_end());
    }
    format!("{}\n{out}", of.mark)
}

/// A session in one line.
fn told(size: &Size) -> String {
    format!(
        "{} MB: {} rows, the largest {:.1} MB, in {} rounds, the largest {:.1} MB",
        size.megabytes,
        size.rows,
        size.largest_row as f64 / 1e6,
        size.rounds,
        size.largest_round as f64 / 1e6
    )
}

/// Replaces the section, or appends it after the others.
///
/// # Errors
/// The system's.
pub fn write(run: &Run, own: &Section) -> io::Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
    let page = fs::read_to_string(&path)?;
    let at = page.find(own.mark).unwrap_or(page.len());
    let rest = page[at..].strip_prefix(own.mark).unwrap_or_default();
    let behind = rest.find(BEGINS).map_or("", |at| &rest[at..]);
    let gap = if behind.is_empty() { "" } else { "\n" };
    fs::write(&path, format!("{}\n\n{}{gap}{behind}", page[..at].trim_end(), section(run, own)))?;
    Ok(path)
}

/// Prints, writes the section if requested, and returns whether all asserted goals hold.
///
/// # Errors
/// The section cannot be written.
pub fn tell(run: &Run, args: &Args, section: &Section) -> Result<bool, String> {
    if args.json {
        println!("{}", serde_json::to_string_pretty(run).map_err(|e| e.to_string())?);
    } else {
        println!("{}\n\n{}", run.machine, terminal(run));
    }
    for why in &run.missing {
        eprintln!("bench: not measured: {why}");
    }
    if args.write {
        let path = write(run, section).map_err(|e| format!("docs/benchmarks.md: {e}"))?;
        eprintln!("bench: wrote {}", path.display());
    }
    Ok(run.missing.is_empty() && run.goals.iter().all(|goal| goal.held || !goal.asserted))
}
