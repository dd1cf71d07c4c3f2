//! `brain-guard validate FILE`: what is wrong with a session file.

use std::fs::OpenOptions;
use std::io::{self, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::Serialize;

use super::{Exit, out, out_json};
use base::atomic;
use sessions::line::Lines;
use surgery::validate::{Finding, Level, Seen, Validator};

const BUFFER: usize = 1024 * 1024;

/// Prints the findings; refused where one of them is an error.
///
/// # Errors
/// A file that can't be read.
pub fn run(file: &Path, strict: bool, json: bool) -> anyhow::Result<Exit> {
    let name = file.file_stem().and_then(|name| name.to_str());
    let validator = match name {
        Some(name) if strict => Validator::strict(name),
        _ => Validator::new(name),
    };
    let (findings, seen) = check(file, validator)?;
    let errors = findings.iter().filter(|f| f.level == Level::Error).count();
    if json {
        #[derive(Serialize)]
        struct Told<'a> {
            sound: bool,
            #[serde(flatten)]
            seen: &'a Seen,
            list: &'a [Finding],
        }
        out_json(&Told { sound: errors == 0, seen: &seen, list: &findings })?;
    } else {
        tell(&findings, &seen, errors);
    }
    Ok(if errors == 0 { Exit::Done } else { Exit::Refused })
}

fn check(file: &Path, mut validator: Validator) -> anyhow::Result<(Vec<Finding>, Seen)> {
    let shown = || format!("{} can't be read", file.display());
    let mut options = OpenOptions::new();
    let opened = options.read(true).custom_flags(atomic::NO_WAIT).open(file);
    if opened.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        bail!("there is no file {}; name a session's .jsonl file, not its id", file.display());
    }
    let source = opened.with_context(shown)?;
    ensure!(
        source.metadata().with_context(shown)?.is_file(),
        "{} is no file; name a session's .jsonl file",
        file.display()
    );
    let mut lines = Lines::new(BufReader::with_capacity(BUFFER, source));
    while let Some(line) = lines.next().with_context(shown)? {
        validator.line(line.number, line.bytes);
    }
    Ok(validator.report())
}

fn tell(findings: &[Finding], seen: &Seen, errors: usize) {
    for finding in findings {
        let level = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        out(format_args!("{level}: {finding}"));
    }
    let unlisted = seen.findings - findings.len() as u64;
    if unlisted > 0 {
        out(format_args!("and {unlisted} more findings"));
    }
    let verdict = if errors == 0 { "sound" } else { "not sound" };
    let dialect = if seen.dialect.is_empty() { "nothing" } else { seen.dialect };
    out(format_args!(
        "{verdict}: {dialect}, {} lines, {} rows in the chain, {} messages of the agent, {} tool calls, {} thinking blocks; {errors} errors, {} warnings",
        seen.lines,
        seen.chained,
        seen.messages,
        seen.calls,
        seen.thinking,
        findings.len() - errors,
    ));
}
