//! The report on the real hooks: its text and JSON, and its page in a browser.

pub mod browser;
mod page;
mod verb;
