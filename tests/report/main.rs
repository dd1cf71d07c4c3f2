//! The report on the real hooks: its text and JSON, and its page in a browser.
#![allow(
    clippy::disallowed_methods,
    reason = "tests are an edge: they start processes and read files"
)]

mod browser;
#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;
mod page;
mod verb;
