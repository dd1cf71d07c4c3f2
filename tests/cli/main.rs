//! The contract of the verbs on the real binary: what they change and print, and how they end.
#![allow(
    clippy::disallowed_methods,
    reason = "tests are an edge: they start processes and read files"
)]

mod account;
mod doctor;
mod errors;
mod extract;
mod handmade;
#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;
mod jobs;
mod lists;
mod mcp;
mod no_program;
mod notes;
mod phases;
mod purge;
mod seal;
mod seal_asks;
mod search;
mod settings;
mod steering;
mod store;
mod surgery;
mod surgery_tags;
mod uninstall;
mod usage;
mod validate;
mod verbs;
mod views;
mod watching;
