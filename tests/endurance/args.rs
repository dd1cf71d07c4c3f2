//! The arguments of the soak.

use std::path::PathBuf;

use crate::scenario::{Road, Scenario};

const USAGE: &str = "\
usage: tests/soak [--n N] [--only tmux|x11] [--scenario NAME] [--seed S] [--without-proofs] [--json]
  --n N             boundaries for each of tmux and X11 [default: 200; under cargo test 10, and the control]
  --only ROAD       tmux or x11 alone
  --scenario NAME   this one again and again
  --seed S          the order, the times and the choices of an earlier run
  --without-proofs  the negative control: /clear and Enter are typed at the Stop hook without a look;
                    fails unless that misfires
  --json            one JSON object on stdout
exit codes: 0 nothing went wrong, 1 something did, 2 wrong usage";

#[derive(Debug, Clone)]
pub struct Args {
    pub n: usize,
    pub roads: Vec<Road>,
    pub scenario: Option<Scenario>,
    pub seed: u64,
    pub naive: bool,
    pub json: bool,
    /// Another build of brain-guard than the test's.
    pub binary: Option<PathBuf>,
    /// A short run, as by `cargo test`: few boundaries, then the control.
    pub short: bool,
    /// Set if the harness's filter selects other tests.
    pub elsewhere: bool,
}

impl Args {
    /// Parses the arguments and ignores those of the test harness. An error contains the usage.
    pub fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self {
            n: 10,
            roads: vec![Road::Tmux, Road::X11],
            scenario: None,
            seed: 20_260_101,
            naive: false,
            json: false,
            binary: None,
            short: true,
            elsewhere: false,
        };
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            args.short &= !word.starts_with("--") || word.starts_with("--test-threads");
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value\n{USAGE}"));
            match word.as_str() {
                "--n" => args.n = number(&value()?)?,
                "--seed" => args.seed = number(&value()?)?,
                "--only" => {
                    let name = value()?;
                    args.roads.retain(|road| road.name() == name);
                }
                "--scenario" => {
                    let name = value()?;
                    let found = Scenario::named(&name);
                    let unknown =
                        || format!("no scenario {name}; there are: {}", Scenario::names());
                    args.scenario = Some(found.ok_or_else(unknown)?);
                }
                "--without-proofs" => args.naive = true,
                "--json" => args.json = true,
                "--binary" => args.binary = Some(PathBuf::from(value()?)),
                "--list" => args.elsewhere = true,
                "--help" | "-h" => return Err(USAGE.to_owned()),
                flag if flag.starts_with("--test-threads") || flag == "--nocapture" => {}
                flag if flag.starts_with('-') => {
                    return Err(format!("unknown option {flag}\n{USAGE}"));
                }
                filter => args.elsewhere |= !"soak".contains(filter),
            }
        }
        if args.roads.is_empty() {
            return Err(format!("--only takes tmux or x11\n{USAGE}"));
        }
        Ok(args)
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number\n{USAGE}"))
}
