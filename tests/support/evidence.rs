//! The report of a failed test. Each part of a world adds a source (requests, screen, hook
//! events), and a wait that runs into its deadline prints them all.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Source = Box<dyn Fn() -> String + Send>;

/// Named sources whose texts are produced only after a failure.
#[derive(Clone, Default)]
pub struct Evidence(Arc<Mutex<Vec<(String, Source)>>>);

impl Evidence {
    /// Adds a source or replaces one of the same name, so an ended client leaves its last screen.
    pub fn add(&self, name: &str, source: impl Fn() -> String + Send + 'static) {
        let mut sources = lock(&self.0);
        sources.retain(|(known, _)| known != name);
        sources.push((name.to_owned(), Box::new(source)));
    }

    pub fn report(&self) -> String {
        let mut out = String::new();
        for (name, source) in lock(&self.0).iter() {
            let _ = writeln!(out, "--- {name}\n{}", source().trim_end());
        }
        out
    }

    /// Fails the test with `what` and the report.
    #[track_caller]
    pub fn fail(&self, what: &str) -> ! {
        panic!("{what}\n{}", self.report())
    }
}

/// Ignores poisoning: a test that failed with the lock must not hide its message behind a second
/// panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts at most `max` characters of `text` on one line.
pub fn short(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= max {
        return line;
    }
    line.chars().take(max).chain("…".chars()).collect()
}
