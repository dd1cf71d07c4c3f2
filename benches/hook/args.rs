//! The arguments of the benchmark.

use std::path::PathBuf;

/// The command line from `./bench`.
#[derive(Debug, Default)]
pub struct Args {
    /// The program to measure, and the target it is built for.
    pub binary: PathBuf,
    pub target: String,
    /// The empty static program, and the one with known memory.
    pub empty: PathBuf,
    pub eater: PathBuf,
    /// A fresh folder; its creator removes it.
    pub work: PathBuf,
    /// A fresh folder for the transcripts, if they do not fit beside the rest.
    pub aside: Option<PathBuf>,
    /// The typed command, for the page.
    pub command: String,
    pub rounds: usize,
    /// MB of transcript.
    pub sizes: Vec<u64>,
    pub json: bool,
    pub quick: bool,
    pub write: bool,
    pub accept: bool,
}

const KNOWN: &str = "--quick --json --write --accept --rounds N --sizes MB,MB --dir FOLDER";

impl Args {
    /// Parses the words.
    ///
    /// # Errors
    /// The invalid word, and why.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--json" => args.json = true,
                "--quick" => args.quick = true,
                "--write" => args.write = true,
                "--accept" => args.accept = true,
                // Cargo passes this to every benchmark.
                "--bench" => {}
                "--command" => args.command = value()?,
                "--binary" => args.binary = value()?.into(),
                "--target" => args.target = value()?,
                "--empty" => args.empty = value()?.into(),
                "--eater" => args.eater = value()?.into(),
                "--work" => args.work = value()?.into(),
                "--aside" => args.aside = Some(value()?.into()),
                "--rounds" => {
                    let rounds = value()?;
                    args.rounds =
                        rounds.parse().map_err(|_| format!("{rounds:?} is no number of rounds"))?;
                }
                "--sizes" => args.sizes = sizes(&value()?)?,
                other => return Err(format!("unknown argument {other}; known: {KNOWN}")),
            }
        }
        for program in [&args.binary, &args.empty, &args.eater] {
            if !program.is_file() {
                return Err(format!(
                    "no program at {}; run ./bench, which builds it",
                    program.display()
                ));
            }
        }
        if args.quick && args.write {
            return Err("--write writes down the whole run; leave --quick out".into());
        }
        if args.rounds == 0 {
            args.rounds = if args.quick { 150 } else { 400 };
        }
        if args.sizes.is_empty() {
            args.sizes = if args.quick || (args.accept && !args.write) {
                vec![1, 50]
            } else {
                vec![1, 50, 300, 1024]
            };
        }
        Ok(args)
    }
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
