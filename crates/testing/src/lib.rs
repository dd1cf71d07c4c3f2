//! What the tests of several crates share. No product code depends on it.
//!
//! Unit tests of `sessions` cannot use [`rounds`]: its types are those of the crate compiled without
//! tests. The tests in `tests` can.
#![allow(
    clippy::missing_panics_doc,
    clippy::should_implement_trait,
    clippy::unwrap_used,
    reason = "a test that panics has failed"
)]

pub mod checked_in;
pub mod claude;
pub mod commands;
pub mod dice;
pub mod pi;
mod recorded;
pub mod rounds;

pub use recorded::RECORDED;

/// Reads a time.
pub fn at(text: &str) -> base::clock::Time {
    base::when::time(text).expect("a time").at
}
