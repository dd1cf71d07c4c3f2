//! The chain's own arguments.

const USAGE: &str = "\
usage: tests/chain [--sessions N] [--seed S] [--without-ageing] [--json]
  --sessions N      how many sessions, at least 1 [default: 30]
  --seed S          what the agent writes
  --without-ageing  the negative control: nothing falls out for its age or size below the block band;
                    fails unless the checks find it
  --json            one JSON object on stdout
exit codes: 0 as it must be, 1 not, 2 wrong usage";

/// What to run.
#[derive(Debug, Clone)]
pub struct Args {
    pub sessions: u32,
    pub seed: u64,
    pub control: bool,
    pub json: bool,
    /// As in `cargo test`, with all the controls.
    pub short: bool,
    /// A filter of the test harness that names other tests.
    pub elsewhere: bool,
}

impl Args {
    /// Reads the arguments; ignores the harness's own.
    ///
    /// # Errors
    /// The invalid argument, with the usage.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self {
            sessions: 30,
            seed: 20_260_101,
            control: false,
            json: false,
            short: true,
            elsewhere: false,
        };
        while let Some(word) = words.next() {
            args.short &= !word.starts_with("--") || word.starts_with("--test-threads");
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value\n{USAGE}"));
            match word.as_str() {
                "--sessions" => args.sessions = number(&value()?)?,
                "--seed" => args.seed = number(&value()?)?,
                "--without-ageing" => args.control = true,
                "--json" => args.json = true,
                // `tests/chain` passes this to differ from `cargo test`.
                "--print" => {}
                "--list" => args.elsewhere = true,
                "--help" | "-h" => return Err(USAGE.to_owned()),
                flag if flag.starts_with("--test-threads") || flag == "--nocapture" => {}
                flag if flag.starts_with('-') => {
                    return Err(format!("unknown option {flag}\n{USAGE}"));
                }
                filter => args.elsewhere |= !"chain".contains(filter),
            }
        }
        if args.sessions == 0 {
            return Err(format!("--sessions wants at least 1\n{USAGE}"));
        }
        Ok(args)
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number\n{USAGE}"))
}
