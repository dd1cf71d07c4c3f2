//! A small test harness for programs with their own cases: selects the cases and reports like the
//! standard harness.

use std::process::ExitCode;
use std::time::Instant;

/// How a case ended.
pub enum End {
    Passed,
    Failed(String),
    /// Why it cannot run here.
    Left(String),
}

impl From<Result<(), String>> for End {
    fn from(played: Result<(), String>) -> Self {
        played.map_or_else(Self::Failed, |()| Self::Passed)
    }
}

/// Plays the cases whose names contain one of the `words`, or all without words; `--list` names
/// them. `whole` is a word that selects all.
pub fn all<Case: FnOnce() -> End>(
    words: &[String],
    whole: &str,
    cases: impl Iterator<Item = (String, Case)>,
) -> ExitCode {
    // Of the test harness's arguments only a filter and `--list` matter here.
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let asked = |name: &str| {
        filters.is_empty() || filters.iter().any(|f| name.contains(*f) || whole.contains(*f))
    };
    let cases = cases.filter(|(name, _)| asked(name));
    if words.iter().any(|word| word == "--list") {
        cases.for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    let (mut passed, mut failed, mut left) = (0, 0, 0);
    for (name, case) in cases {
        match case() {
            End::Passed => passed += 1,
            End::Failed(why) => {
                failed += 1;
                println!("{name}: {why}");
            }
            End::Left(why) => {
                left += 1;
                println!("{name}: not run: {why}");
            }
        }
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {verdict}. {passed} passed; {failed} failed; {left} ignored; 0 measured; 0 filtered out; \
         finished in {:.2}s",
        began.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed > 0))
}
