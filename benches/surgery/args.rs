//! The arguments of the benchmark.

use std::path::PathBuf;

/// A benchmark's default arguments.
pub struct Kind {
    pub command: &'static str,
    /// MB of session, and the size for `--quick`.
    pub sizes: &'static [u64],
    pub quick: u64,
}

/// The command line from `./bench`.
#[derive(Debug, Default)]
pub struct Args {
    /// The program to measure, and the target it is built for.
    pub binary: PathBuf,
    pub target: String,
    /// The passes over a file, and the program with known memory.
    pub passes: PathBuf,
    pub eater: PathBuf,
    /// Where sessions are kept between runs.
    pub kept: PathBuf,
    /// A fresh folder on the same disk; its creator removes it.
    pub work: PathBuf,
    /// The typed command, for the page.
    pub command: String,
    /// Rounds; 0 chooses by size.
    pub rounds: usize,
    /// MB of session.
    pub sizes: Vec<u64>,
    /// Only measures whose name starts with one of these; empty for all.
    pub only: Vec<String>,
    pub json: bool,
    pub quick: bool,
    pub write: bool,
}

const KNOWN: &str = "--quick --json --write --rounds N --sizes MB,MB --only NAME,NAME --dir FOLDER";

impl Args {
    /// Parses the words.
    ///
    /// # Errors
    /// The invalid word, and why.
    pub fn parse(mut words: impl Iterator<Item = String>, kind: &Kind) -> Result<Self, String> {
        let mut args = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--json" => args.json = true,
                "--quick" => args.quick = true,
                "--write" => args.write = true,
                // Cargo passes this to every benchmark.
                "--bench" => {}
                "--command" => args.command = value()?,
                "--binary" => args.binary = value()?.into(),
                "--target" => args.target = value()?,
                "--passes" => args.passes = value()?.into(),
                "--eater" => args.eater = value()?.into(),
                "--kept" => args.kept = absolute(&value()?)?,
                "--work" => args.work = absolute(&value()?)?,
                "--only" => args.only = value()?.split(',').map(str::to_owned).collect(),
                "--rounds" => {
                    let rounds = value()?;
                    let number = rounds.parse().ok().filter(|n| *n > 0);
                    args.rounds =
                        number.ok_or_else(|| format!("{rounds:?} is no number of rounds"))?;
                }
                "--sizes" | "--size" => args.sizes = sizes(&value()?)?,
                other => return Err(format!("unknown argument {other}; known: {KNOWN}")),
            }
        }
        for program in [&args.binary, &args.passes, &args.eater] {
            if !program.is_file() {
                let path = program.display();
                let command = kind.command;
                return Err(format!("no program at {path}; run {command}, which builds it"));
            }
        }
        if args.write && (args.quick || !args.only.is_empty()) {
            return Err("--write writes down the whole run; leave --quick and --only out".into());
        }
        if args.sizes.is_empty() {
            args.sizes = if args.quick { vec![kind.quick] } else { kind.sizes.to_vec() };
        }
        Ok(args)
    }

    /// The number of rounds at this size.
    pub fn rounds_at(&self, megabytes: u64) -> usize {
        match (self.rounds, megabytes) {
            (0, 0..100) => 7,
            (0, 100..600) => 5,
            (0, _) => 3,
            (rounds, _) => rounds,
        }
    }

    /// Whether this measure is requested.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| name.starts_with(only.as_str()))
    }
}

/// An absolute folder, because a store needs one.
fn absolute(folder: &str) -> Result<PathBuf, String> {
    std::path::absolute(folder).map_err(|e| format!("{folder}: {e}"))
}

fn sizes(list: &str) -> Result<Vec<u64>, String> {
    let size = |text: &str| {
        let size = text.trim().parse().ok().filter(|mb| (1..=9999).contains(mb));
        size.ok_or_else(|| format!("{text:?} is no size in MB, 1 to 9999"))
    };
    let mut sizes: Vec<u64> = list.split(',').map(size).collect::<Result<_, _>>()?;
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}
