//! The stages of the demo: what each expected, and what happened instead.

use std::fmt::Display;

use super::child::Fault;
use super::screen::{Screen, Tint};

/// Why a stage ended early.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The result differs from the expected one; the demo continues.
    #[error("expected {expected}; got {came}")]
    Missed {
        /// What should have happened.
        expected: String,
        came: String,
    },
    /// A process failed; the demo ends.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Fails the stage unless `ok`.
///
/// # Errors
/// [`Stop::Missed`].
pub fn expect<D: Display>(
    ok: bool,
    expected: impl Display,
    came: impl FnOnce() -> D,
) -> Result<(), Stop> {
    if ok {
        Ok(())
    } else {
        Err(Stop::Missed { expected: expected.to_string(), came: came().to_string() })
    }
}

#[derive(Debug, Default)]
pub struct Results(Vec<(&'static str, Option<String>)>);

/// Maximum characters of a failure to print.
const CAME: usize = 400;

impl Results {
    /// Adds a stage's result; `failed` says why it failed.
    pub fn add(&mut self, name: &'static str, failed: Option<&dyn Display>) {
        let failed = failed.map(|why| {
            let why = why.to_string().replace('\n', " ");
            if why.chars().count() > CAME {
                why.chars().take(CAME).collect::<String>() + " […]"
            } else {
                why
            }
        });
        self.0.push((name, failed));
    }

    pub fn all_ok(&self) -> bool {
        self.0.iter().all(|(_, failed)| failed.is_none())
    }

    /// Prints the summary: successes in two columns, each failure on its own line.
    pub fn print(&self, screen: &mut Screen) {
        let ok: Vec<&str> =
            self.0.iter().filter(|(_, failed)| failed.is_none()).map(|(name, _)| *name).collect();
        for pair in ok.chunks(2) {
            let mark = screen.tinted(Tint::Good, "ok");
            let second = pair.get(1).map_or_else(String::new, |name| format!("{mark}  {name}"));
            screen.line(&format!("{mark}  {:<38} {second}", pair[0]));
        }
        for (name, failed) in &self.0 {
            if let Some(why) = failed {
                let mark = screen.tinted(Tint::Bad, "FAILED:");
                screen.line(&format!("{name}: {mark} {why}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_every_stage() {
        let mut results = Results::default();
        results.add("one", None);
        assert!(results.all_ok());
        results.add("two", Some(&expect(false, "a note", || "no\nanswer").unwrap_err()));
        assert!(!results.all_ok());
        let mut out = Vec::new();
        results.print(&mut Screen::new(&mut out, false, false));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "ok  one\ntwo: FAILED: expected a note; got no answer\n"
        );
    }
}
