//! The real program: its hook, its verbs, bad input, attackers, kills, and rules of the source.
//! No client, no terminal and no network.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests are an edge: they start processes, read files, and print"
)]

mod chain;
mod cli;
mod demo;
mod faults;
mod hook;
mod kill;
mod layers;
mod panic;
mod promises;
mod roles;
mod store;
#[path = "../support/mod.rs"]
mod support;
mod words;
