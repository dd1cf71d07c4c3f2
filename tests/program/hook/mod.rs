//! The contract of `brain-guard hook` on the real binary: its answers to the client's payloads in
//! every tier, to broken ones, to many at once.
mod attacker;
mod checkout;
mod commits;
mod customising;
mod faults;
mod golden;
mod holders;
mod jobs;
mod journal;
mod marketplace;
mod module;
mod mutations;
pub mod operator;
mod output;
mod parallel;
mod settings;
mod squeezed;
mod stop;
mod table;
mod texts;
mod tiers;
mod uncached;
mod way_out;
