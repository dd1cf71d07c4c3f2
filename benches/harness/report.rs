//! The figures as text, for the terminal and for `docs/benchmarks.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Bench, Row, quantile};

/// A limit of a count or of memory.
pub struct Goal {
    pub what: String,
    /// What breaks it, or the figure that holds it.
    pub found: String,
    pub held: bool,
}

impl Goal {
    /// A goal that nothing may break.
    pub fn none(what: impl Into<String>, broken: &[String]) -> Self {
        let found = if broken.is_empty() { "yes".into() } else { broken.join("; ") };
        Self { what: what.into(), found, held: broken.is_empty() }
    }
}

/// Prints the figures, writes them if the user wants it, and returns whether all goals hold.
///
/// # Errors
/// The page can't be written.
pub fn tell(bench: &Bench, about: &str, rows: &[Row], goals: &[Goal]) -> Result<bool, String> {
    let mut text = format!("{}\n{about}\n\n{}\n", machine(bench), table(rows));
    for goal in goals {
        let verdict = if goal.held { "held  " } else { "BROKEN" };
        let _ = writeln!(text, "{verdict}  {}: {}", goal.what, goal.found);
    }
    print!("{text}");
    if bench.write {
        write(bench.command.trim_end_matches(" --write"), &text)
            .map_err(|why| format!("docs/benchmarks.md: {why}"))?;
        eprintln!("bench: wrote docs/benchmarks.md");
    }
    Ok(goals.iter().all(|goal| goal.held))
}

fn table(rows: &[Row]) -> String {
    let by = format!("x {}", rows[0].case.name);
    let heads =
        ["", "p50 ms", "p90 ms", &by, "KiB", "bytes read", "calls", "files", "instructions"];
    let mut lines = vec![heads.map(str::to_owned)];
    lines.extend(rows.iter().map(|row| {
        [
            row.case.title(),
            format!("{:.3}", quantile(&row.ms, 0.5)),
            format!("{:.3}", quantile(&row.ms, 0.9)),
            format!("{:.2}", row.ratio),
            row.trace.resident_kib.to_string(),
            row.trace.bytes_read.to_string(),
            row.trace.system_calls.to_string(),
            row.trace.files_opened.to_string(),
            row.instructions.map_or_else(String::new, |n| n.to_string()),
        ]
    }));
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| lines.iter().map(|line| line[column].len()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for line in lines {
        let mut shown = format!("{:<1$}", line[0], widths[0]);
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            let _ = write!(shown, "  {cell:>width$}");
        }
        let _ = writeln!(text, "{}", shown.trim_end());
    }
    text
}

/// Where and with what the figures were measured.
fn machine(bench: &Bench) -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find(|line| line.starts_with("model name"));
    let cpu =
        cpu.and_then(|line| line.split_once(": ")).map_or(std::env::consts::ARCH, |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // The rest of the version is the builder's name for it.
    let kernel = kernel.trim().split('-').next().unwrap_or_default();
    let date = chrono::Utc::now().format("%Y-%m-%d");
    let program = first_line(Command::new(&bench.binary).arg("--version"));
    let mib = fs::metadata(&bench.binary).map_or(0, |file| file.len()) as f64 / 1024.0 / 1024.0;
    let (rustc, target) = (rustc(), &bench.target);
    format!(
        "{cpu}, {cores} cores, Linux {kernel}; {date}\n{program} ({mib:.1} MiB), {rustc}, {target}"
    )
}

/// The compiler's version.
pub fn rustc() -> String {
    first_line(Command::new("rustc").arg("--version"))
}

fn first_line(command: &mut Command) -> String {
    let out = command.output().map(|done| done.stdout).unwrap_or_default();
    String::from_utf8_lossy(&out).lines().next().unwrap_or("unknown").to_owned()
}

/// Replaces the figures of this command in the page.
fn write(command: &str, text: &str) -> std::io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
    let page = fs::read_to_string(&path)?;
    let mark = format!("<!-- {command} -->\n");
    let (before, rest) =
        page.split_once(&mark).ok_or_else(|| std::io::Error::other(format!("no line {mark}")))?;
    let after = rest.find("<!-- end -->").map_or("", |at| &rest[at..]);
    fs::write(&path, format!("{before}{mark}```\n{text}```\n{after}"))
}
