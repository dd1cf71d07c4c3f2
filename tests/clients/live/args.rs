//! The arguments of `./test --live`, and their limits.

const USAGE: &str = "\
usage: ./test --live [--yes] [--model ID] [--window N] [--chapters N] [--requests N] [--tokens N] [--minutes N] [--json]
  --yes          don't ask before it begins
  --model ID     the model [default: claude-sonnet-4-6]
  --window N     tokens that count as the whole context, so that the tiers come early [default: 60000]
  --chapters N   files to be read, about 1,500 tokens each [default: 24]
  --requests N   ends it after so many responses [default: 60]
  --tokens N     ends it after so many input tokens, cached ones included [default: 2000000]
  --minutes N    ends it after this time [default: 20]
  --json         one JSON object on stdout
exit codes: 0 it sealed and the next session went on, 1 it did not, or it was not begun";

/// Maximum output tokens of one response.
pub const OUTPUT: u64 = 4_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Args {
    pub yes: bool,
    pub json: bool,
    pub model: String,
    pub window: u64,
    pub chapters: u64,
    pub bounds: Bounds,
}

/// Limits that end a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub requests: u64,
    /// Input tokens, including cached ones.
    pub tokens: u64,
    pub minutes: u64,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            yes: false,
            json: false,
            model: "claude-sonnet-4-6".to_owned(),
            window: 60_000,
            chapters: 24,
            bounds: Bounds { requests: 60, tokens: 2_000_000, minutes: 20 },
        }
    }
}

impl Args {
    /// Parses the arguments. An error contains the usage.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value\n{USAGE}"));
            match word.as_str() {
                "--yes" | "-y" => args.yes = true,
                "--json" => args.json = true,
                "--model" => args.model = value()?,
                "--window" => args.window = number(&value()?, 40_000)?,
                "--chapters" => args.chapters = number(&value()?, 4)?,
                "--requests" => args.bounds.requests = number(&value()?, 1)?,
                "--tokens" => args.bounds.tokens = number(&value()?, 1)?,
                "--minutes" => args.bounds.minutes = number(&value()?, 1)?,
                "--help" | "-h" => return Err(USAGE.to_owned()),
                other => return Err(format!("unknown option {other}\n{USAGE}")),
            }
        }
        Ok(args)
    }

    /// Describes the maximum cost in the provider's units.
    pub fn cost(&self) -> String {
        let Bounds { requests, tokens, minutes } = self.bounds;
        format!(
            "{} runs for at most {requests} responses, {tokens} input tokens (most of them read from the cache), \
             {} output tokens and {minutes} minutes, whichever comes first; the response that passes a bound is the \
             last one. The client's own small calls (a title) come on top.",
            self.model,
            requests * OUTPUT
        )
    }
}

fn number(text: &str, least: u64) -> Result<u64, String> {
    let number = text.parse().map_err(|_| format!("{text:?} is not a number\n{USAGE}"))?;
    if number < least { Err(format!("{text} is below {least}\n{USAGE}")) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Args, String> {
        Args::read(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn limits_are_parsed_and_named() {
        let args = read("--yes --requests 7 --tokens 1000 --model m").expect("arguments");
        assert!(args.yes && args.bounds.requests == 7);
        for word in ["m runs", "7 responses", "1000 input", "28000 output", "20 minutes"] {
            assert!(args.cost().contains(word), "{}", args.cost());
        }
        for wrong in ["--window 100", "--tokens x", "--what", "--model"] {
            assert!(read(wrong).is_err_and(|e| e.contains("usage:")), "{wrong}");
        }
    }
}
