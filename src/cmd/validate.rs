//! `brain-guard validate FILE`: checks a session file.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use serde::Serialize;

use super::{Context, Exit, Run, import, selector, show};
use crate::cli::ValidateArgs;
use base::atomic;
use sessions::dialect::{self, Claude, Dialect as _};
use sessions::line::Lines;
use surgery::validate::{Finding, Level, Seen, Validator};

/// Rules whose violation `mend` puts right.
const MENDED: [&str; 3] = ["json", "chain", "refused"];

const BUFFER: usize = 1024 * 1024;

impl Run for ValidateArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let file = selector::file(env, &self.session)?;
        let name = file.file_stem().and_then(|name| name.to_str());
        let validator = match name {
            Some(name) if self.strict => Validator::strict(name),
            _ => Validator::new(name),
        };
        let (list, seen) = check(&file, validator)?;
        let errors = list.iter().filter(|f| f.level == Level::Error).count();
        let session = name.map(str::to_owned);
        show(&Report { session, sound: errors == 0, errors, seen, list }, self.json)?;
        Ok(if errors == 0 { Exit::Done } else { Exit::Refused })
    }
}

#[derive(Debug, Serialize)]
struct Report {
    /// Its id, as its file is named.
    session: Option<String>,
    sound: bool,
    #[serde(skip)]
    errors: usize,
    #[serde(flatten)]
    seen: Seen,
    list: Vec<Finding>,
}

fn check(file: &Path, mut validator: Validator) -> anyhow::Result<(Vec<Finding>, Seen)> {
    let mut lines = lines(file)?;
    while let Some(line) =
        lines.next().with_context(|| format!("{} can't be read", file.display()))?
    {
        require_claude(file, line.number, line.bytes)?;
        validator.line(line.number, line.bytes);
    }
    Ok(validator.report())
}

/// Refuses a session of another client, which its first line tells.
///
/// # Errors
/// It is one.
pub fn require_claude(file: &Path, number: u64, line: &[u8]) -> anyhow::Result<()> {
    let is_ours = number > 1 || dialect::detect(line).name() == Claude.name();
    ensure!(is_ours, "{} is not a session of Claude Code", file.display());
    Ok(())
}

/// The lines of a session's file.
///
/// # Errors
/// A file that is missing or cannot be read.
pub fn lines(file: &Path) -> anyhow::Result<Lines<BufReader<File>>> {
    let shown = || format!("{} can't be read", file.display());
    let mut options = OpenOptions::new();
    let opened = options.read(true).custom_flags(atomic::NO_WAIT).open(file);
    if opened.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        bail!("there is no file {}; name a session by its id, or its .jsonl file", file.display());
    }
    let source = opened.with_context(shown)?;
    ensure!(
        source.metadata().with_context(shown)?.is_file(),
        "{} is not a file; name a session's .jsonl file",
        file.display()
    );
    Ok(Lines::new(BufReader::with_capacity(BUFFER, source)))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { errors, seen, list, .. } = self;
        for finding in list {
            let level = match finding.level {
                Level::Error => "error",
                Level::Warning => "warning",
            };
            writeln!(f, "{level}: {finding}")?;
        }
        let unlisted = seen.findings - list.len() as u64;
        if unlisted > 0 {
            writeln!(f, "and {unlisted} more findings")?;
        }
        let verdict = if self.sound { "sound" } else { "not sound" };
        let count = |number: u64, what: &str| import::count(number as usize, what);
        write!(
            f,
            "{verdict}: {}, {} in the chain, {} of the agent, {}, {}; {}, {}",
            count(seen.lines, "line"),
            count(seen.chained, "row"),
            count(seen.messages, "message"),
            count(seen.calls, "tool call"),
            count(seen.thinking, "thinking block"),
            count(*errors as u64, "error"),
            count((list.len() - *errors) as u64, "warning"),
        )?;
        if list.iter().any(|found| MENDED.contains(&found.rule)) {
            f.write_str("\n`brain-guard mend` makes a session without these errors")?;
        }
        Ok(())
    }
}
